import { Type } from 'typebox';
import { time } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { newNodeSchema } from '../../domain/inventory-manager/inventories.ts';
import { newSourceSchema } from '../../domain/inventory-manager/inventorySources.ts';
import type { NodeDoc } from '../../projections/inventory-manager/inventories.ts';
import { derivedId } from '../../store/derivedIds.ts';
import type { Join } from '../engine/route.ts';

const author = Type.Union([Type.String(), Type.Null()]);

export const inventorySchema = Type.Object(
  {
    _id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    groups: Type.Array(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    backups: Type.Optional(Type.Boolean()),
    source: Type.Optional(
      Type.Object(Type.Pick(newSourceSchema, ['type', 'url', 'filters', 'mostRemoved']).properties, {
        title: 'ShownInventorySource',
        description: 'Where its nodes come from, without text and token',
      }),
    ),
    nodeCount: Type.Integer({ description: 'How many nodes it has' }),
    created: time('When it was made'),
    createdBy: author,
    lastUpdated: time('When it was last changed'),
    lastUpdatedBy: author,
  },
  { title: 'Inventory', description: 'Inventory, without its nodes' },
);

export const nodeSchema = Type.Object(
  {
    _id: Type.String(),
    inventory_id: Type.String(),
    ...Type.Required(newNodeSchema).properties,
    created: time('When it was added, or got its present content'),
  },
  { title: 'Node', description: 'Node of an inventory' },
);

/** A node in answers: with its ids, its tags in lower case, and without its secrets. */
export const showNode = ({ inventory_id, name, attributes, tags, created }: NodeDoc) => ({
  _id: derivedId(`node ${inventory_id} ${name}`),
  inventory_id,
  name,
  attributes: maskSecrets(attributes),
  tags: [...new Set(tags.map((tag) => tag.toLowerCase()))],
  created,
});
export const nodeAnswer: Join<NodeDoc> = async (doc) => showNode(doc);
