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

type Site = { readonly _id: string; readonly name: string };
type SiteEvent = Event<'siteCreated', { readonly name: string }> | Event<'siteRenamed', { readonly name: string }>;
type State = { readonly exists: boolean };
type Refs = { readonly taken: boolean };

const site = aggregate<State, SiteEvent>({
  area: 'inventory-manager',
  category: 'site',
  initial: { exists: false },
  evolve: { siteCreated: () => ({ exists: true }), siteRenamed: (state) => state },
  exists: ({ exists }) => exists,
});

const command = commandsOf(site);
const newSite = Type.Object({ name: Type.String() }, { additionalProperties: false });
const siteName = Type.Object({ to: Type.String() }, { additionalProperties: false });

const create = (_: State, { name }: { readonly name: string }): readonly SiteEvent[] => [
  { topic: 'siteCreated', data: { name } },
];
const rename = (_: State, { to }: { readonly to: string }, { refs }: Context<Refs>): readonly SiteEvent[] =>
  refs.taken ? [] : [{ topic: 'siteRenamed', data: { name: to } }];

export const createSite = command({ name: 'createSite', input: newSite, on: 'new', decide: create });
export const deleteSite = command({ name: 'deleteSite', input: noInput, on: 'existing', decide: () => [] });
export const renameSite = command({
  name: 'renameSite',
  input: siteName,
  on: 'existing',
  prepare: async ({ input }) => ({ taken: input.to === '' }),
  decide: rename,
});

// @ts-expect-error The decision reads refs, and nothing prepares them.
export const unprepared = command({ name: 'renameSite', input: siteName, on: 'existing', decide: rename });

export const otherInput = [
  // @ts-expect-error The decision wants another input than the schema gives.
  command({ name: 'createSite', input: siteName, on: 'new', decide: create }),
];

export const otherRefs = command({
  name: 'renameSite',
  input: siteName,
  on: 'existing',
  // @ts-expect-error The decision wants other refs.
  prepare: async () => ({ free: true }),
  // @ts-expect-error The decision wants other refs.
  decide: rename,
});

export const sites = projection<Site>()(site, {
  collection: 'sites',
  on: {
    siteCreated: (_, { data }) => ({ _id: '', name: data.name }),
    siteRenamed: (doc, { data }) => doc && { ...doc, name: data.name },
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name },
});

export const unprojected = projection<Site>()(site, {
  collection: 'sites',
  // @ts-expect-error siteRenamed has no function.
  on: { siteCreated: (_, { data }) => ({ _id: '', name: data.name }) },
  sorts: { name: (doc) => doc.name },
  // @ts-expect-error A site has no region.
  filters: { region: (doc) => doc.region },
});

const common = {
  name: 'anySite',
  method: 'post',
  access: [],
  summary: 'Some row',
  answer: Type.Unknown(),
  envelope: plain,
} as const;

export const rows = [
  commandRoute({ ...common, path: '/sites', command: createSite }),
  commandRoute({ ...common, path: '/sites/:id', command: deleteSite }),
  mappedCommandRoute({
    ...common,
    path: '/sites/:id/:name',
    body: noInput,
    command: renameSite,
    input: ({ name }) => ({ to: name }),
  }),
  getRoute({ ...common, path: '/sites/:site', get: sites, named: 'site', join: async ({ name }) => name }),
  listRoute({ ...common, path: '/sites', list: sites, envelope: results }),
];

const ofPlan = { of: plans, param: 'id', field: 'plan' } as const;

export const mistaken = [
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/sites/:id', get: sites, named: 'site' }),
  // @ts-expect-error The path has no such parameter.
  getRoute({ ...common, path: '/sites/:id', get: sites, key: ({ site }) => site }),
  // @ts-expect-error The path has no such parameter.
  listRoute({ ...common, path: '/sites/:id', list: sites, parent: { of: sites, param: 'site' }, envelope: results }),
  // @ts-expect-error Sites are found by no field of this name.
  listRoute({ ...common, path: '/plans/:id', list: sites, parent: ofPlan, envelope: results }),
  // @ts-expect-error A site has no region.
  getRoute({ ...common, path: '/sites/:id', get: sites, join: async ({ region }) => region }),
  // @ts-expect-error There is no such query parameter.
  listRoute({ ...common, path: '/sites', list: sites, joinOn: 'expand', envelope: results }),
  // @ts-expect-error The body has no such member.
  commandRoute({ ...common, path: '/sites', command: createSite, key: (_, { to }) => to }),
  // @ts-expect-error The command takes its own input, not what another one takes.
  mappedCommandRoute({ ...common, path: '/sites', body: siteName, command: createSite, input: (_, body) => body }),
  // @ts-expect-error A body of its own needs a function that makes the command's input of it.
  mappedCommandRoute({ ...common, path: '/sites', body: siteName, command: createSite }),
  // @ts-expect-error A row whose body is its command's input has no other body.
  commandRoute({ ...common, path: '/sites', command: createSite, body: siteName }),
];

type Rack = { readonly name: string; readonly height: string };
export const racks = childrenOf<Rack, SiteEvent>()({
  collection: 'racks',
  on: { siteCreated: () => ({ cleared: true }) },
  sorts: { name: (doc) => doc.name },
  filters: { height: (doc) => doc.height },
});

export const asked = async ({ query, find, findWithin, count }: Tools): Promise<readonly string[]> => {
  const [first] = await query(sites, { field: 'name', op: 'equals', value: 'a' });
  const found = await query(plans, { any: [{ field: 'treeId', op: 'equals', value: 'a' }] });
  await find(sites, 'a');
  await findWithin(racks, 'height', '42', ['a']);
  await count(racks, { all: [{ field: 'height', op: 'equals', value: '42' }] });
  return [first?.name ?? '', ...found.map(({ status }) => status)];
};

const firstPage = { order: 1, skip: 0, limit: 10 } as const;

export const misasked = async ({ query, find, findWithin, count }: Tools, model: ReadStore): Promise<unknown> => {
  const [first] = await query(sites);
  return [
    // @ts-expect-error A collection is a value, not a name.
    await query('sites'),
    // @ts-expect-error A collection is a value, not a name.
    await find('sites', 'a'),
    // @ts-expect-error There is no such collection.
    await query(sitez),
    // @ts-expect-error Sites are found by no field of this name.
    await query(sites, { field: 'nmae', op: 'equals', value: 'a' }),
    // @ts-expect-error It is plans that are found by the trees that they name.
    await query(sites, { field: 'treeId', op: 'equals', value: 'a' }),
    // @ts-expect-error Sites are found by no field of this name, wherever it stands.
    await query(sites, { all: [{ any: [{ field: 'nmae', op: 'equals', value: 'a' }] }] }),
    // @ts-expect-error Racks are found by their height alone.
    await findWithin(racks, 'name', 'a', ['b']),
    // @ts-expect-error Racks are found by their height alone.
    await count(racks, { field: 'name', op: 'equals', value: 'a' }),
    // @ts-expect-error Sites are sorted by no field of this name.
    await pageOf(model, sites, { ...firstPage, sort: 'nmae' }),
    // @ts-expect-error Racks are found by their height alone.
    await pageOf(model, racks, { ...firstPage, sort: 'name', where: { field: 'name', op: 'equals', value: 'a' } }),
    // @ts-expect-error A site has no region.
    (await documentOf(model, sites, 'a'))?.region,
    // @ts-expect-error A site has no region.
    first?.region,
  ];
};
