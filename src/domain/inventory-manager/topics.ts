import { Type } from 'typebox';
import { type Described, describeTopics, members, nothing, text, texts, whole } from '../engine/topics.ts';
import { inventory } from './inventories.ts';

export const inventoryTopics: readonly Described[] = [
  describeTopics(inventory, {
    inventoryCreated: ['An inventory was created', Type.Object({ name: text, description: text, groups: texts })],
    nodesAdded: [
      'Nodes were added to an inventory',
      Type.Object({ nodes: Type.Array(Type.Object({ name: text, attributes: members, tags: texts })) }),
    ],
    nodesCleared: ['All nodes of an inventory were removed', Type.Object({ count: whole })],
    inventoryDeleted: ['An inventory was deleted', nothing],
  }),
];
