import { type Static, Type } from 'typebox';
import { groupRefs, namesOf } from '../authorization/groups.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { empty, entriesIn, get, type Layers, withAll } from '../engine/layeredMap.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { anyMembers, nothing, text, texts, topicsOf, whole } from '../engine/topics.ts';

/** How many nodes one request may add. To read and store them delays other requests. */
const mostNodes = 10_000;

const members = {
  name: name('Name, unique among inventories'),
  description: Type.String({ description: 'What it is for', maxLength: 10_000 }),
};

/** The body of `createInventory`. */
export const newInventorySchema = Type.Object(
  {
    name: members.name,
    description: Type.Optional(members.description),
    groups: Type.Optional(groupRefs('Groups that it is meant for')),
  },
  { additionalProperties: false, title: 'NewInventory', description: 'New inventory' },
);

export const newNodeSchema = Type.Object(
  {
    name: name('Name, unique within the inventory'),
    attributes: Type.Optional(
      Type.Record(Type.String(), Type.Any(), {
        description: 'What is known about it, kept as given; secrets among it are sealed',
      }),
    ),
    tags: Type.Optional(Type.Array(name('A tag'), { description: 'Words to find it by', maxItems: 100 })),
  },
  { additionalProperties: false, title: 'NewNode', description: 'New node of an inventory' },
);

export const newNodesSchema = Type.Object(
  { nodes: Type.Array(newNodeSchema, { description: 'Nodes to add, all or none', maxItems: mostNodes }) },
  { additionalProperties: false },
);

/** An inventory as it was, with all its nodes. */
export const formerInventorySchema = Type.Object(
  { ...newInventorySchema.properties, nodes: Type.Array(newNodeSchema) },
  { additionalProperties: false },
);

export type NewNode = Static<typeof newNodeSchema>;
/** Secrets in the attributes are sealed. */
const node = Type.Object({ name: text, attributes: anyMembers, tags: texts });
export type Node = SchemaData<typeof node>;

const content = Type.Object({ name: text, description: text, groups: texts });
export type InventoryContent = SchemaData<typeof content>;

const topics = topicsOf({
  inventoryCreated: ['An inventory was created', content],
  /** Nodes that were not there before. */
  nodesAdded: ['Nodes were added to an inventory', Type.Object({ nodes: Type.Array(node) })],
  nodesCleared: ['All nodes of an inventory were removed', Type.Object({ count: whole })],
  inventoryDeleted: ['An inventory was deleted', nothing],
});
export type InventoryEvent = EventOf<typeof topics>;

export type InventoryState = { readonly exists: boolean; readonly name: string; readonly nodes: Layers<Node> };

/**
 * An inventory with all its nodes. The inventory's stream decides which nodes are added, counts them and removes all at
 * once.
 */
export const inventory = aggregate<InventoryState, InventoryEvent>({
  area: 'inventory-manager',
  category: 'inventory',
  topics,
  initial: { exists: false, name: '', nodes: empty },
  evolve: {
    inventoryCreated: (_, content) => ({ exists: true, name: content.name, nodes: empty }),
    nodesAdded: (state, { nodes }) => ({
      ...state,
      nodes: withAll(
        state.nodes,
        nodes.map((node) => [node.name, node]),
      ),
    }),
    nodesCleared: (state) => ({ ...state, nodes: empty }),
    inventoryDeleted: (state) => ({ ...state, exists: false, nodes: empty }),
  },
  exists: (state) => state.exists,
  names: (state) => (state.exists ? [{ kind: 'inventory', name: state.name }] : []),
});

export type InventoryRefs = { readonly unknownGroups: readonly string[] };

export const create = (
  _: InventoryState,
  { name, description = '', groups = [] }: Static<typeof newInventorySchema>,
  { refs }: Context<InventoryRefs>,
): readonly InventoryEvent[] => {
  refuseUnknownGroups(refs.unknownGroups, '/groups');
  return [{ topic: 'inventoryCreated', data: { name, description, groups: namesOf(groups) } }];
};

/**
 * Adds the nodes that are not there yet. An existing node with the same content is left out. If nodes exist with other
 * content, throws `conflict` with all of them and adds nothing. `refs` are the attributes with sealed secrets.
 */
export const addNodes = (
  state: InventoryState,
  { nodes }: { readonly nodes: readonly NewNode[] },
  { refs }: Context<readonly Node['attributes'][]>,
): readonly InventoryEvent[] => {
  // `refs` has the attributes of each node, in the same order.
  const wanted = nodes.map(
    ({ name, tags = [] }, i): Node => ({ name, attributes: refs[i]!, tags: [...new Set(tags)] }),
  );
  const seen = new Set<string>();
  refuse('invalid', 'is in the request more than once', wanted, ({ name }) => seen.size === seen.add(name).size);
  refuse('conflict', 'is in the inventory with other content', wanted, (node) => {
    const there = get(state.nodes, node.name);
    return there !== undefined && !same(there, node);
  });
  return added(wanted.filter(({ name }) => get(state.nodes, name) === undefined));
};

/**
 * Gives the inventory the nodes that it had, and creates it if it was deleted. Nodes that stayed the same keep their
 * time, unless others have to go: nodes go all at once.
 */
export const restore = (
  state: InventoryState,
  { nodes, ...about }: Static<typeof formerInventorySchema>,
  context: Context<InventoryRefs & { readonly attributes: readonly Node['attributes'][] }>,
): readonly InventoryEvent[] => {
  const wanted = new Map(
    nodes.map(({ name, tags = [] }, i): [string, Node] => [
      name,
      { name, attributes: context.refs.attributes[i] ?? {}, tags: [...new Set(tags)] },
    ]),
  );
  if (!state.exists) return [...create(state, about, context), ...added([...wanted.values()])];
  const stays = [...entriesIn(state.nodes)].every(([name, node]) => same(node, wanted.get(name)));
  if (stays) return added([...wanted.values()].filter(({ name }) => get(state.nodes, name) === undefined));
  return [...clear(state), ...added([...wanted.values()])];
};

/** No event holds more nodes than one request may add. */
const added = (nodes: readonly Node[]): readonly InventoryEvent[] => {
  const events: InventoryEvent[] = [];
  for (let i = 0; i < nodes.length; i += mostNodes)
    events.push({ topic: 'nodesAdded', data: { nodes: nodes.slice(i, i + mostNodes) } });
  return events;
};

const mostFaults = 20;

const refuse = (
  code: 'invalid' | 'conflict',
  what: string,
  nodes: readonly Node[],
  isWrong: (node: Node) => boolean,
): void => {
  const faults = nodes.flatMap((node, i) =>
    isWrong(node)
      ? [{ message: `A node named ${JSON.stringify(node.name)} ${what}`, path: `/nodes/${i}/name`, name: node.name }]
      : [],
  );
  const named = faults.slice(0, mostFaults);
  const [first, ...others] = named;
  if (!first) return;
  const names = named.map(({ name }) => name).join(', ');
  const all = `${faults.length} nodes (${names}${faults.length > mostFaults ? ', ...' : ''}): each ${what}`;
  throw new RequestError(code, others.length === 0 ? first.message : all, { faults: named });
};

/** Decides `clearNodes`: one event, however many nodes there are. */
export const clear = ({ nodes }: InventoryState): readonly InventoryEvent[] =>
  nodes.size > 0 ? [{ topic: 'nodesCleared', data: { count: nodes.size } }] : [];

/** The nodes are deleted with the inventory. */
export const remove = (): readonly InventoryEvent[] => [{ topic: 'inventoryDeleted', data: {} }];
