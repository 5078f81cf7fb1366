import { namesOf } from '../../domain/authorization/groups.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import {
  addNodes,
  clear,
  create,
  inventory,
  type Node,
  newInventorySchema,
  newNodesSchema,
  remove,
} from '../../domain/inventory-manager/inventories.ts';
import { get } from '../../domain/inventory-manager/layeredMap.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, noInput } from '../engine/define.ts';

const command = commandsOf(inventory);

export const createInventory = command({
  name: 'createInventory',
  input: newInventorySchema,
  on: 'new',
  decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({
    unknownGroups: await unknownGroups(tools, namesOf(groups)),
  }),
});
export const addInventoryNodes = command({
  name: 'addInventoryNodes',
  input: newNodesSchema,
  on: 'existing',
  decide: addNodes,
  prepare: async ({ input: { nodes }, state }, tools) => {
    const [given, before] = [
      nodes.map(({ attributes = {} }) => ({ attributes })),
      nodes.map(({ name }) => get(state.nodes, name)),
    ];
    return (sealSecrets(given, before, tools.seal, '/nodes') as readonly Pick<Node, 'attributes'>[]).map(
      ({ attributes }) => attributes,
    );
  },
});
export const clearInventoryNodes = command({
  name: 'clearInventoryNodes',
  input: noInput,
  on: 'existing',
  decide: clear,
});
export const deleteInventory = command({
  name: 'deleteInventory',
  input: noInput,
  on: 'existing',
  decide: remove,
});
