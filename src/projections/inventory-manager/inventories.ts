import type { Authored } from '../../domain/engine/authors.ts';
import {
  type InventoryContent,
  type InventoryEvent,
  inventory,
  type Node,
} from '../../domain/inventory-manager/inventories.ts';
import { childrenOf, idOf, made, projection, touched } from '../engine/define.ts';

export type Inventory = { readonly _id: string } & InventoryContent & { readonly nodeCount: number } & Authored;

/** A node as it is stored. Secrets in its attributes are sealed. */
export type NodeDoc = Node & { readonly created: string };

/** The nodes of all inventories; each inventory has a part of its own. */
export const nodes = childrenOf<NodeDoc, InventoryEvent>()({
  collection: 'nodes',
  on: {
    nodesAdded: ({ data, metadata: { at } }) => ({
      put: data.nodes.map(({ name, attributes, tags }) => [name, { name, attributes, tags, created: at }]),
    }),
    nodesCleared: () => ({ cleared: true }),
    inventoryDeleted: () => ({ cleared: true }),
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name, tags: (doc) => doc.tags },
});

/** Inventories; authors are ids of accounts, groups are names. */
export const inventories = projection<Inventory>()(inventory, {
  collection: 'inventories',
  on: {
    inventoryCreated: (_, event) => ({ _id: idOf(event), ...event.data, nodeCount: 0, ...made(event) }),
    nodesAdded: (doc, event) =>
      doc && { ...doc, nodeCount: doc.nodeCount + event.data.nodes.length, ...touched(event) },
    nodesCleared: (doc, event) => doc && { ...doc, nodeCount: 0, ...touched(event) },
    inventoryDeleted: () => undefined,
  },
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name, groups: (doc) => doc.groups },
  children: nodes,
});
