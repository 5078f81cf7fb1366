import { type TSchema, Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import {
  addInventoryNodes,
  clearInventoryNodes,
  createInventory,
  deleteInventory,
} from '../../commands/inventory-manager/inventories.ts';
import { time } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { newNodeSchema } from '../../domain/inventory-manager/inventories.ts';
import { type Inventory, inventories, type NodeDoc, nodes } from '../../projections/inventory-manager/inventories.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { AreaRoutes, ChangeEnvelope, Join } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const path = '/inventories/:id';
const author = Type.Union([Type.String(), Type.Null()]);

const inventorySchema = Type.Object(
  {
    _id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    groups: Type.Array(Type.String()),
    nodeCount: Type.Integer({ description: 'How many nodes it has' }),
    created: time('When it was made'),
    createdBy: author,
    lastUpdated: time('When it was last changed'),
    lastUpdatedBy: author,
  },
  { title: 'Inventory', description: 'Inventory, without its nodes' },
);

const nodeSchema = Type.Object(
  { ...Type.Required(newNodeSchema).properties, created: time('When it was added') },
  { title: 'Node', description: 'Node of an inventory' },
);

const masked: Join<NodeDoc> = async (doc) => maskSecrets(doc);

const succeeded = (result: TSchema) => Type.Object({ status: Type.Literal('Success'), message: Type.String(), result });

/** How many nodes a change has added; negative if it has removed nodes. */
const difference = ({ before, doc }: CommandResult): number =>
  (doc as Inventory).nodeCount - (before as Inventory).nodeCount;

const success =
  (message: (nodes: number) => string, result: (nodes: number, inventory: Inventory) => object): ChangeEnvelope =>
  (_, done) => {
    const count = Math.abs(difference(done));
    return JSON.stringify({
      status: 'Success',
      message: message(count),
      result: result(count, done.doc as Inventory),
    });
  };

/** Inventories and their nodes (docs/decisions/nodes-of-an-inventory.md). */
export const inventoryManagerRoutes: AreaRoutes = {
  area: 'inventory-manager',
  prefix: '/inventory_manager/v1',
  routes: [
    listRoute({
      name: 'getInventories',
      method: 'get',
      path: '/inventories',
      access: ['operators', 'readers'],
      summary: 'List inventories',
      list: inventories,
      join: signed,
      envelope: results,
      answer: listed(inventorySchema),
    }),
    commandRoute({
      name: 'createInventory',
      method: 'post',
      path: '/inventories',
      access: ['operators'],
      summary: 'Create an inventory',
      description: 'Without nodes: these are added by a request of their own.',
      command: createInventory,
      join: signed,
      envelope: withStatus(() => 'Successfully created inventory'),
      answer: changed(inventorySchema),
    }),
    getRoute({
      name: 'getInventory',
      method: 'get',
      path,
      access: ['operators', 'readers'],
      summary: 'Get an inventory, without its nodes',
      get: inventories,
      join: signed,
      envelope: plain,
      answer: inventorySchema,
    }),
    commandRoute({
      name: 'deleteInventory',
      method: 'delete',
      path,
      access: ['operators'],
      summary: 'Delete an inventory and its nodes',
      command: deleteInventory,
      join: signed,
      envelope: withStatus(() => 'Successfully deleted inventory'),
      answer: changed(inventorySchema),
    }),
    listRoute({
      name: 'getNodes',
      method: 'get',
      path: `${path}/nodes`,
      access: ['operators', 'readers'],
      summary: 'List the nodes of an inventory',
      list: nodes,
      parent: { of: inventories, param: 'id' },
      join: masked,
      envelope: results,
      answer: listed(nodeSchema),
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
        'is a conflict.',
      command: addInventoryNodes,
      envelope: success(
        (count) => `Added ${count} nodes`,
        (nodesAdded) => ({ nodesAdded }),
      ),
      answer: succeeded(Type.Object({ nodesAdded: Type.Integer() })),
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
      envelope: success(
        (count) => `Deleted ${count} nodes`,
        (nodesDeleted, { _id, name }) => ({ inventory: { id: _id, name }, statistics: { nodesDeleted } }),
      ),
      answer: succeeded(
        Type.Object({
          inventory: Type.Object({ id: Type.String(), name: Type.String() }),
          statistics: Type.Object({ nodesDeleted: Type.Integer() }),
        }),
      ),
    }),
  ],
};
