import { Type } from 'typebox';
import { commandsOf, noInput, type Tools } from '../../src/commands/engine/define.ts';
import { aggregate, type Context, type Event } from '../../src/domain/engine/core.ts';
import { nothing } from '../../src/domain/engine/topics.ts';
import { plain, results } from '../../src/http/engine/envelopes.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../../src/http/engine/routes.ts';
import { plans } from '../../src/projections/configuration-manager/plans.ts';
import { childrenOf, projection } from '../../src/projections/engine/define.ts';
import { documentOf, pageOf } from '../../src/projections/engine/documents.ts';
import type { ReadStore } from '../../src/projections/engine/port.ts';

/*
 * Mistakes in wiring that the compiler catches. Nothing here runs: `tsc` fails where one of these lines compiles. Other
 * mistakes fail conventions.test.ts, layers.test.ts or knip.
 */

type Room = { readonly _id: string; readonly name: string };
type RoomEvent = Event<'roomCreated', { readonly name: string }> | Event<'roomRenamed', { readonly name: string }>;
type State = { readonly exists: boolean };
type Refs = { readonly taken: boolean };

const room = aggregate<State, RoomEvent>({
  area: 'inventory-manager',
  category: 'room',
  topics: { roomCreated: ['A room was made', nothing], roomRenamed: ['A room got another name', nothing] },
  initial: { exists: false },
  evolve: { roomCreated: () => ({ exists: true }), roomRenamed: (state) => state },
  exists: ({ exists }) => exists,
});

const command = commandsOf(room);
const newRoom = Type.Object({ name: Type.String() }, { additionalProperties: false });
const roomName = Type.Object({ to: Type.String() }, { additionalProperties: false });

const create = (_: State, { name }: { readonly name: string }): readonly RoomEvent[] => [
  { topic: 'roomCreated', data: { name } },
];
const rename = (_: State, { to }: { readonly to: string }, { refs }: Context<Refs>): readonly RoomEvent[] =>
  refs.taken ? [] : [{ topic: 'roomRenamed', data: { name: to } }];

export const createRoom = command({ name: 'createRoom', input: newRoom, on: 'new', decide: create });
export const deleteRoom = command({ name: 'deleteRoom', input: noInput, on: 'existing', decide: () => [] });
export const renameRoom = command({
  name: 'renameRoom',
  input: roomName,
  on: 'existing',
  prepare: async ({ input }) => ({ taken: input.to === '' }),
  decide: rename,
});

// @ts-expect-error The decision reads refs, and nothing prepares them.
export const unprepared = command({ name: 'renameRoom', input: roomName, on: 'existing', decide: rename });

export const otherInput = [
  // @ts-expect-error The decision wants another input than the schema gives.
  command({ name: 'createRoom', input: roomName, on: 'new', decide: create }),
];

export const otherRefs = command({
  name: 'renameRoom',
  input: roomName,
  on: 'existing',
  // @ts-expect-error The decision wants other refs.
  prepare: async () => ({ free: true }),
  // @ts-expect-error The decision wants other refs.
  decide: rename,
});

export const rooms = projection<Room>()(room, {
  collection: 'rooms',
  on: {
    roomCreated: (_, { data }) => ({ _id: '', name: data.name }),
    roomRenamed: (doc, { data }) => doc && { ...doc, name: data.name },
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name },
});

export const unprojected = projection<Room>()(room, {
  collection: 'rooms',
  // @ts-expect-error roomRenamed has no function.
  on: { roomCreated: (_, { data }) => ({ _id: '', name: data.name }) },
  sorts: { name: (doc) => doc.name },
  // @ts-expect-error A room has no region.
  filters: { region: (doc) => doc.region },
});

const common = {
  name: 'anyRoom',
  method: 'post',
  access: [],
  summary: 'Some row',
  answer: Type.Unknown(),
  envelope: plain,
} as const;

export const rows = [
  commandRoute({ ...common, path: '/rooms', command: createRoom }),
  commandRoute({ ...common, path: '/rooms/:id', command: deleteRoom }),
  mappedCommandRoute({
    ...common,
    path: '/rooms/:id/:name',
    body: noInput,
    command: renameRoom,
    input: ({ name }) => ({ to: name }),
  }),
  getRoute({ ...common, path: '/rooms/:room', get: rooms, named: 'room', join: async ({ name }) => name }),
  listRoute({ ...common, path: '/rooms', list: rooms, envelope: results }),
];

const ofPlan = { of: plans, param: 'id', field: 'plan' } as const;

export const mistaken = [
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/rooms/:id', get: rooms, named: 'room' }),
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/rooms/:id', get: rooms, key: ({ room }) => room }),
  // @ts-expect-error The path has no such parameter.
  listRoute({ ...common, path: '/rooms/:id', list: rooms, parent: { of: rooms, param: 'room' }, envelope: results }),
  // @ts-expect-error Rooms are found by no field of this name.
  listRoute({ ...common, path: '/plans/:id', list: rooms, parent: ofPlan, envelope: results }),
  // @ts-expect-error A room has no region.
  getRoute({ ...common, path: '/rooms/:id', get: rooms, join: async ({ region }) => region }),
  // @ts-expect-error There is no such query parameter.
  listRoute({ ...common, path: '/rooms', list: rooms, joinOn: 'expand', envelope: results }),
  // @ts-expect-error The body has no such member.
  commandRoute({ ...common, path: '/rooms', command: createRoom, key: (_, { to }) => to }),
  // @ts-expect-error The command takes its own input, not what another one takes.
  mappedCommandRoute({ ...common, path: '/rooms', body: roomName, command: createRoom, input: (_, body) => body }),
  // @ts-expect-error A body of its own needs a function that makes the command's input of it.
  mappedCommandRoute({ ...common, path: '/rooms', body: roomName, command: createRoom }),
  // @ts-expect-error A row whose body is its command's input has no other body.
  commandRoute({ ...common, path: '/rooms', command: createRoom, body: roomName }),
];

type Rack = { readonly name: string; readonly height: string };
export const racks = childrenOf<Rack, RoomEvent>()({
  collection: 'racks',
  on: { roomCreated: () => ({ cleared: true }) },
  sorts: { name: (doc) => doc.name },
  filters: { height: (doc) => doc.height },
});

export const asked = async ({ query, find, findWithin, count }: Tools): Promise<readonly string[]> => {
  const [first] = await query(rooms, { field: 'name', op: 'equals', value: 'a' });
  const found = await query(plans, { any: [{ field: 'treeId', op: 'equals', value: 'a' }] });
  await find(rooms, 'a');
  await findWithin(racks, 'height', '42', ['a']);
  await count(racks, { all: [{ field: 'height', op: 'equals', value: '42' }] });
  return [first?.name ?? '', ...found.map(({ status }) => status)];
};

const firstPage = { order: 1, skip: 0, limit: 10 } as const;

export const misasked = async ({ query, find, findWithin, count }: Tools, model: ReadStore): Promise<unknown> => {
  const [first] = await query(rooms);
  return [
    // @ts-expect-error A collection is a value, not a name.
    await query('rooms'),
    // @ts-expect-error A collection is a value, not a name.
    await find('rooms', 'a'),
    // @ts-expect-error There is no such collection.
    await query(roomz),
    // @ts-expect-error Rooms are found by no field of this name.
    await query(rooms, { field: 'nmae', op: 'equals', value: 'a' }),
    // @ts-expect-error It is plans that are found by the trees that they name.
    await query(rooms, { field: 'treeId', op: 'equals', value: 'a' }),
    // @ts-expect-error Rooms are found by no field of this name, wherever it stands.
    await query(rooms, { all: [{ any: [{ field: 'nmae', op: 'equals', value: 'a' }] }] }),
    // @ts-expect-error Racks are found by their height alone.
    await findWithin(racks, 'name', 'a', ['b']),
    // @ts-expect-error Racks are found by their height alone.
    await count(racks, { field: 'name', op: 'equals', value: 'a' }),
    // @ts-expect-error Rooms are sorted by no field of this name.
    await pageOf(model, rooms, { ...firstPage, sort: 'nmae' }),
    // @ts-expect-error Racks are found by their height alone.
    await pageOf(model, racks, { ...firstPage, sort: 'name', where: { field: 'name', op: 'equals', value: 'a' } }),
    // @ts-expect-error A room has no region.
    (await documentOf(model, rooms, 'a'))?.region,
    // @ts-expect-error A room has no region.
    first?.region,
  ];
};
