import type { Authored } from '../../domain/engine/authors.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import type { WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, made, projection, touched } from '../engine/define.ts';

export type WorkflowDoc = WorkflowDocument & Authored & { readonly _id: string };

const replaced = (doc: WorkflowDoc | undefined, event: Recorded<WorkflowDocument>): WorkflowDoc => {
  const { created, createdBy } = doc ?? made(event);
  return { ...event.data, _id: idOf(event), created, createdBy, ...touched(event) };
};

/** Workflows; authors are ids of accounts, secrets are sealed. */
export const workflows = projection<WorkflowDoc>()(workflow, {
  collection: 'workflows',
  on: {
    workflowCreated: (_, event) => ({ ...event.data, _id: idOf(event), ...made(event) }),
    workflowReplaced: replaced,
    workflowRestored: replaced,
    workflowDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name },
});
