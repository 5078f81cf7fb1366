import { Type } from 'typebox';
import { namesOf } from '../domain/groups.ts';
import { addNodes, clear, create, inventory, newInventorySchema, newNodesSchema, type Node, remove } from '../domain/inventories.ts';
import { get } from '../domain/layeredMap.ts';
import { sealSecrets } from '../domain/secretFields.ts';
import { commandsOf } from './define.ts';
import { unknownNames } from './references.ts';
import { sealingFew } from './sealing.ts';

const command = commandsOf(inventory);

export const createInventory = command({
  name: 'createInventory', input: newInventorySchema, on: 'new', decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({ unknownGroups: await unknownNames(tools, 'groups', namesOf(groups)) }),
});
export const addInventoryNodes = command({
  name: 'addInventoryNodes', input: newNodesSchema, on: 'existing', decide: addNodes,
  prepare: async ({ input: { nodes }, state }, tools) => {
    const seal = sealingFew(tools.seal, '/nodes');
    return nodes.map(({ name, attributes = {} }, i) => sealSecrets(attributes, get(state.nodes, name)?.attributes, seal, `/nodes/${i}/attributes`) as Node['attributes']);
  },
});
export const clearInventoryNodes = command({ name: 'clearInventoryNodes', input: Type.Object({}), on: 'existing', decide: clear });
export const deleteInventory = command({ name: 'deleteInventory', input: Type.Object({}), on: 'existing', decide: remove });
