import type { Authored } from '../../domain/engine/authors.ts';
import { type GroupContent, resourceGroup } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

/**
 * A group of instances. `members` has its size, and how many members the last event added and removed; answers show
 * these numbers in their metadata.
 */
export type ResourceGroupDoc = { readonly _id: string } & GroupContent &
  Authored & { readonly members: { readonly added: number; readonly removed: number; readonly total: number } };

/** Groups of instances; authors are ids of accounts. */
export const resourceGroups = projection<ResourceGroupDoc>()(resourceGroup, {
  collection: 'resourceGroups',
  on: {
    resourceGroupCreated: (_, event) => {
      const { instances, ...content } = event.data;
      return {
        _id: idOf(event),
        ...content,
        ...authorship(event),
        members: { added: instances.length, removed: 0, total: instances.length },
      };
    },
    resourceGroupMembersChanged: (doc, event) => {
      const [added, removed] = [event.data.added.length, event.data.removed.length];
      return (
        doc && { ...doc, ...touched(event), members: { added, removed, total: doc.members.total + added - removed } }
      );
    },
    resourceGroupDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name, modelId: (doc) => doc.modelId },
});
