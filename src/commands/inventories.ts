import { Type } from 'typebox';
import { namesOf } from '../domain/groups.ts';
import { addNodes, clear, create, inventory, newInventorySchema, newNodesSchema, type Node, remove } from '../domain/inventories.ts';
import { get } from '../domain/layeredMap.ts';
import { Refusal } from '../domain/refusal.ts';
import { sealSecrets } from '../domain/secretFields.ts';
import { commandsOf, type Tools } from './define.ts';
import { unknownNames } from './references.ts';

const command = commandsOf(inventory);

/** Secrets that one request may bring: sealing one takes about ten microseconds, in which nobody else is served. */
const mostSecrets = 20_000;

const atMost = (most: number, seal: Tools['seal']): Tools['seal'] => {
  let sealed = 0;
  return (secret) => {
    if (++sealed > most) throw new Refusal('invalid', `One request may bring ${most} secrets; add the nodes in several`, { path: '/nodes' });
    return seal(secret);
  };
};

export const createInventory = command({
  name: 'createInventory', input: newInventorySchema, on: 'new', decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({ unknownGroups: await unknownNames(tools, 'groups', namesOf(groups)) }),
});
export const addInventoryNodes = command({
  name: 'addInventoryNodes', input: newNodesSchema, on: 'existing', decide: addNodes,
  prepare: async ({ input: { nodes }, state }, tools) => {
    const seal = atMost(mostSecrets, tools.seal);
    return nodes.map(({ name, attributes = {} }, i) => sealSecrets(attributes, get(state.nodes, name)?.attributes, seal, `/nodes/${i}/attributes`) as Node['attributes']);
  },
});
export const clearInventoryNodes = command({ name: 'clearInventoryNodes', input: Type.Object({}), on: 'existing', decide: clear });
export const deleteInventory = command({ name: 'deleteInventory', input: Type.Object({}), on: 'existing', decide: remove });
