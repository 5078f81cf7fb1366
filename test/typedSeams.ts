import { Type } from 'typebox';
import { commandsOf, noInput, type Tools } from '../src/commands/engine/define.ts';
import { aggregate, type Context, type Event } from '../src/domain/engine/core.ts';
import { plain, results } from '../src/http/engine/envelopes.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../src/http/engine/routes.ts';
import { plans } from '../src/projections/configuration-manager/plans.ts';
import { childrenOf, projection } from '../src/projections/engine/define.ts';
import { documentOf, pageOf } from '../src/projections/engine/documents.ts';
import type { ReadStore } from '../src/projections/engine/port.ts';

/*
 * Mistakes in wiring that the compiler catches. Nothing here runs: `tsc` fails where one of these lines compiles. Other
 * mistakes fail conventions.test.ts, layers.test.ts or knip.
 */

type Depot = { readonly _id: string; readonly name: string };
type DepotEvent = Event<'depotCreated', { readonly name: string }> | Event<'depotRenamed', { readonly name: string }>;
type State = { readonly exists: boolean };
type Refs = { readonly taken: boolean };

const depot = aggregate<State, DepotEvent>({
  area: 'inventory-manager',
  category: 'depot',
  initial: { exists: false },
  evolve: { depotCreated: () => ({ exists: true }), depotRenamed: (state) => state },
  exists: ({ exists }) => exists,
});

const command = commandsOf(depot);
const newDepot = Type.Object({ name: Type.String() }, { additionalProperties: false });
const depotName = Type.Object({ to: Type.String() }, { additionalProperties: false });

const create = (_: State, { name }: { readonly name: string }): readonly DepotEvent[] => [
  { topic: 'depotCreated', data: { name } },
];
const rename = (_: State, { to }: { readonly to: string }, { refs }: Context<Refs>): readonly DepotEvent[] =>
  refs.taken ? [] : [{ topic: 'depotRenamed', data: { name: to } }];

export const createDepot = command({ name: 'createDepot', input: newDepot, on: 'new', decide: create });
export const deleteDepot = command({ name: 'deleteDepot', input: noInput, on: 'existing', decide: () => [] });
export const renameDepot = command({
  name: 'renameDepot',
  input: depotName,
  on: 'existing',
  prepare: async ({ input }) => ({ taken: input.to === '' }),
  decide: rename,
});

// @ts-expect-error The decision reads refs, and nothing prepares them.
export const unprepared = command({ name: 'renameDepot', input: depotName, on: 'existing', decide: rename });

export const otherInput = [
  // @ts-expect-error The decision wants another input than the schema gives.
  command({ name: 'createDepot', input: depotName, on: 'new', decide: create }),
];

export const otherRefs = command({
  name: 'renameDepot',
  input: depotName,
  on: 'existing',
  // @ts-expect-error The decision wants other refs.
  prepare: async () => ({ free: true }),
  // @ts-expect-error The decision wants other refs.
  decide: rename,
});

export const depots = projection<Depot>()(depot, {
  collection: 'depots',
  on: {
    depotCreated: (_, { data }) => ({ _id: '', name: data.name }),
    depotRenamed: (doc, { data }) => doc && { ...doc, name: data.name },
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name },
});

export const unprojected = projection<Depot>()(depot, {
  collection: 'depots',
  // @ts-expect-error depotRenamed has no function.
  on: { depotCreated: (_, { data }) => ({ _id: '', name: data.name }) },
  sorts: { name: (doc) => doc.name },
  // @ts-expect-error A depot has no region.
  filters: { region: (doc) => doc.region },
});

const common = {
  name: 'anyDepot',
  method: 'post',
  access: [],
  summary: 'Some row',
  answer: Type.Unknown(),
  envelope: plain,
} as const;

export const rows = [
  commandRoute({ ...common, path: '/depots', command: createDepot }),
  commandRoute({ ...common, path: '/depots/:id', command: deleteDepot }),
  mappedCommandRoute({
    ...common,
    path: '/depots/:id/:name',
    body: noInput,
    command: renameDepot,
    input: ({ name }) => ({ to: name }),
  }),
  getRoute({ ...common, path: '/depots/:depot', get: depots, named: 'depot', join: async ({ name }) => name }),
  listRoute({ ...common, path: '/depots', list: depots, envelope: results }),
];

const ofPlan = { of: plans, param: 'id', field: 'plan' } as const;

export const mistaken = [
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/depots/:id', get: depots, named: 'depot' }),
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/depots/:id', get: depots, key: ({ depot }) => depot }),
  // @ts-expect-error The path has no such parameter.
  listRoute({
    ...common,
    path: '/depots/:id',
    list: depots,
    parent: { of: depots, param: 'depot' },
    envelope: results,
  }),
  // @ts-expect-error Depots are found by no field of this name.
  listRoute({ ...common, path: '/plans/:id', list: depots, parent: ofPlan, envelope: results }),
  // @ts-expect-error A depot has no region.
  getRoute({ ...common, path: '/depots/:id', get: depots, join: async ({ region }) => region }),
  // @ts-expect-error There is no such query parameter.
  listRoute({ ...common, path: '/depots', list: depots, joinOn: 'expand', envelope: results }),
  // @ts-expect-error The body has no such member.
  commandRoute({ ...common, path: '/depots', command: createDepot, key: (_, { to }) => to }),
  // @ts-expect-error The command takes its own input, not what another one takes.
  mappedCommandRoute({ ...common, path: '/depots', body: depotName, command: createDepot, input: (_, body) => body }),
  // @ts-expect-error A body of its own needs a function that makes the command's input of it.
  mappedCommandRoute({ ...common, path: '/depots', body: depotName, command: createDepot }),
  // @ts-expect-error A row whose body is its command's input has no other body.
  commandRoute({ ...common, path: '/depots', command: createDepot, body: depotName }),
];

type Rack = { readonly name: string; readonly height: string };
export const racks = childrenOf<Rack, DepotEvent>()({
  collection: 'racks',
  on: { depotCreated: () => ({ cleared: true }) },
  sorts: { name: (doc) => doc.name },
  filters: { height: (doc) => doc.height },
});

export const asked = async ({ query, find, findWithin, count }: Tools): Promise<readonly string[]> => {
  const [first] = await query(depots, { field: 'name', op: 'equals', value: 'a' });
  const found = await query(plans, { any: [{ field: 'treeId', op: 'equals', value: 'a' }] });
  await find(depots, 'a');
  await findWithin(racks, 'height', '42', ['a']);
  await count(racks, { all: [{ field: 'height', op: 'equals', value: '42' }] });
  return [first?.name ?? '', ...found.map(({ status }) => status)];
};

const firstPage = { order: 1, skip: 0, limit: 10 } as const;

export const misasked = async ({ query, find, findWithin, count }: Tools, model: ReadStore): Promise<unknown> => {
  const [first] = await query(depots);
  return [
    // @ts-expect-error A collection is a value, not a name.
    await query('depots'),
    // @ts-expect-error A collection is a value, not a name.
    await find('depots', 'a'),
    // @ts-expect-error There is no such collection.
    await query(sitez),
    // @ts-expect-error Depots are found by no field of this name.
    await query(depots, { field: 'nmae', op: 'equals', value: 'a' }),
    // @ts-expect-error It is plans that are found by the trees that they name.
    await query(depots, { field: 'treeId', op: 'equals', value: 'a' }),
    // @ts-expect-error Depots are found by no field of this name, wherever it stands.
    await query(depots, { all: [{ any: [{ field: 'nmae', op: 'equals', value: 'a' }] }] }),
    // @ts-expect-error Racks are found by their height alone.
    await findWithin(racks, 'name', 'a', ['b']),
    // @ts-expect-error Racks are found by their height alone.
    await count(racks, { field: 'name', op: 'equals', value: 'a' }),
    // @ts-expect-error Depots are sorted by no field of this name.
    await pageOf(model, depots, { ...firstPage, sort: 'nmae' }),
    // @ts-expect-error Racks are found by their height alone.
    await pageOf(model, racks, { ...firstPage, sort: 'name', where: { field: 'name', op: 'equals', value: 'a' } }),
    // @ts-expect-error A depot has no region.
    (await documentOf(model, depots, 'a'))?.region,
    // @ts-expect-error A depot has no region.
    first?.region,
  ];
};
