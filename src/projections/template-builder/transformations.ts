import type { Authored } from '../../domain/engine/authors.ts';
import { type TransformationDocument, transformation } from '../../domain/template-builder/transformations.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { projection } from '../engine/define.ts';
import { keptSteps } from '../engine/keptSteps.ts';

export type TransformationDoc = TransformationDocument & Authored & { readonly _id: string };

const { create, replace, restore, remove } = keptSteps<TransformationDoc>();

/** Transformations; authors are ids of accounts, secrets are sealed. */
export const transformations = projection<TransformationDoc>()(transformation, {
  collection: 'transformations',
  on: {
    transformationCreated: create,
    transformationReplaced: replace,
    transformationRestored: restore,
    transformationDeleted: remove,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { _id: (doc) => doc._id, name: (doc) => doc.name },
  guard: ({ name }) => projectGuard(name),
});
