import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { groupRefs, namesOf } from '../authorization/groups.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { empty, entriesIn, get, type Layers, withAll, withoutAll } from '../engine/layeredMap.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import type { Seal } from '../engine/secretFields.ts';
import { anyMembers, flag, nothing, text, texts, topicsOf, whole } from '../engine/topics.ts';
import {
  type InventorySource,
  type NewSource,
  refuseSource,
  sealedSource,
  sourceInEvents,
} from './inventorySources.ts';
import { checkAttributes } from './nodeDevices.ts';

/** How many nodes one request may add. To read and store them delays other requests. */
const mostNodes = 10_000;

const members = {
  name: name('Name, unique among inventories'),
  description: Type.String({ description: 'Its purpose', maxLength: 10_000 }),
};

const tags = Type.Array(name('A tag'), { description: 'Words to find it by, in lower case', maxItems: 100 });

export const newNodeSchema = Type.Object(
  {
    name: name('Name, unique within the inventory'),
    attributes: Type.Optional(
      Type.Record(Type.String(), Type.Any(), {
        description: 'Further facts about it, stored as sent; secrets among it are sealed',
      }),
    ),
    tags: Type.Optional(tags),
  },
  { additionalProperties: false, title: 'NewNode', description: 'New node of an inventory' },
);
const compiledNode = Compile(newNodeSchema);
export const isNewNode = (value: unknown): boolean => compiledNode.Check(value);

const changeable = {
  description: Type.Optional(members.description),
  groups: Type.Optional(groupRefs('Groups whose members see it and its nodes; everybody if there are none')),
  tags: Type.Optional(tags),
  backups: Type.Optional(
    Type.Boolean({ description: 'Configurations of its devices are kept before and after a change' }),
  ),
};

/** An inventory without its nodes. */
const aboutSchema = Type.Object({ name: members.name, ...changeable }, { additionalProperties: false });

/** The body of `createInventory`. */
export const newInventorySchema = Type.Object(
  {
    ...aboutSchema.properties,
    devices: Type.Optional(Type.Array(newNodeSchema, { description: 'Its first nodes', maxItems: mostNodes })),
  },
  { additionalProperties: false, title: 'NewInventory', description: 'New inventory' },
);

/** The body of `updateInventory`. */
export const inventoryChangesSchema = Type.Object(
  { name: Type.Optional(members.name), ...changeable },
  { additionalProperties: false, title: 'InventoryChanges', description: 'Changes of an inventory' },
);

/** The body of `updateNode`. */
export const nodeChangesSchema = Type.Object(
  { attributes: newNodeSchema.properties.attributes, tags: newNodeSchema.properties.tags },
  { additionalProperties: false, title: 'NodeChanges', description: 'Changes of a node' },
);

export const newNodesSchema = Type.Object(
  {
    nodes: Type.Array(newNodeSchema, { description: 'Nodes to add, all or none', maxItems: mostNodes }),
    overwrite: Type.Optional(Type.Boolean({ description: 'Nodes that are there with other content are replaced' })),
  },
  { additionalProperties: false },
);

/** The body of `replaceNodes`, without the inventory. */
export const allNodesSchema = Type.Object(
  {
    nodes: Type.Array(newNodeSchema, { description: 'All nodes that it shall have', maxItems: mostNodes }),
    dryRun: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** An inventory as it was, with all its nodes. */
export const formerInventorySchema = Type.Object(
  { ...aboutSchema.properties, nodes: Type.Array(newNodeSchema) },
  { additionalProperties: false },
);

export type NewNode = Static<typeof newNodeSchema>;
/** Secrets in the attributes are sealed. */
const node = Type.Object({ name: text, attributes: anyMembers, tags: texts });
export type Node = SchemaData<typeof node>;

const content = Type.Object({
  name: text,
  description: text,
  groups: texts,
  tags: Type.Optional(texts),
  backups: Type.Optional(flag),
});
export type InventoryContent = SchemaData<typeof content>;

const topics = topicsOf({
  inventoryCreated: ['An inventory was created', content],
  /** Nodes that were not there before. */
  nodesAdded: ['Nodes were added to an inventory', Type.Object({ nodes: Type.Array(node) })],
  /** Whole nodes: what they were before does not matter. */
  nodesChanged: ['Nodes of an inventory got other content', Type.Object({ nodes: Type.Array(node) })],
  nodesRemoved: ['Nodes of an inventory were removed', Type.Object({ names: texts })],
  inventoryUpdated: ['Members of an inventory changed', Type.Partial(content)],
  nodesCleared: ['All nodes of an inventory were removed', Type.Object({ count: whole })],
  inventorySourceSet: ['An inventory got a source of its nodes', sourceInEvents],
  inventoryDeleted: ['An inventory was deleted', nothing],
});
export type InventoryEvent = EventOf<typeof topics>;

/** `content` survives a delete: it says who may see the past. */
export type InventoryState = {
  readonly exists: boolean;
  readonly content: InventoryContent;
  readonly nodes: Layers<Node>;
  readonly source?: InventorySource | undefined;
};

const withNodes = (state: InventoryState, nodes: readonly Node[]): InventoryState => ({
  ...state,
  nodes: withAll(
    state.nodes,
    nodes.map((node) => [node.name, node]),
  ),
});

/**
 * An inventory with all its nodes. The inventory's stream decides which nodes are added, counts them and removes all at
 * once.
 */
export const inventory = aggregate<InventoryState, InventoryEvent>({
  area: 'inventory-manager',
  category: 'inventory',
  topics,
  initial: { exists: false, content: { name: '', description: '', groups: [] }, nodes: empty },
  evolve: {
    inventoryCreated: (_, content) => ({ exists: true, content, nodes: empty }),
    inventoryUpdated: (state, changes) => ({ ...state, content: { ...state.content, ...changes } }),
    nodesAdded: (state, { nodes }) => withNodes(state, nodes),
    nodesChanged: (state, { nodes }) => withNodes(state, nodes),
    nodesRemoved: (state, { names }) => ({ ...state, nodes: withoutAll(state.nodes, names) }),
    nodesCleared: (state) => ({ ...state, nodes: empty }),
    inventorySourceSet: (state, source) => ({ ...state, source }),
    inventoryDeleted: ({ source: _, ...state }) => ({ ...state, exists: false, nodes: empty }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'inventory', name: content.name }] : []),
  gbac: ({ content: { groups } }) => ({ read: groups, write: groups }),
});

/** `attributes`: those of each node of the request, with sealed secrets. */
export type InventoryRefs = {
  readonly unknownGroups: readonly string[];
  readonly attributes: readonly Node['attributes'][];
};

type About = Static<typeof aboutSchema>;

const lower = (tags: readonly string[]): readonly string[] => [...new Set(tags.map((tag) => tag.toLowerCase()))];

const contentOf = ({ name, description = '', groups = [], tags, backups }: About): InventoryContent => ({
  name,
  description,
  groups: namesOf(groups),
  ...(tags && tags.length > 0 && { tags: lower(tags) }),
  ...defined({ backups }),
});

export const create = (
  _: InventoryState,
  { devices = [], ...about }: Static<typeof newInventorySchema>,
  { refs: { unknownGroups, attributes } }: Context<InventoryRefs>,
): readonly InventoryEvent[] => {
  refuseUnknownGroups(unknownGroups, '/groups');
  const nodes = nodesOf(devices, attributes, '/devices');
  return [{ topic: 'inventoryCreated', data: contentOf(about) }, ...each('nodesAdded', nodes)];
};

/** Changes the members that are given. */
export const update = (
  { content }: InventoryState,
  { groups, tags, ...changes }: Static<typeof inventoryChangesSchema>,
  { refs: { unknownGroups } }: Context<Pick<InventoryRefs, 'unknownGroups'>>,
): readonly InventoryEvent[] => {
  refuseUnknownGroups(unknownGroups, '/groups');
  const target: InventoryContent = {
    ...content,
    ...changes,
    ...defined({ groups: groups && namesOf(groups), tags: tags && lower(tags) }),
  };
  const { changed } = changesBetween<InventoryContent>({ tags: [], ...content }, { tags: [], ...target }) ?? {};
  return changed ? [{ topic: 'inventoryUpdated', data: changed }] : [];
};

/** The nodes of a request, with their sealed attributes, which are in the same order. Throws for a name given twice. */
const nodesOf = (
  nodes: readonly NewNode[],
  attributes: readonly Node['attributes'][],
  path = '/nodes',
): readonly Node[] => {
  const target = nodes.map(
    ({ name, tags = [] }, i): Node => ({ name, attributes: attributes[i] ?? {}, tags: lower(tags) }),
  );
  const earlier = new Set<string>();
  const isTwice = ({ name }: Node): boolean => earlier.size === earlier.add(name).size;
  refuse({ code: 'invalid', what: 'is in the request more than once', path }, target, isTwice);
  target.forEach((node, i) => {
    checkAttributes(node.attributes, `${path}/${i}/attributes`);
  });
  return target;
};

/** Tags of earlier versions may have capitals. */
const isSame = (there: Node | undefined, node: Node): boolean =>
  there !== undefined && same({ ...there, tags: lower(there.tags) }, node);

/**
 * Adds the nodes that are not there yet. An existing node with the same content is left out. If nodes exist with other
 * content, these are replaced with `overwrite`; else throws `conflict` with all of them, and adds nothing. `refs` are the
 * attributes with sealed secrets.
 */
export const addNodes = (
  state: InventoryState,
  { nodes, overwrite = false }: { readonly nodes: readonly NewNode[]; readonly overwrite?: boolean },
  { refs }: Context<readonly Node['attributes'][]>,
): readonly InventoryEvent[] => {
  const target = nodesOf(nodes, refs);
  const isOther = (node: Node): boolean => {
    const there = get(state.nodes, node.name);
    return there !== undefined && !isSame(there, node);
  };
  if (!overwrite) refuse({ code: 'conflict', what: 'is in the inventory with other content' }, target, isOther);
  return [
    ...each('nodesChanged', target.filter(isOther)),
    ...each(
      'nodesAdded',
      target.filter(({ name }) => get(state.nodes, name) === undefined),
    ),
  ];
};

/** The differences between the nodes of an inventory and those that it shall have. */
const differencesOf = (state: InventoryState, target: readonly Node[]) => {
  const names = new Set(target.map(({ name }) => name));
  const there = entriesIn(state.nodes);
  return {
    added: target.filter(({ name }) => !there.has(name)),
    changed: target.filter((node) => there.has(node.name) && !isSame(there.get(node.name), node)),
    removed: [...there.keys()].filter((name) => !names.has(name)),
  };
};

/** The names of these differences. */
export const differenceNames = (
  state: InventoryState,
  nodes: readonly NewNode[],
  attributes: readonly Node['attributes'][],
) => {
  const { added, changed, removed } = differencesOf(state, nodesOf(nodes, attributes));
  return { added: added.map(({ name }) => name), changed: changed.map(({ name }) => name), removed };
};

/** Gives the inventory exactly these nodes, by their differences. A dry run checks the nodes alone. */
export const replaceNodes = (
  state: InventoryState,
  { nodes, dryRun = false }: { readonly nodes: readonly NewNode[]; readonly dryRun?: boolean },
  { refs }: Context<readonly Node['attributes'][]>,
): readonly InventoryEvent[] => {
  const target = nodesOf(nodes, refs);
  return dryRun ? [] : replaced(state, target);
};

const replaced = (state: InventoryState, target: readonly Node[]): readonly InventoryEvent[] =>
  differenceEvents(differencesOf(state, target), mostNodes);

const differenceEvents = (
  { added, changed, removed }: ReturnType<typeof differencesOf>,
  most: number,
): readonly InventoryEvent[] => [
  ...parts(removed, most).map((names) => ({ topic: 'nodesRemoved', data: { names } }) as const),
  ...each('nodesChanged', changed, most),
  ...each('nodesAdded', added, most),
];

const perSyncEvent = 1000;

type OfSource = { readonly nodes: readonly NewNode[]; readonly mostRemoved: number };

/**
 * The differences between an inventory and its source. Throws `conflict` if the source has no nodes, or would remove more than
 * `mostRemoved` percent of those that are there.
 */
export const syncDifferences = (
  state: InventoryState,
  { nodes, mostRemoved }: OfSource,
  attributes: readonly Node['attributes'][],
) => {
  if (nodes.length === 0) throw new RequestError('conflict', 'The source has no nodes, so nothing changes');
  const differences = differencesOf(state, nodesOf(nodes, attributes));
  const { length: removed } = differences.removed;
  if (removed * 100 > mostRemoved * state.nodes.size)
    throw new RequestError(
      'conflict',
      `The source would remove ${removed} of ${state.nodes.size} nodes, more than ${mostRemoved} %, so nothing changes`,
    );
  return differences;
};

/** Gives the inventory the nodes of its source alone, or nothing at all. */
export const syncNodes = (
  state: InventoryState,
  input: OfSource,
  { refs }: Context<readonly Node['attributes'][]>,
): readonly InventoryEvent[] => differenceEvents(syncDifferences(state, input, refs), perSyncEvent);

/** Gives an inventory a source. The same again is no change. */
export const setSource = (
  state: InventoryState,
  input: NewSource,
  { refs: { seal } }: Context<{ readonly seal: Seal }>,
): readonly InventoryEvent[] => {
  refuseSource(input, '');
  const source = sealedSource(input, state.source, seal, '');
  return same(state.source, source) ? [] : [{ topic: 'inventorySourceSet', data: source }];
};

const noSuchNode = (name: string): RequestError =>
  new RequestError('not_found', `No such node ${JSON.stringify(name)}`, { path: 'node' });

/** Gives one node other attributes or tags: those that are given, as a whole. */
export const updateNode = (
  state: InventoryState,
  { name, tags }: { readonly name: string; readonly tags?: readonly string[] },
  { refs: attributes }: Context<Node['attributes'] | undefined>,
): readonly InventoryEvent[] => {
  const there = get(state.nodes, name);
  if (!there) throw noSuchNode(name);
  if (attributes) checkAttributes(attributes, '/attributes');
  const node = { name, attributes: attributes ?? there.attributes, tags: lower(tags ?? there.tags) };
  return isSame(there, node) ? [] : each('nodesChanged', [node]);
};

export const removeNode = (state: InventoryState, { name }: { readonly name: string }): readonly InventoryEvent[] => {
  if (!get(state.nodes, name)) throw noSuchNode(name);
  return [{ topic: 'nodesRemoved', data: { names: [name] } }];
};

/**
 * Gives the inventory the nodes that it had, and creates it if it was deleted. Nodes that stayed the same keep their
 * time.
 */
export const restore = (
  state: InventoryState,
  { nodes, ...about }: Static<typeof formerInventorySchema>,
  context: Context<InventoryRefs>,
): readonly InventoryEvent[] => {
  const { attributes, unknownGroups } = context.refs;
  const target = [
    ...new Map(
      nodes.map(({ name, tags = [] }, i): [string, Node] => [
        name,
        { name, attributes: attributes[i] ?? {}, tags: lower(tags) },
      ]),
    ).values(),
  ];
  refuseUnknownGroups(unknownGroups, '/groups');
  if (!state.exists) return [{ topic: 'inventoryCreated', data: contentOf(about) }, ...each('nodesAdded', target)];
  return [...update(state, about, context), ...replaced(state, target)];
};

/** No event holds more nodes than one request may add. */
const each = (
  topic: 'nodesAdded' | 'nodesChanged',
  nodes: readonly Node[],
  most = mostNodes,
): readonly InventoryEvent[] => parts(nodes, most).map((some) => ({ topic, data: { nodes: some } }));

const parts = <T>(all: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

const mostFaults = 20;

type Fault = { readonly code: 'invalid' | 'conflict'; readonly what: string; readonly path?: string };

const refuse = (
  { code, what, path = '/nodes' }: Fault,
  nodes: readonly Node[],
  isWrong: (node: Node) => boolean,
): void => {
  const faults = nodes.flatMap((node, i) =>
    isWrong(node)
      ? [{ message: `A node named ${JSON.stringify(node.name)} ${what}`, path: `${path}/${i}/name`, name: node.name }]
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
