import type { Authored } from '../../domain/engine/authors.ts';
import { type ModelContent, resourceModel } from '../../domain/lifecycle-manager/resourceModels.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type ModelDoc = { readonly _id: string } & ModelContent & Authored;

/** Resource models; authors are ids of accounts. */
export const resourceModels = projection<ModelDoc>()(resourceModel, {
  collection: 'resourceModels',
  on: {
    resourceModelCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    resourceModelChanged: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    resourceModelRestored: (_, event) => {
      const { imported: __, ...data } = event.data;
      return { _id: idOf(event), ...data };
    },
    resourceModelDeleted: () => undefined,
    resourceModelPartsRemoved: (doc) => doc,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    actionId: (doc) => doc.actions.map(({ _id }) => _id),
    workflow: (doc) => doc.actions.flatMap(({ workflow }) => workflow ?? []),
  },
});
