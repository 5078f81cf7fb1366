import type { Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { namesOf } from '../../domain/authorization/groups.ts';
import { isReference, namesCredential } from '../../domain/configuration-manager/credentialReferences.ts';
import { same } from '../../domain/engine/changes.ts';
import type { Context } from '../../domain/engine/core.ts';
import { entriesIn, get } from '../../domain/engine/layeredMap.ts';
import { type IsSecret, isSecretName, mask, sealBy } from '../../domain/engine/secretFields.ts';
import {
  addNodes,
  allNodesSchema,
  clear,
  create,
  differenceNames,
  formerInventorySchema,
  type InventoryEvent,
  type InventoryState,
  inventory,
  inventoryChangesSchema,
  type NewNode,
  type Node,
  newInventorySchema,
  newNodesSchema,
  nodeChangesSchema,
  remove,
  removeNode,
  replaceNodes,
  restore,
  setSource,
  syncDifferences,
  syncNodes,
  update,
  updateNode,
} from '../../domain/inventory-manager/inventories.ts';
import {
  inventorySync,
  newSourceSchema,
  requestSync,
  type SyncRequest,
} from '../../domain/inventory-manager/inventorySources.ts';
import { destinationOf } from '../../domain/inventory-manager/nodeDevices.ts';
import { unknownGroups } from '../authorization/names.ts';
import { namingCredentials } from '../configuration-manager/credentials.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { by, type Kind, picked } from '../engine/kinds.ts';

const command = commandsOf(inventory);

export const createInventory = command({
  name: 'createInventory',
  input: newInventorySchema,
  on: 'new',
  ...namingCredentials({
    named: ({ devices }: Static<typeof newInventorySchema>) => [devices, '/devices'],
    decide: create,
    prepare: async ({ input: { groups = [], devices = [] }, state }, tools) => ({
      unknownGroups: await unknownGroups(tools, namesOf(groups)),
      attributes: sealedAttributes(devices, state, tools, '/devices'),
    }),
  }),
});

export const updateInventory = command({
  name: 'updateInventory',
  input: inventoryChangesSchema,
  on: 'existing',
  decide: update,
  prepare: async ({ input: { groups = [] } }, tools) => ({
    unknownGroups: await unknownGroups(tools, namesOf(groups)),
  }),
});

/** The name of a credential is no secret, and neither is a reference to one of its members. */
const isSecret: IsSecret = (name, members) => {
  if (!isSecretName(name)) return false;
  const value = members[name];
  if (typeof value !== 'string' || value === mask) return true;
  return !(isReference(value) || namesCredential(name));
};

/**
 * The attributes that were there, for the mask: none if they would be sent elsewhere. Otherwise whoever may change a node
 * could send its secrets to a server of their own.
 */
const before = (there: Node | undefined, attributes: Members): Members | undefined =>
  there && same(destinationOf(there.attributes), destinationOf(attributes)) ? there.attributes : undefined;

/** The attributes of each node, with sealed secrets. The mask keeps those of the node that is there. */
const sealedAttributes = (
  nodes: readonly Pick<NewNode, 'name' | 'attributes'>[],
  state: InventoryState,
  { seal }: Pick<Tools, 'seal'>,
  path = '/nodes',
): readonly Node['attributes'][] => {
  const value = nodes.map(({ attributes = {} }) => ({ attributes }));
  const there = nodes.map(({ name, attributes = {} }) => ({ attributes: before(get(state.nodes, name), attributes) }));
  const sealed = sealBy(isSecret, { value, befores: [there], seal, path, keepsEqual: true });
  return (sealed as readonly Pick<Node, 'attributes'>[]).map(({ attributes }) => attributes);
};

/** Throws as `syncInventoryNodes` does, and changes nothing. */
export const checkSync = (state: InventoryState, { nodes, mostRemoved }: NodesOfSource, tools: Pick<Tools, 'seal'>) =>
  syncDifferences(state, { nodes, mostRemoved }, sealedAttributes(nodes, state, tools));

/** The names of the nodes that differ between an inventory and the nodes that it shall have. */
export const nodeDifferences = (state: InventoryState, nodes: readonly NewNode[], tools: Pick<Tools, 'seal'>) =>
  differenceNames(state, nodes, sealedAttributes(nodes, state, tools));

/** The parts of a command that gives an inventory nodes. */
const givingNodes = <Input extends { readonly nodes: readonly NewNode[] }>(
  decide: (
    state: InventoryState,
    input: Input,
    context: Context<readonly Node['attributes'][]>,
  ) => readonly InventoryEvent[],
) =>
  namingCredentials<InventoryState, Input, readonly Node['attributes'][], InventoryEvent>({
    named: ({ nodes }) => [nodes, '/nodes'],
    prepare: async ({ input: { nodes }, state }, tools) => sealedAttributes(nodes, state, tools),
    decide,
  });

export const addInventoryNodes = command({
  name: 'addInventoryNodes',
  input: newNodesSchema,
  on: 'existing',
  ...givingNodes(addNodes),
});

export const replaceInventoryNodes = command({
  name: 'replaceInventoryNodes',
  input: allNodesSchema,
  on: 'existing',
  ...givingNodes(replaceNodes),
});

const changedNodeSchema = Type.Object(
  { name: Type.String(), ...nodeChangesSchema.properties },
  { additionalProperties: false },
);

export type NodesOfSource = { readonly nodes: readonly NewNode[]; readonly mostRemoved: number };

/** Part of a job that reads a source: the nodes are those that it gave. */
export const syncInventoryNodes = command({
  name: 'syncInventoryNodes',
  input: Type.Unsafe<NodesOfSource>({}),
  on: 'existing',
  ...givingNodes<NodesOfSource>(syncNodes),
});

/** The body is `source` of `syncInventory`, too. */
export const setInventorySource = command({
  name: 'setInventorySource',
  input: newSourceSchema,
  on: 'existing',
  decide: setSource,
  prepare: async (_, { seal }) => ({ seal }),
});

/** Part of a sync by a source that the inventory does not keep. */
export const requestInventorySync = commandsOf(inventorySync)({
  name: 'requestInventorySync',
  input: Type.Unsafe<SyncRequest>({}),
  on: 'any',
  decide: requestSync,
});

export const updateInventoryNode = command({
  name: 'updateInventoryNode',
  input: changedNodeSchema,
  on: 'existing',
  ...namingCredentials({
    named: ({ attributes }: Static<typeof changedNodeSchema>) => [attributes, '/attributes'],
    decide: updateNode,
    prepare: async ({ input: { name, attributes }, state }, tools) =>
      attributes && sealedAttributes([{ name, attributes }], state, tools, '')[0],
  }),
});

export const deleteInventoryNode = command({
  name: 'deleteInventoryNode',
  input: Type.Object({ name: Type.String() }, { additionalProperties: false }),
  on: 'existing',
  decide: removeNode,
});

/** Makes an inventory what it was, with its nodes. */
const restoreInventory = command({
  name: 'restoreInventory',
  input: formerInventorySchema,
  on: 'any',
  ...namingCredentials({
    named: ({ nodes }: Static<typeof formerInventorySchema>) => [nodes, '/nodes'],
    decide: restore,
    prepare: async ({ input: { groups = [], nodes }, state }, tools) => ({
      unknownGroups: await unknownGroups(tools, namesOf(groups)),
      attributes: sealedAttributes(nodes, state, tools),
    }),
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
    needs: () => [{ task: 'its members', area: 'inventory-manager', method: 'updateInventory' }],
    deleted: by(restoreInventory, { method: 'createInventory', also: 'addNodes', input: asItWas }),
    more: ({ nodes }: InventoryState) => ({ nodes: nodesByName(entriesIn(nodes)) }),
  },
};
