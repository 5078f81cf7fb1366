import type { Members } from '@automation-platform/json';
import { namesOf } from '../../domain/authorization/groups.ts';
import { entriesIn, get } from '../../domain/engine/layeredMap.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import {
  addNodes,
  clear,
  create,
  formerInventorySchema,
  type InventoryState,
  inventory,
  type NewNode,
  type Node,
  newInventorySchema,
  newNodesSchema,
  remove,
  restore,
} from '../../domain/inventory-manager/inventories.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { by, type Kind, picked } from '../engine/kinds.ts';

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

/** The attributes of each node, with sealed secrets. The mask keeps those of the node that is there. */
const sealedAttributes = (
  nodes: readonly NewNode[],
  state: InventoryState,
  { seal }: Tools,
): readonly Node['attributes'][] => {
  const given = nodes.map(({ attributes = {} }) => ({ attributes }));
  const before = nodes.map(({ name }) => get(state.nodes, name));
  const sealed = sealSecrets(given, before, seal, '/nodes') as readonly Pick<Node, 'attributes'>[];
  return sealed.map(({ attributes }) => attributes);
};

export const addInventoryNodes = command({
  name: 'addInventoryNodes',
  input: newNodesSchema,
  on: 'existing',
  decide: addNodes,
  prepare: async ({ input: { nodes }, state }, tools) => sealedAttributes(nodes, state, tools),
});

/** Makes an inventory what it was, with its nodes. */
const restoreInventory = command({
  name: 'restoreInventory',
  input: formerInventorySchema,
  on: 'any',
  decide: restore,
  prepare: async ({ input: { groups = [], nodes }, state }, tools) => ({
    unknownGroups: state.exists ? [] : await unknownGroups(tools, namesOf(groups)),
    attributes: sealedAttributes(nodes, state, tools),
  }),
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

/** The nodes of an inventory by name, so that their secrets are compared with those of the node of the same name. */
const nodesByName = (nodes: Iterable<readonly [name: string, node: Node]>): Members =>
  Object.fromEntries([...nodes].map(([name, { attributes, tags }]) => [name, { attributes, tags }]));

const asItWas = (former: Members): Members => {
  const nodes = Object.entries(former.nodes as Readonly<Record<string, Members>>); // from `nodesByName`
  return { ...picked(newInventorySchema, former), nodes: nodes.map(([name, node]) => ({ name, ...node })) };
};

export const inventoryKind: Kind = {
  of: inventory,
  restore: {
    there: by(restoreInventory, { method: 'addNodes', also: 'clearNodes', input: asItWas }),
    gone: by(restoreInventory, { method: 'createInventory', also: 'addNodes', input: asItWas }),
    more: ({ nodes }: InventoryState) => ({ nodes: nodesByName(entriesIn(nodes)) }),
  },
};
