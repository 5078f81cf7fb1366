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
  /** Begins with the nodes and variables that `base` has at this moment. */
  | Event<'treeVersionAdded', { readonly name: string; readonly base: string }>
  /** Comes last among the children of the node `parent`. */
  | Event<
      'treeNodeAdded',
      { readonly version: string; readonly parent: string; readonly name: string; readonly configId: string }
    >
  | Event<'treeVariablesSet', { readonly version: string; readonly variables: Readonly<Record<string, unknown>> }>
  | Event<'treeVariablesDeleted', { readonly version: string; readonly names: readonly string[] }>
  /** Brought to what a document says. */
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

/** Versions are admitted here, in the stream of their tree. */
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

/** The node with the id and how deep it lies (the root: 1), if the tree of nodes has it. */
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

/** Secrets among the variables sealed. */
export const sealVariables = ({ version, variables }: Variables, { versions }: TreeState, seal: Seal): Variables => ({
  version,
  variables: sealSecrets(
    variables,
    versions.find(({ name }) => name === version)?.variables,
    seal,
    '/variables',
  ) as Variables['variables'],
});

/** Merges. */
export const setVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  const news = Object.entries(variables).filter(
    ([name, value]) => !Object.hasOwn(before, name) || !same(before[name], value),
  );
  return news.length > 0 ? [{ topic: 'treeVariablesSet', data: { version, variables: Object.fromEntries(news) } }] : [];
};

/** `deleteVariables`: the keys name what is deleted. All of them must exist, else nothing is deleted. */
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
 * Refuses (`invalid`, with the path) nodes that are not as the schema says, two siblings of one name, two nodes of one
 * id, and what lies too deep.
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

/** The tree as answers show it: secrets among the variables masked, also those of before they were sealed. */
export const maskTree = <T extends Tree | TreeDocument>(tree: T): T => ({
  ...tree,
  versions: tree.versions.map((version) =>
    version.variables ? { ...version, variables: maskNamed(version.variables) } : version,
  ),
});

/** A whole tree that is taken in, its secrets sealed; `befores` have those that the mask keeps. */
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

/** A node of the tree that somebody names. */
export type NodeReferrer = Referrer & { readonly version: string; readonly nodeId: string };

/**
 * Takes a whole tree in, ids and all, into its own stream or that of the tree with its name. Nodes that plans name must
 * not go.
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
