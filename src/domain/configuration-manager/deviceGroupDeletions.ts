import { Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { type Referrer, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';
import { texts, topicsOf } from '../engine/topics.ts';

export const deviceGroupDeletionSchema = Type.Object(
  {
    groupIds: Type.Array(name('Id of a device group'), {
      description: 'Device groups to delete: all or none',
      maxItems: 1000,
    }),
  },
  { additionalProperties: false, title: 'DeviceGroupDeletion', description: 'Device groups to delete' },
);

const topics = topicsOf({
  deviceGroupsDeleted: ['Device groups are to be deleted', Type.Object({ groupIds: texts })],
});
type DeviceGroupDeletionEvent = EventOf<typeof topics>;
export type DeviceGroupsDeleted = DeviceGroupDeletionEvent['data'];

/** The decision to delete several device groups, all or none. It is carried out in the streams of the groups. */
export const deviceGroupDeletion = aggregate<{ readonly groupIds: readonly string[] }, DeviceGroupDeletionEvent>({
  area: 'configuration-manager',
  category: 'deviceGroupDeletion',
  topics,
  initial: { groupIds: [] },
  evolve: { deviceGroupsDeleted: (_, { groupIds }) => ({ groupIds }) },
  exists: ({ groupIds }) => groupIds.length > 0,
});

/** `missing`: groups that do not exist. `referrers`: the plans and trees that name one of the groups. */
type Refs = { readonly missing: readonly string[]; readonly referrers: readonly Referrer[] };

export const decideGroupDeletion = (
  _: unknown,
  { groupIds }: { readonly groupIds: readonly string[] },
  { refs: { missing, referrers } }: Context<Refs>,
): readonly DeviceGroupDeletionEvent[] => {
  refuseUnknownIds(missing, 'device group', '/groupIds');
  refuseReferred(referrers, 'deleted');
  return groupIds.length > 0 ? [{ topic: 'deviceGroupsDeleted', data: { groupIds: [...new Set(groupIds)] } }] : [];
};
