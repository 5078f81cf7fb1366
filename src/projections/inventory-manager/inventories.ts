import type { Authored } from '../../domain/engine/authors.ts';
import {
  type InventoryContent,
  type InventoryEvent,
  inventory,
  type Node,
} from '../../domain/inventory-manager/inventories.ts';
import type { InventorySource } from '../../domain/inventory-manager/inventorySources.ts';
import { deviceOf } from '../../domain/inventory-manager/nodeDevices.ts';
import type { Recorded } from '../../store/event.ts';
import { authorship, type ChildChanges, childrenOf, idOf, projection, touched } from '../engine/define.ts';
import { allGuards, listsGuard, onlyGuard } from '../engine/guards.ts';

/** `source`: without its text and token. */
export type Inventory = { readonly _id: string } & InventoryContent & {
    readonly nodeCount: number;
    readonly source?: Omit<InventorySource, 'text' | 'token'>;
  } & Authored;

/** A node as it is stored. Secrets in its attributes are sealed. */
export type NodeDoc = Node & { readonly created: string; readonly inventory_id: string };

const put = (event: Recorded<{ readonly nodes: readonly Node[] }>): ChildChanges<NodeDoc> => ({
  put: event.data.nodes.map(({ name, attributes, tags }) => [
    name,
    { name, attributes, tags, created: event.metadata.at, inventory_id: idOf(event) },
  ]),
});

/** A text of the device that a node is, for lists of devices. */
const ofDevice =
  (member: 'host' | 'ostype' | 'port') =>
  (doc: NodeDoc): readonly string[] => {
    const value = deviceOf(doc)?.[member];
    return value === undefined ? [] : [String(value)];
  };

/** The nodes of all inventories; each inventory has a part of its own. */
export const nodes = childrenOf<NodeDoc, InventoryEvent>()({
  collection: 'nodes',
  on: {
    nodesAdded: put,
    nodesChanged: put,
    nodesRemoved: ({ data }) => ({ removed: data.names }),
    nodesCleared: () => ({ cleared: true }),
    inventoryDeleted: () => ({ cleared: true }),
  },
  sorts: { name: (doc) => doc.name },
  filters: {
    name: (doc) => doc.name,
    tags: (doc) => doc.tags.map((tag) => tag.toLowerCase()),
    host: ofDevice('host'),
    port: ofDevice('port'),
    ostype: ofDevice('ostype'),
  },
});

/** Inventories; authors are ids of accounts, groups are names. */
export const inventories = projection<Inventory>()(inventory, {
  collection: 'inventories',
  on: {
    inventoryCreated: (_, event) => ({ _id: idOf(event), ...event.data, nodeCount: 0, ...authorship(event) }),
    nodesAdded: (doc, event) =>
      doc && { ...doc, nodeCount: doc.nodeCount + event.data.nodes.length, ...touched(event) },
    nodesChanged: (doc, event) => doc && { ...doc, ...touched(event) },
    nodesRemoved: (doc, event) =>
      doc && { ...doc, nodeCount: doc.nodeCount - event.data.names.length, ...touched(event) },
    inventoryUpdated: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    nodesCleared: (doc, event) => doc && { ...doc, nodeCount: 0, ...touched(event) },
    inventorySourceSet: (doc, event) => {
      const { text: _, token: __, ...source } = event.data;
      return doc && { ...doc, source, ...touched(event) };
    },
    inventoryDeleted: () => undefined,
  },
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name, groups: (doc) => doc.groups, tags: ({ tags = [] }) => tags },
  guard: ({ _id, groups }) =>
    allGuards([listsGuard({ read: groups, write: groups }), onlyGuard(inventory.category, _id)]),
  children: nodes,
});
