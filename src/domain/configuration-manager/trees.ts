import type { Members } from '@automation-platform/json';
import { mark } from '@automation-platform/json';
import { type Static, type TObject, Type } from 'typebox';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { type Imported, importedIn } from '../engine/importedDocuments.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed, type Seal, sealSecrets } from '../engine/secretFields.ts';
import { anyMembers, nothing, restored, text, textOrNull, texts, topicsOf, typed } from '../engine/topics.ts';
import type { newNodeSchema, newTreeSchema, newVersionSchema, Tree, TreeNode, TreeVersion } from './treeSchemas.ts';

const node = Type.Object({ name: text, configId: text });

const content = {
  name: text,
  deviceType: textOrNull,
  versions: Type.Array(Type.Object({ name: text, root: typed<TreeNode>()(node), variables: anyMembers })),
};
export type TreeContent = SchemaData<TObject<typeof content>>;

const topics = topicsOf({
  treeCreated: [
    'A golden configuration tree was created',
    Type.Object({ name: text, deviceType: textOrNull, root: node }),
  ],
  /** Starts with the present nodes and variables of `base`. */
  treeVersionAdded: ['A tree got a version that begins as a copy of another', Type.Object({ name: text, base: text })],
  /** Adds the node as the last child of `parent`. */
  treeNodeAdded: [
    'A version of a tree got a node',
    Type.Object({ version: text, parent: text, name: text, configId: text }),
  ],
  treeVariablesSet: ['Variables of a version were set', Type.Object({ version: text, variables: anyMembers })],
  treeVariablesDeleted: ['Variables of a version were deleted', Type.Object({ version: text, names: texts })],
  treeRestored: [
    'A tree got the content of an imported document',
    Type.Object({ ...content, imported: restored.imported }),
  ],
  treeDeleted: ['A tree was deleted', nothing],
});
export type TreeEvent = EventOf<typeof topics>;

export type TreeState = TreeContent & {
  readonly exists: boolean;
  /** The last import; undefined if there was none. */
  readonly imported?: Imported<TreeContent>;
};

const first = 'initial';
export const maxDepth = 64;

/** A tree with all its versions. The tree's stream decides which versions are added. */
export const tree = aggregate<TreeState, TreeEvent>({
  area: 'configuration-manager',
  category: 'tree',
  topics,
  initial: { exists: false, name: '', deviceType: null, versions: [] },
  evolve: {
    treeCreated: (_, { name, deviceType, root }) => ({
      exists: true,
      name,
      deviceType,
      versions: [{ name: first, root: { ...root, children: [] }, variables: {} }],
    }),
    treeVersionAdded: (state, { name, base }) => ({
      ...state,
      versions: [...state.versions, { ...versionOf(state, base), name }],
    }),
    treeNodeAdded: (state, { version, parent, name, configId }) =>
      changed(state, version, (one) => ({
        ...one,
        root: withChild(one.root, parent, { name, configId, children: [] }),
      })),
    treeVariablesSet: (state, { version, variables }) =>
      changed(state, version, (one) => ({ ...one, variables: merged(one.variables, variables) })),
    treeVariablesDeleted: (state, { version, names }) =>
      changed(state, version, (one) => ({
        ...one,
        variables: withoutMembers(one.variables, (name) => names.includes(name)),
      })),
    treeRestored: (_, { name, deviceType, versions, imported }) => {
      const content = { name, deviceType, versions };
      return { exists: true, ...content, ...importedIn(defined({ imported }), content) };
    },
    treeDeleted: ({ name, deviceType }) => ({ exists: false, name, deviceType, versions: [] }),
  },
  exists: (state) => state.exists,
  names: ({ exists, name }) => (exists ? [{ kind: 'tree', name }] : []),
});

const changed = (state: TreeState, version: string, change: (version: TreeVersion) => TreeVersion): TreeState => ({
  ...state,
  versions: state.versions.map((one) => (one.name === version ? change(one) : one)),
});

/** The variables of an imported document may have marks. */
const merged = (before: Members, variables: Members): Members =>
  Object.hasOwn(before, mark) ? withMembers(before, variables) : { ...before, ...variables };

const withChild = (node: TreeNode, parent: string, child: TreeNode): TreeNode =>
  node.configId === parent
    ? { ...node, children: [...node.children, child] }
    : { ...node, children: node.children.map((below) => withChild(below, parent, child)) };

/** The node with the id, and its depth (root: 1); undefined if there is none. */
export const findNode = (
  node: TreeNode,
  configId: string,
  depth = 1,
): { readonly node: TreeNode; readonly depth: number } | undefined => {
  if (node.configId === configId) return { node, depth };
  for (const child of node.children) {
    const found = findNode(child, configId, depth + 1);
    if (found) return found;
  }
  return undefined;
};

const versionOf = ({ versions }: TreeState, name: string, path = 'version'): TreeVersion => {
  const found = versions.find((version) => version.name === name);
  if (!found) throw new RequestError('not_found', `The tree has no version ${JSON.stringify(name)}`, { path });
  return found;
};

export const create = (
  _: TreeState,
  { name, deviceType = null }: Static<typeof newTreeSchema>,
  { newId }: Context,
): readonly TreeEvent[] => [
  { topic: 'treeCreated', data: { name, deviceType, root: { name: 'base', configId: newId('root') } } },
];

export const addVersion = (
  state: TreeState,
  { name, base = first }: Static<typeof newVersionSchema>,
): readonly TreeEvent[] => {
  versionOf(state, base, '/base');
  if (state.versions.some((version) => version.name === name))
    throw new RequestError('conflict', `The tree has a version ${JSON.stringify(name)}`, { path: '/name' });
  return [{ topic: 'treeVersionAdded', data: { name, base } }];
};

type NewNode = Static<typeof newNodeSchema> & { readonly version: string };

export const addNode = (
  state: TreeState,
  { version, name, parent }: NewNode,
  { newId }: Context,
): readonly TreeEvent[] => {
  const { root } = versionOf(state, version);
  const above = findNode(root, parent ?? root.configId);
  if (!above) throw new RequestError('not_found', 'No node of this version has this configId', { path: '/parent' });
  if (above.node.children.some((child) => child.name === name))
    throw new RequestError('conflict', `A sibling is named ${JSON.stringify(name)}`, { path: '/name' });
  if (above.depth === maxDepth)
    throw new RequestError('unprocessable', `Nodes may lie ${maxDepth} levels deep`, { path: '/parent' });
  return [{ topic: 'treeNodeAdded', data: { version, parent: above.node.configId, name, configId: newId('node') } }];
};

type Variables = { readonly version: string; readonly variables: Readonly<Record<string, unknown>> };

/** The variables with sealed secrets. */
export const sealVariables = ({ version, variables }: Variables, { versions }: TreeState, seal: Seal): Variables => ({
  version,
  variables: sealSecrets(
    variables,
    versions.find(({ name }) => name === version)?.variables,
    seal,
    '/variables',
  ) as Variables['variables'],
});

/** Merges the variables into those of the version. */
export const setVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  const news = Object.entries(variables).filter(
    ([name, value]) => !Object.hasOwn(before, name) || !same(before[name], value),
  );
  return news.length > 0 ? [{ topic: 'treeVariablesSet', data: { version, variables: Object.fromEntries(news) } }] : [];
};

/**
 * Decides `deleteVariables`. The keys of `variables` are the names to delete. If one of them does not exist, nothing is
 * deleted.
 */
export const deleteVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  const names = Object.keys(variables);
  const missing = names.filter((name) => !Object.hasOwn(before, name));
  if (missing.length > 0)
    throw new RequestError('not_found', `No such variables: ${missing.join(', ')}`, {
      faults: missing.map((name) => ({
        message: `There is no variable ${JSON.stringify(name)}`,
        path: '/variables',
        name,
      })),
    });
  return names.length > 0 ? [{ topic: 'treeVariablesDeleted', data: { version, names } }] : [];
};

/** The tree for answers: secrets among the variables are masked, even those that an earlier version stored in clear. */
export const maskTree = (tree: Tree): Tree => ({
  ...tree,
  versions: tree.versions.map((version) => ({ ...version, variables: maskNamed(version.variables) })),
});

export const remove = (
  _: TreeState,
  __: unknown,
  { refs }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly TreeEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'treeDeleted', data: {} }];
};
