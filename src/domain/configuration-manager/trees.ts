import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed, type Seal, sealImported, sealSecrets } from '../engine/secretFields.ts';
import {
  type newNodeSchema,
  type newTreeSchema,
  type newVersionSchema,
  nodeDocumentSchema,
  type Tree,
  type TreeDocument,
  type TreeNode,
  type TreeVersion,
} from './treeSchemas.ts';

export type TreeEvent =
  | Event<
      'treeCreated',
      {
        readonly name: string;
        readonly deviceType: string | null;
        readonly root: { readonly name: string; readonly configId: string };
      }
    >
  /** Starts with the present nodes and variables of `base`. */
  | Event<'treeVersionAdded', { readonly name: string; readonly base: string }>
  /** Adds the node as the last child of `parent`. */
  | Event<
      'treeNodeAdded',
      { readonly version: string; readonly parent: string; readonly name: string; readonly configId: string }
    >
  | Event<'treeVariablesSet', { readonly version: string; readonly variables: Readonly<Record<string, unknown>> }>
  | Event<'treeVariablesDeleted', { readonly version: string; readonly names: readonly string[] }>
  /** Set to the content of an imported document. */
  | Event<'treeRestored', TreeContent>
  | Event<'treeDeleted', Record<string, never>>;

type TreeContent = {
  readonly name: string;
  readonly deviceType: string | null;
  readonly versions: readonly TreeVersion[];
};
export type TreeState = { readonly exists: boolean } & TreeContent;

const first = 'initial';
const maxDepth = 64;

/** A tree with all its versions. The tree's stream decides which versions are added. */
export const tree = aggregate<TreeState, TreeEvent>({
  area: 'configuration-manager',
  category: 'tree',
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
      changed(state, version, (one) => ({ ...one, variables: { ...one.variables, ...variables } })),
    treeVariablesDeleted: (state, { version, names }) =>
      changed(state, version, (one) => ({
        ...one,
        variables: Object.fromEntries(Object.entries(one.variables).filter(([name]) => !names.includes(name))),
      })),
    treeRestored: (_, content) => ({ exists: true, ...content }),
    treeDeleted: (state) => ({ ...state, exists: false, versions: [] }),
  },
  exists: (state) => state.exists,
  names: ({ exists, name }) => (exists ? [{ kind: 'tree', name }] : []),
});

const changed = (state: TreeState, version: string, change: (version: TreeVersion) => TreeVersion): TreeState => ({
  ...state,
  versions: state.versions.map((one) => (one.name === version ? change(one) : one)),
});

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

const nodeDocument = Compile(nodeDocumentSchema);

/**
 * Throws `invalid` with the path for a malformed node, for two siblings with one name and for two nodes with one id.
 * The same for nodes that lie too deep.
 */
const checkNodes = (root: TreeNode, path: string): void => {
  const ids = new Set<string>();
  const check = (node: TreeNode, path: string, depth: number): void => {
    const [fault] = nodeDocument.Check(node) ? [] : nodeDocument.Errors(node);
    if (fault)
      throw new RequestError('invalid', `This is no node: ${fault.message}`, { path: path + fault.instancePath });
    if (depth > maxDepth) throw new RequestError('invalid', `Nodes may lie ${maxDepth} levels deep`, { path });
    if (ids.size === ids.add(node.configId).size)
      throw new RequestError('invalid', 'Another node has this configId', { path: `${path}/configId` });
    for (const [i, child] of node.children.entries()) check(child, `${path}/children/${i}`, depth + 1);
    distinct(node.children, `${path}/children`);
  };
  check(root, path, 1);
};

const distinct = (named: readonly { readonly name: string }[], path: string): void => {
  const names = new Set<string>();
  named.forEach(({ name }, i) => {
    if (names.size === names.add(name).size)
      throw new RequestError('invalid', `Another one here has the name ${JSON.stringify(name)}`, {
        path: `${path}/${i}/name`,
      });
  });
};

/** The tree for answers: secrets among the variables are masked, even those that an earlier version stored in clear. */
export const maskTree = <T extends Tree | TreeDocument>(tree: T): T => ({
  ...tree,
  versions: tree.versions.map((version) =>
    version.variables ? { ...version, variables: maskNamed(version.variables) } : version,
  ),
});

/** An imported tree with sealed secrets. The mask keeps the secrets of `befores`. */
export const sealTree = (
  tree: TreeDocument,
  befores: readonly { readonly versions: readonly (Pick<TreeVersion, 'name'> & Partial<TreeVersion>)[] }[],
  seal: Seal,
): TreeDocument => ({
  ...tree,
  versions: tree.versions.map((version, i) => {
    if (!version.variables) return version;
    const stored = befores.map(({ versions }) => versions.find(({ name }) => name === version.name)?.variables);
    return {
      ...version,
      variables: sealImported(version.variables, stored, seal, `/versions/${i}/variables`) as TreeVersion['variables'],
    };
  }),
});

/** A reference to one node of the tree. */
export type NodeReferrer = Referrer & { readonly version: string; readonly nodeId: string };

/**
 * Imports a whole tree with its ids, into its own stream or that of the tree with the same name. Nodes that plans refer
 * to must stay.
 */
export const importOne = (
  { exists, ...content }: TreeState,
  {
    tree: { _id, name, deviceType = null, versions },
    overwrite = false,
  }: { readonly tree: TreeDocument; readonly overwrite?: boolean },
  { id, refs }: Context<{ readonly nodeReferrers: readonly NodeReferrer[] }>,
): readonly TreeEvent[] => {
  distinct(versions, '/versions');
  for (const [i, { root }] of versions.entries()) checkNodes(root, `/versions/${i}/root`);
  const wanted = {
    name,
    deviceType,
    versions: versions.map(({ name, root, variables = {} }) => ({ name, root, variables })),
  };
  const own = (_id ?? id) === id;
  if (exists && (own || overwrite) && same(wanted, content)) return [];
  if (exists && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'A tree with this id exists with other content' : 'Another tree has this name',
      { path: own ? '/_id' : '/name' },
    );
  const kept = ({ version, nodeId }: NodeReferrer) =>
    wanted.versions.some((one) => one.name === version && findNode(one.root, nodeId));
  if (exists)
    refuseReferred(
      refs.nodeReferrers.filter((one) => !kept(one)),
      'replaced by one that lacks nodes',
    );
  return [{ topic: 'treeRestored', data: wanted }];
};

export const remove = (
  _: TreeState,
  __: unknown,
  { refs }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly TreeEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'treeDeleted', data: {} }];
};
