import { type Static, Type } from 'typebox';
import { type Authored, authored, objectId } from '../engine/authors.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';

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

export type DeviceGroupContent = {
  readonly name: string;
  readonly description: string;
  readonly devices: readonly string[];
};

export type DeviceGroupEvent =
  | Event<'deviceGroupCreated', DeviceGroupContent>
  /** Made by an import, with the times and authors of its document. */
  | Event<'deviceGroupRestored', DeviceGroupContent & Authored>
  | Event<'deviceGroupDeleted', Record<string, never>>;

type State = { readonly exists: boolean; readonly name: string };

export const deviceGroup = aggregate<State, DeviceGroupEvent>({
  area: 'configuration-manager',
  category: 'deviceGroup',
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
