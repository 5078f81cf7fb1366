import { type Static, Type } from 'typebox';
import { type Authored, authored, objectId } from '../engine/authors.ts';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { deletionOf } from '../engine/deletions.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name, orNull } from '../engine/schemas.ts';
import { authors, nothing, text, texts, topicsOf } from '../engine/topics.ts';

const mostDevices = 10_000;

const devices = Type.Array(name('Name of a device'), {
  description: 'Devices in it; not checked, and each counts once',
  maxItems: mostDevices,
});

/** The condition that decides who is in a group. */
const deviceQuerySchema = Type.Object(
  {
    tags: Type.Optional(Type.Array(name('A tag'), { description: 'All of these tags', minItems: 1, maxItems: 100 })),
    ostype: Type.Optional(name('Type of the device, as its source says it')),
    inventory: Type.Optional(name('Name of the inventory')),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    title: 'DeviceQuery',
    description: 'The devices that fit all of this at the moment of the request are in it, in the place of a list',
  },
);

const members = {
  name: name('Name, unique among device groups'),
  description: Type.String({ description: 'Purpose' }),
};

/** A device group in an import or a create request. */
export const deviceGroupItemSchema = Type.Object(
  {
    name: members.name,
    description: Type.Optional(orNull(members.description)),
    devices: Type.Optional(devices),
    query: Type.Optional(deviceQuerySchema),
  },
  { additionalProperties: false, title: 'DeviceGroupItem', description: 'Device group to take in' },
);
export type DeviceGroupItem = Static<typeof deviceGroupItemSchema>;

/** The body of `updateDeviceGroup`. */
export const deviceGroupChangesSchema = Type.Partial(deviceGroupItemSchema, {
  additionalProperties: false,
  title: 'DeviceGroupChanges',
  description: 'Changes of a device group',
});

/** Devices that join or leave a group. */
export const groupDevicesSchema = Type.Object({ devices }, { additionalProperties: false });

/** A device group in answers. */
export const deviceGroupSchema = Type.Object(
  {
    id: objectId('Id'),
    _id: objectId('Id'),
    ...members,
    devices: Type.Array(Type.String(), { description: 'Devices in it; those of a query that the caller sees' }),
    query: Type.Optional(deviceQuerySchema),
    ...authored,
  },
  { title: 'DeviceGroup', description: 'Device group' },
);

const query = Type.Object({ tags: Type.Optional(texts), ostype: Type.Optional(text), inventory: Type.Optional(text) });

export type DeviceQuery = SchemaData<typeof query>;

/** The content of a device group in events. One with a query has no devices of its own. */
export const groupContent = Type.Object({
  name: text,
  description: text,
  devices: texts,
  query: Type.Optional(query),
});
export type DeviceGroupContent = SchemaData<typeof groupContent>;

/** Members that are given are new. `added` and `removed`: devices. */
const groupChanges = Type.Object({
  name: Type.Optional(text),
  description: Type.Optional(text),
  devices: Type.Optional(texts),
  query: Type.Optional(orNull(query)),
  added: Type.Optional(texts),
  removed: Type.Optional(texts),
});
type GroupChanges = SchemaData<typeof groupChanges>;

const topics = topicsOf({
  deviceGroupCreated: ['A device group was created', groupContent],
  deviceGroupRestored: [
    'A device group was taken in with the times and authors of its document',
    Type.Object({ ...groupContent.properties, ...authors }),
  ],
  deviceGroupUpdated: ['Members of a device group changed', groupChanges],
  deviceGroupDeleted: ['A device group was deleted', nothing],
});
export type DeviceGroupEvent = EventOf<typeof topics>;

type State = DeviceGroupContent & { readonly exists: boolean };

/** The content of a device group after a change. */
export const withChanges = <Content extends DeviceGroupContent>(
  { query: before, ...content }: Content,
  { added = [], removed = [], query = before, ...changes }: GroupChanges,
) => {
  const devices = new Set(changes.devices ?? content.devices);
  for (const name of removed) devices.delete(name);
  for (const name of added) devices.add(name);
  return { ...content, ...changes, devices: [...devices], ...defined({ query: query ?? undefined }) };
};

export const deviceGroup = aggregate<State, DeviceGroupEvent>({
  area: 'configuration-manager',
  category: 'deviceGroup',
  topics,
  initial: { exists: false, name: '', description: '', devices: [] },
  evolve: {
    deviceGroupCreated: (_, content) => ({ exists: true, ...content }),
    deviceGroupRestored: (_, { name, description, devices, query }) => ({
      exists: true,
      name,
      description,
      devices,
      ...defined({ query }),
    }),
    deviceGroupUpdated: withChanges,
    deviceGroupDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: (state) => state.exists,
  names: ({ exists, name }) => (exists ? [deviceGroupName(name)] : []),
});

export const deviceGroupName = (name: string) => ({ kind: 'deviceGroup', name });

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

const queryOf = ({ tags, ...query }: DeviceQuery): DeviceQuery =>
  tags ? { ...query, tags: unique(tags.map((tag) => tag.toLowerCase())) } : query;

type Given = Pick<DeviceGroupContent, 'name'> &
  Partial<Pick<DeviceGroupContent, 'devices' | 'query'>> & { readonly description?: string | null };

/** The content of a device group. Duplicate devices are dropped; a query goes before a list. */
export const contentOf = ({ name, description, devices = [], query }: Given): DeviceGroupContent => ({
  name,
  description: description ?? '',
  ...(query ? { devices: [], query: queryOf(query) } : { devices: unique(devices) }),
});

const refuseBoth = ({ devices, query }: Partial<DeviceGroupItem>): void => {
  if (devices && query)
    throw new RequestError('invalid', 'A device group has either devices or a query', { path: '/query' });
};

export const create = (_: State, item: DeviceGroupItem): readonly DeviceGroupEvent[] => {
  refuseBoth(item);
  return [{ topic: 'deviceGroupCreated', data: contentOf(item) }];
};

type Referred = Context<{ readonly referrers: readonly Referrer[] }>;

/**
 * Changes the members that are given. A list takes the place of a query, and a query that of a list. `referrers`: the plans
 * and trees that name the group.
 */
export const update = (
  { exists: _, ...before }: State,
  { description, ...changes }: Static<typeof deviceGroupChangesSchema>,
  { refs: { referrers } }: Referred,
): readonly DeviceGroupEvent[] => {
  refuseBoth(changes);
  const { query: __, ...content } = before;
  const remaining: Given = changes.devices ? content : before;
  const target = contentOf({ ...remaining, ...changes, description: description ?? before.description });
  const { changed, removed } = changesBetween(before, target) ?? {};
  if (!changed) return [];
  if (changed.name !== undefined) refuseReferred(referrers, 'renamed');
  return [{ topic: 'deviceGroupUpdated', data: { ...changed, ...(removed && { query: null }) } }];
};

/** Throws `conflict` for a group that has no list of its own. */
const refuseQuery = ({ query }: State): void => {
  if (query) throw new RequestError('conflict', 'A query decides the devices of this group', { path: '/devices' });
};

export const addDevices = (
  state: State,
  { devices }: Static<typeof groupDevicesSchema>,
): readonly DeviceGroupEvent[] => {
  refuseQuery(state);
  const there = new Set(state.devices);
  const added = unique(devices).filter((name) => !there.has(name));
  if (there.size + added.length > mostDevices)
    throw new RequestError('invalid', `A device group may have ${mostDevices} devices`, { path: '/devices' });
  return added.length > 0 ? [{ topic: 'deviceGroupUpdated', data: { added } }] : [];
};

/** Names that are not in the group do not matter. */
export const removeDevices = (
  state: State,
  { devices }: Static<typeof groupDevicesSchema>,
): readonly DeviceGroupEvent[] => {
  refuseQuery(state);
  const there = new Set(state.devices);
  const removed = unique(devices).filter((name) => there.has(name));
  return removed.length > 0 ? [{ topic: 'deviceGroupUpdated', data: { removed } }] : [];
};

/** Part of an import. Its document had times and authors, or not. */
export const restore = (_: State, group: DeviceGroupContent & Partial<Authored>): readonly DeviceGroupEvent[] => [
  isSigned(group) ? { topic: 'deviceGroupRestored', data: group } : { topic: 'deviceGroupCreated', data: group },
];

const isSigned = <G extends Partial<Authored>>(group: G): group is G & Authored => group.created !== undefined;

/** `referrers`: the plans and trees that name the group. */
export const remove = (_: State, __: unknown, { refs }: Referred): readonly DeviceGroupEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return deletion;
};

const deletion: readonly DeviceGroupEvent[] = [{ topic: 'deviceGroupDeleted', data: {} }];

/** Part of a decision to delete groups. */
export const removeDecided = ({ exists }: State): readonly DeviceGroupEvent[] => (exists ? deletion : []);

/** The decision to delete several device groups. */
export const deviceGroupDeletions = deletionOf({
  area: 'configuration-manager',
  category: 'deviceGroupDeletion',
  topic: 'deviceGroupsDeleted',
  member: 'groupIds',
  title: 'DeviceGroupDeletion',
  noun: 'device group',
});
export const deviceGroupDeletion = deviceGroupDeletions.of;
