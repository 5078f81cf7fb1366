import type { Authored } from '../../domain/engine/authors.ts';
import { nameInProject } from '../../domain/engine/namespaces.ts';
import { transformationsNamed, workflow } from '../../domain/operations-manager/workflow.ts';
import type { WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { projection } from '../engine/define.ts';
import { keptSteps } from '../engine/keptSteps.ts';

export type WorkflowDoc = WorkflowDocument & Authored & { readonly _id: string };

const { create, replace, restore, remove } = keptSteps<WorkflowDoc>();

/** Workflows; authors are ids of accounts, secrets are sealed. */
export const workflows = projection<WorkflowDoc>()(workflow, {
  collection: 'workflows',
  on: { workflowCreated: create, workflowReplaced: replace, workflowRestored: restore, workflowDeleted: remove },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    _id: (doc) => doc._id,
    name: (doc) => doc.name,
    inProject: (doc) => String(nameInProject(doc.name) !== doc.name),
    nameInProject: (doc) => nameInProject(doc.name),
    transformation: transformationsNamed,
  },
  guard: ({ name }) => projectGuard(name),
});
