import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import { name } from '../../domain/engine/schemas.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import { perVersion } from '../../projections/engine/perVersion.ts';
import type { ReadModel, Where } from '../../projections/engine/port.ts';
import { type Inventory, inventories, type NodeDoc, nodes } from '../../projections/inventory-manager/inventories.ts';
import { signing } from '../authorization/people.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';
import { pagedSchema, pageOf, succeeded, successText } from './answers.ts';
import { inventorySchema, nodeSchema, showNode } from './shown.ts';

const access = ['operators', 'readers'] as const;
const pageLength = 1000;

/** The inventories that the actor sees, by name. */
const inventoriesOf = async (actor: Actor, { model }: Pick<Service, 'model'>): Promise<readonly Inventory[]> => {
  const all: Inventory[] = [];
  for await (const entries of pagesOf(model, inventories, { sort: 'name', order: 1, ...readableBy(actor, model) }))
    all.push(...entries.map((entry) => documentIn(inventories, entry)));
  return all;
};

type NodesPage = { readonly where?: Where; readonly skip: number; readonly limit: number; readonly order: 1 | -1 };

/** A page of the nodes of several inventories, one inventory after the other. */
const nodesOf = async (model: ReadModel, parts: readonly string[], { where, skip, limit, order }: NodesPage) => {
  const found: NodeDoc[] = [];
  let total = 0;
  for (const part of order === 1 ? parts : parts.toReversed()) {
    const rest = limit - found.length;
    const page = { part, sort: 'name', order, skip: Math.max(0, skip - total), limit: Math.max(1, rest) } as const;
    const answer = await model.list(nodes.collection, where ? { ...page, where } : page);
    total += answer.total;
    if (rest > 0) found.push(...answer.entries.map(({ text }): NodeDoc => JSON.parse(text)));
  }
  return { found, total };
};

/** How many nodes of an inventory have each tag. */
type Counts = ReadonlyMap<string, number>;

/** Counts the tags of an inventory's nodes, once for each version of all nodes. The event loop has turns in between. */
const tagsIn = perVersion(nodes.collection, async (model: ReadModel, part): Promise<Counts> => {
  const counts = new Map<string, number>();
  for (let skip = 0; ; skip += pageLength) {
    const page = { part, sort: 'name', order: 1, skip, limit: pageLength } as const;
    const { entries } = await model.list(nodes.collection, page);
    for (const { text } of entries)
      for (const tag of showNode(JSON.parse(text)).tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    if (entries.length < pageLength) break;
    await nextTurn();
  }
  return counts;
});

const lower = (tags: readonly string[]): readonly string[] => [...new Set(tags.map((tag) => tag.toLowerCase()))];

const pages = {
  page: Type.Integer({ minimum: 1, default: 1, description: 'Page, from 1' }),
  pageSize: Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'The most that a page has' }),
};
const nodeQuery = {
  ...pages,
  search: name('Part of the name, in any case'),
  tags: name('A tag that each must have'),
  sortOrder: Type.Enum(['asc', 'desc'], { default: 'asc', description: 'By inventory and name: ascending or not' }),
};

const list = actionRoute({
  name: 'getAllNodes',
  method: 'get',
  reads: true,
  path: '/nodes',
  access,
  summary: 'List the nodes of all inventories',
  description: 'Of those that the caller sees, one inventory after the other, by name.',
  query: nodeQuery,
  answer: succeeded(pagedSchema(nodeSchema)),
  run: async ({ query: { page = 1, pageSize = 25, search, tags, sortOrder }, actor }, service) => {
    const all: Where[] = [];
    if (search !== undefined) all.push({ field: 'name', op: 'contains', value: search });
    if (tags !== undefined) all.push({ field: 'tags', op: 'equals', value: tags.toLowerCase() });
    const skip = (page - 1) * pageSize;
    const order = sortOrder === 'desc' ? -1 : 1;
    const nodesPage = { skip, limit: pageSize, order, ...(all.length > 0 && { where: { all } }) } as const;
    const parts = (await inventoriesOf(actor, service)).map(({ _id }) => _id);
    const { found, total } = await nodesOf(service.model, parts, nodesPage);
    const result = { data: found.map(showNode), ...pageOf(total, skip, pageSize) };
    return { text: successText('Successfully retrieved nodes', JSON.stringify(result)) };
  },
});

const tagSchema = Type.Object(
  {
    name: Type.String({ description: 'The tag, in lower case' }),
    inventories: Type.Integer({ description: 'How many inventories have it' }),
    nodes: Type.Integer({ description: 'How many nodes have it' }),
  },
  { title: 'InventoryTag', description: 'Tag of inventories and nodes' },
);

const tagList = actionRoute({
  name: 'getInventoryTags',
  method: 'get',
  reads: true,
  path: '/tags',
  access,
  summary: 'List the tags of inventories and nodes',
  description: 'Of those that the caller sees, by name.',
  query: pages,
  answer: succeeded(pagedSchema(tagSchema)),
  run: async ({ query: { page = 1, pageSize = 25 }, actor }, service) => {
    const found = new Map<string, Static<typeof tagSchema>>();
    const add = (name: string, ofInventories: number, ofNodes: number): void => {
      const before = found.get(name) ?? { name, inventories: 0, nodes: 0 };
      found.set(name, { name, inventories: before.inventories + ofInventories, nodes: before.nodes + ofNodes });
    };
    for (const { _id, tags = [] } of await inventoriesOf(actor, service)) {
      for (const tag of lower(tags)) add(tag, 1, 0);
      for (const [tag, count] of await tagsIn(service.model, _id)) add(tag, 0, count);
    }
    const all = [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const skip = (page - 1) * pageSize;
    const result = { data: all.slice(skip, skip + pageSize), ...pageOf(all.length, skip, pageSize) };
    return { text: successText('Successfully retrieved tags', JSON.stringify(result)) };
  },
});

const tagSearch = actionRoute({
  name: 'searchInventoryTags',
  method: 'post',
  reads: true,
  path: '/tags/search',
  access,
  summary: 'Find the inventories and nodes that have any of some tags',
  description: 'Of those that the caller sees: 1,000 nodes at most, and how many there are.',
  body: Type.Object(
    {
      tagIdentifiers: Type.Array(name('A tag'), { minItems: 1, maxItems: 100, description: 'Tags' }),
      start: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many nodes to leave out' })),
    },
    { additionalProperties: false },
  ),
  answer: succeeded(
    Type.Object({
      inventories: Type.Array(inventorySchema),
      nodes: Type.Array(nodeSchema),
      totalNodes: Type.Integer({ description: 'How many nodes there are' }),
    }),
  ),
  run: async ({ body: { tagIdentifiers, start: skip = 0 }, actor }, service) => {
    const names = lower(tagIdentifiers);
    const visible = await inventoriesOf(actor, service);
    const any = names.map((value) => ({ field: 'tags', op: 'equals', value }) as const);
    const nodesPage = { where: { any }, skip, limit: pageLength, order: 1 } as const;
    const parts = visible.map(({ _id }) => _id);
    const { found, total } = await nodesOf(service.model, parts, nodesPage);
    const tagged = visible.filter(({ tags = [] }) => lower(tags).some((tag) => names.includes(tag)));
    const sign = await signing(service.model, tagged);
    const result = { inventories: tagged.map(sign), nodes: found.map(showNode), totalNodes: total };
    return { text: successText('Successfully found inventories and nodes', JSON.stringify(result)) };
  },
});

const stats = actionRoute({
  name: 'getInventoryStats',
  method: 'get',
  reads: true,
  path: '/stats',
  access,
  summary: 'Count inventories and nodes',
  description: 'Of those that the caller sees.',
  answer: succeeded(
    Type.Object({
      totalInventories: Type.Integer(),
      totalNodes: Type.Integer(),
      totalActions: Type.Literal(0, { description: 'There are no actions' }),
    }),
  ),
  run: async ({ actor }, service) => {
    const visible = await inventoriesOf(actor, service);
    const totalNodes = visible.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
    const result = { totalInventories: visible.length, totalNodes, totalActions: 0 };
    return { text: successText('Successfully counted', JSON.stringify(result)) };
  },
});

/** Nodes, tags and counts of all inventories. */
export const allNodesRoutes: readonly Route[] = [list, tagList, tagSearch, stats];
