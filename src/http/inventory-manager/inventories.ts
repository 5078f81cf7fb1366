import { type Static, Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import {
  addInventoryNodes,
  clearInventoryNodes,
  createInventory,
  deleteInventory,
  deleteInventoryNode,
  nodeDifferences,
  replaceInventoryNodes,
  updateInventory,
  updateInventoryNode,
} from '../../commands/inventory-manager/inventories.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { inventory, newNodesSchema, nodeChangesSchema } from '../../domain/inventory-manager/inventories.ts';
import { type Inventory, inventories, nodes } from '../../projections/inventory-manager/inventories.ts';
import { signed } from '../authorization/people.ts';
import type { Page, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { allNodesRoutes } from './allNodes.ts';
import {
  besideMembers,
  documentAnswer,
  memberAnswer,
  pageAnswer,
  succeeded,
  successOf,
  successText,
  withDocument,
  withPage,
} from './answers.ts';
import { inventorySchema, nodeAnswer, nodeSchema, showNode } from './shown.ts';
import { inventorySourceRoutes } from './sources.ts';

const path = '/inventories/:id';
/** How many nodes a change has added; negative if it has removed nodes. */
const difference = ({ before, doc }: CommandResult): number =>
  (doc as Inventory).nodeCount - (before as Inventory).nodeCount;

/** The parameters of lists as published clients send them. */
const pages = {
  page: Type.Integer({ minimum: 1, description: 'Page, from 1; goes before skip' }),
  pageSize: Type.Integer({ minimum: 1, maximum: 1000, description: 'The most that a page has; goes before limit' }),
  search: name('Part of the name, in any case'),
  sortField: Type.Enum(['name', 'created', 'lastUpdated'], { description: 'The member to sort by; goes before sort' }),
  sortOrder: Type.Enum(['asc', 'desc'], { description: 'The direction; goes before order' }),
  tags: name('A tag that each must have'),
};
type Pages = { readonly [Member in keyof typeof pages]?: Static<(typeof pages)[Member]> };

const directions = { asc: 1, desc: -1 } as const;

const pageAsked = ({ where, ...given }: Page, { page, pageSize, search, sortField, sortOrder }: Pages): Page => {
  const limit = pageSize ?? given.limit;
  const named = search === undefined ? [] : [{ field: 'name', op: 'contains', value: search } as const];
  const all = [...(where ? [where] : []), ...named];
  return {
    limit,
    skip: page === undefined ? given.skip : (page - 1) * limit,
    sort: sortField ?? given.sort,
    order: sortOrder === undefined ? given.order : directions[sortOrder],
    ...(all.length > 0 && { where: { all } }),
  };
};
const { sortField: _, ...nodePages } = pages;

const names = Type.Array(Type.String());

const nodePath = `${path}/nodes/:node` as const;

/** Inventories and their nodes (docs/inventories.md). */
export const inventoryRoutes: readonly Route[] = [
  ...allNodesRoutes,
  ...inventorySourceRoutes,
  listRoute({
    name: 'getInventories',
    method: 'get',
    path: '/inventories',
    access: ['operators', 'readers'],
    summary: 'List inventories',
    list: inventories,
    query: pages,
    page: pageAsked,
    join: signed,
    envelope: withPage('Successfully retrieved inventories'),
    answer: pageAnswer(inventorySchema),
  }),
  commandRoute({
    name: 'createInventory',
    method: 'post',
    path: '/inventories',
    access: ['operators'],
    large: true,
    summary: 'Create an inventory',
    description: 'Its `groups` are an access list: others do not see it, its nodes and their devices.',
    command: createInventory,
    join: signed,
    envelope: withDocument('Successfully created inventory'),
    answer: documentAnswer(inventorySchema),
  }),
  getRoute({
    name: 'getInventory',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get an inventory, without its nodes',
    get: inventories,
    join: signed,
    envelope: besideMembers('Successfully retrieved inventory'),
    answer: memberAnswer(inventorySchema),
  }),
  commandRoute({
    name: 'updateInventory',
    method: 'patch',
    path,
    access: ['operators'],
    summary: 'Change members of an inventory',
    command: updateInventory,
    join: signed,
    envelope: withDocument('Successfully updated inventory'),
    answer: documentAnswer(inventorySchema),
  }),
  commandRoute({
    name: 'deleteInventory',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete an inventory and its nodes',
    command: deleteInventory,
    join: signed,
    envelope: withDocument('Successfully deleted inventory'),
    answer: documentAnswer(inventorySchema),
  }),
  listRoute({
    name: 'getNodes',
    method: 'get',
    path: `${path}/nodes`,
    access: ['operators', 'readers'],
    summary: 'List the nodes of an inventory',
    list: nodes,
    query: nodePages,
    page: pageAsked,
    parent: { of: inventories, param: 'id' },
    join: nodeAnswer,
    envelope: withPage('Successfully retrieved nodes'),
    answer: pageAnswer(nodeSchema),
  }),
  commandRoute({
    name: 'addNodes',
    method: 'post',
    path: `${path}/nodes`,
    access: ['operators'],
    large: true,
    summary: 'Add nodes to an inventory, all or none',
    description:
      'A node that is there with the same content stays as it is and is not counted; with other content it ' +
      'is a conflict, unless `overwrite` says that it is replaced.',
    command: addInventoryNodes,
    envelope: successOf(
      (outcome) => `Added ${difference(outcome)} nodes`,
      (outcome) => ({ nodesAdded: difference(outcome) }),
    ),
    answer: succeeded(Type.Object({ nodesAdded: Type.Integer() })),
  }),
  mappedCommandRoute({
    name: 'replaceNodes',
    method: 'post',
    path: '/nodes/bulk',
    access: ['operators'],
    large: true,
    summary: 'Give an inventory other nodes, all or none',
    description: 'Nodes that are not named go. The differences alone are stored, and with `dryRun` nothing.',
    command: replaceInventoryNodes,
    body: Type.Object(
      {
        inventory_identifier: name('Id or name of the inventory'),
        nodes: newNodesSchema.properties.nodes,
        dryRun: Type.Optional(Type.Boolean({ description: 'Nothing changes: the answer names the differences' })),
      },
      { additionalProperties: false },
    ),
    named: (_, { inventory_identifier }) => inventory_identifier,
    input: (_, { nodes, dryRun = false }) => ({ nodes, dryRun }),
    join: async ({ _id, nodeCount }: Inventory, { tools }, { body: { nodes, dryRun } }) =>
      dryRun ? nodeDifferences(await tools.state(inventory, _id), nodes, tools) : { data: { nodeCount } },
    envelope: (text) => successText(`Successfully ${text.startsWith('{"data"') ? 'replaced' : 'compared'} nodes`, text),
    answer: succeeded(
      Type.Union([
        Type.Object({ data: Type.Object({ nodeCount: Type.Integer() }) }),
        Type.Object({ added: names, changed: names, removed: names }, { description: 'Of a dry run: names of nodes' }),
      ]),
    ),
  }),
  actionRoute({
    name: 'getNode',
    method: 'get',
    path: nodePath,
    access: ['operators', 'readers'],
    reads: true,
    summary: 'Get a node of an inventory',
    answer: memberAnswer(nodeSchema),
    run: async ({ params: { id = '', node = '' }, actor }, service) => {
      const { id: inventory } = await service.entry(inventories, id, actor);
      const entry = await service.model.get(nodes.collection, `${inventory}/${node}`);
      if (!entry) throw new RequestError('not_found', `No such node ${JSON.stringify(node)}`, { path: 'node' });
      const text = JSON.stringify(showNode(JSON.parse(entry.text)));
      return { text: besideMembers('Successfully retrieved node')(text) };
    },
  }),
  mappedCommandRoute({
    name: 'updateNode',
    method: 'patch',
    path: nodePath,
    access: ['operators'],
    summary: 'Change a node of an inventory',
    description: 'Attributes and tags that are given take the place of those that were there; ******** keeps a secret.',
    command: updateInventoryNode,
    body: nodeChangesSchema,
    input: ({ node }, changes) => ({ name: node, ...changes }),
    envelope: successOf(
      () => 'Successfully updated node',
      () => ({}),
    ),
    answer: succeeded(Type.Object({})),
  }),
  mappedCommandRoute({
    name: 'deleteNode',
    method: 'delete',
    path: nodePath,
    access: ['operators'],
    summary: 'Remove a node of an inventory',
    command: deleteInventoryNode,
    body: Type.Object({}, { additionalProperties: false }),
    input: ({ node }) => ({ name: node }),
    envelope: successOf(
      () => 'Successfully removed node',
      () => ({}),
    ),
    answer: succeeded(Type.Object({})),
  }),
  commandRoute({
    name: 'clearNodes',
    method: 'delete',
    path: '/nodes/clear/:identifier',
    access: ['operators'],
    summary: 'Remove all nodes of an inventory',
    description: "An identifier that is one inventory's id and another one's name means the id.",
    command: clearInventoryNodes,
    named: 'identifier',
    envelope: successOf(
      (outcome) => `Deleted ${Math.abs(difference(outcome))} nodes`,
      (outcome) => {
        const { _id: id, name } = outcome.doc as Inventory;
        return { inventory: { id, name }, statistics: { nodesDeleted: Math.abs(difference(outcome)) } };
      },
    ),
    answer: succeeded(
      Type.Object({
        inventory: Type.Object({ id: Type.String(), name: Type.String() }),
        statistics: Type.Object({ nodesDeleted: Type.Integer() }),
      }),
    ),
  }),
];
