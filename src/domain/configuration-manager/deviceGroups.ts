import { type Static, Type } from 'typebox';
import { type Authored, authored, objectId } from '../engine/authors.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';
import { authors, nothing, text, texts, topicsOf } from '../engine/topics.ts';

const members = {
  name: name('Name, unique among device groups'),
  description: Type.String({ description: 'What it is for' }),
  devices: Type.Array(name('Name of a device'), {
    description: 'Devices in it; not checked, and each counts once',
    maxItems: 10_000,
  }),
};

/** A device group in an import or a create request. */
export const deviceGroupItemSchema = Type.Object(
  {
    name: members.name,
    ...Type.Partial(Type.Object({ description: members.description, devices: members.devices })).properties,
  },
  { additionalProperties: false, title: 'DeviceGroupItem', description: 'Device group to take in' },
);
export type DeviceGroupItem = Static<typeof deviceGroupItemSchema>;

/** A device group in answers. */
export const deviceGroupSchema = Type.Object(
  { _id: objectId('Id'), ...members, ...authored },
  { title: 'DeviceGroup', description: 'Device group' },
);

/** The content of a device group in events. */
export const groupContent = Type.Object({ name: text, description: text, devices: texts });
export type DeviceGroupContent = SchemaData<typeof groupContent>;

const topics = topicsOf({
  deviceGroupCreated: ['A device group was created', groupContent],
  deviceGroupRestored: [
    'A device group was taken in with the times and authors of its document',
    Type.Object({ ...groupContent.properties, ...authors }),
  ],
  deviceGroupDeleted: ['A device group was deleted', nothing],
});
export type DeviceGroupEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly name: string };

export const deviceGroup = aggregate<State, DeviceGroupEvent>({
  area: 'configuration-manager',
  category: 'deviceGroup',
  topics,
  initial: { exists: false, name: '' },
  evolve: {
    deviceGroupCreated: (_, { name }) => ({ exists: true, name }),
    deviceGroupRestored: (_, { name }) => ({ exists: true, name }),
    deviceGroupDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: (state) => state.exists,
  names: ({ exists, name }) => (exists ? [deviceGroupName(name)] : []),
});

export const deviceGroupName = (name: string) => ({ kind: 'deviceGroup', name });

/** The content of a device group. Duplicate devices are dropped. */
export const contentOf = ({ name, description = '', devices = [] }: DeviceGroupItem): DeviceGroupContent => ({
  name,
  description,
  devices: [...new Set(devices)],
});

export const create = (_: State, item: DeviceGroupItem): readonly DeviceGroupEvent[] => [
  { topic: 'deviceGroupCreated', data: contentOf(item) },
];

/** Part of an import. Its document had times and authors, or not. */
export const restore = (_: State, group: DeviceGroupContent & Partial<Authored>): readonly DeviceGroupEvent[] => [
  isSigned(group) ? { topic: 'deviceGroupRestored', data: group } : { topic: 'deviceGroupCreated', data: group },
];

const isSigned = <G extends Partial<Authored>>(group: G): group is G & Authored => group.created !== undefined;

/** `referrers`: the plans that name the group. */
export const remove = (
  _: State,
  __: unknown,
  { refs }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly DeviceGroupEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'deviceGroupDeleted', data: {} }];
};
