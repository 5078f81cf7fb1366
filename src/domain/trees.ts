import type { Static } from 'typebox';
import { same } from './changes.ts';
import { aggregate, type Context, type Event } from './core.ts';
import { type Referrer, refuseReferred } from './references.ts';
import { Refusal } from './refusal.ts';
import type { newNodeSchema, newTreeSchema, newVersionSchema, TreeNode, TreeVersion } from './treeSchemas.ts';

export type TreeEvent =
  | Event<'treeCreated', { readonly name: string; readonly deviceType: string | null; readonly root: { readonly name: string; readonly configId: string } }>
  /** Begins with the nodes and variables that `base` has at this moment. */
  | Event<'treeVersionAdded', { readonly name: string; readonly base: string }>
  /** Comes last among the children of the node `parent`. */
  | Event<'treeNodeAdded', { readonly version: string; readonly parent: string; readonly name: string; readonly configId: string }>
  | Event<'treeVariablesSet', { readonly version: string; readonly variables: Readonly<Record<string, unknown>> }>
  | Event<'treeVariablesDeleted', { readonly version: string; readonly names: readonly string[] }>
  | Event<'treeDeleted', Record<string, never>>;

export type TreeState = { readonly exists: boolean; readonly name: string; readonly versions: readonly TreeVersion[] };

const first = 'initial';
const maxDepth = 64;

/** Versions are admitted here, in the stream of their tree. */
export const tree = aggregate<TreeState, TreeEvent>({
  area: 'configuration-manager',
  category: 'tree',
  initial: { exists: false, name: '', versions: [] },
  evolve: {
    treeCreated: (_, { name, root }) => ({ exists: true, name, versions: [{ name: first, root: { ...root, children: [] }, variables: {} }] }),
    treeVersionAdded: (state, { name, base }) => ({ ...state, versions: [...state.versions, { ...versionOf(state, base), name }] }),
    treeNodeAdded: (state, { version, parent, name, configId }) => changed(state, version, (one) => ({ ...one, root: withChild(one.root, parent, { name, configId, children: [] }) })),
    treeVariablesSet: (state, { version, variables }) => changed(state, version, (one) => ({ ...one, variables: { ...one.variables, ...variables } })),
    treeVariablesDeleted: (state, { version, names }) => changed(state, version, (one) =>
      ({ ...one, variables: Object.fromEntries(Object.entries(one.variables).filter(([name]) => !names.includes(name))) })),
    treeDeleted: (state) => ({ ...state, exists: false, versions: [] }),
  },
  exists: (state) => state.exists,
  names: ({ exists, name }) => (exists ? [{ kind: 'tree', name }] : []),
});

const changed = (state: TreeState, version: string, change: (version: TreeVersion) => TreeVersion): TreeState =>
  ({ ...state, versions: state.versions.map((one) => (one.name === version ? change(one) : one)) });

const withChild = (node: TreeNode, parent: string, child: TreeNode): TreeNode =>
  (node.configId === parent ? { ...node, children: [...node.children, child] } : { ...node, children: node.children.map((below) => withChild(below, parent, child)) });

/** The node with the id and how deep it lies (the root: 1), if the tree of nodes has it. */
export const findNode = (node: TreeNode, configId: string, depth = 1): { readonly node: TreeNode; readonly depth: number } | undefined => {
  if (node.configId === configId) return { node, depth };
  for (const child of node.children) {
    const found = findNode(child, configId, depth + 1);
    if (found) return found;
  }
  return undefined;
};

const versionOf = ({ versions }: TreeState, name: string, path = 'version'): TreeVersion => {
  const found = versions.find((version) => version.name === name);
  if (!found) throw new Refusal('not_found', `The tree has no version ${JSON.stringify(name)}`, { path });
  return found;
};

export const create = (_: TreeState, { name, deviceType = null }: Static<typeof newTreeSchema>, { newId }: Context): readonly TreeEvent[] =>
  [{ type: 'treeCreated', data: { name, deviceType, root: { name: 'base', configId: newId('root') } } }];

export const addVersion = (state: TreeState, { name, base = first }: Static<typeof newVersionSchema>): readonly TreeEvent[] => {
  versionOf(state, base, '/base');
  if (state.versions.some((version) => version.name === name)) throw new Refusal('conflict', `The tree has a version ${JSON.stringify(name)}`, { path: '/name' });
  return [{ type: 'treeVersionAdded', data: { name, base } }];
};

type NewNode = Static<typeof newNodeSchema> & { readonly version: string };

export const addNode = (state: TreeState, { version, name, parent }: NewNode, { newId }: Context): readonly TreeEvent[] => {
  const { root } = versionOf(state, version);
  const above = findNode(root, parent ?? root.configId);
  if (!above) throw new Refusal('not_found', 'No node of this version has this configId', { path: '/parent' });
  if (above.node.children.some((child) => child.name === name)) throw new Refusal('conflict', `A sibling is named ${JSON.stringify(name)}`, { path: '/name' });
  if (above.depth === maxDepth) throw new Refusal('unprocessable', `Nodes may lie ${maxDepth} levels deep`, { path: '/parent' });
  return [{ type: 'treeNodeAdded', data: { version, parent: above.node.configId, name, configId: newId('node') } }];
};

type Variables = { readonly version: string; readonly variables: Readonly<Record<string, unknown>> };

/** Merges. */
export const setVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  const news = Object.entries(variables).filter(([name, value]) => !Object.hasOwn(before, name) || !same(before[name], value));
  return news.length > 0 ? [{ type: 'treeVariablesSet', data: { version, variables: Object.fromEntries(news) } }] : [];
};

/** The keys say what goes; all must be there, else nothing goes (behaviour.md, operation 15). */
export const deleteVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  const names = Object.keys(variables);
  const missing = names.filter((name) => !Object.hasOwn(before, name));
  if (missing.length > 0)
    throw new Refusal('not_found', `No such variables: ${missing.join(', ')}`, { faults: missing.map((name) => ({ message: `There is no variable ${JSON.stringify(name)}`, path: '/variables', name })) });
  return names.length > 0 ? [{ type: 'treeVariablesDeleted', data: { version, names } }] : [];
};

export const remove = (_: TreeState, __: unknown, { refs }: Context<{ readonly referrers: readonly Referrer[] }>): readonly TreeEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ type: 'treeDeleted', data: {} }];
};
