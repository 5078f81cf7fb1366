import type { Authored } from '../../domain/engine/authors.ts';
import { type InstanceContent, resourceInstance } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type InstanceDoc = { readonly _id: string } & InstanceContent & Authored;

/** Instances of all resource models; authors are ids of accounts, secrets are sealed. */
export const resourceInstances = projection<InstanceDoc>()(resourceInstance, {
  collection: 'resourceInstances',
  on: {
    resourceInstanceCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    resourceInstanceChanged: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    resourceInstanceDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name, modelId: (doc) => doc.modelId },
});
