import { goldenBounds } from '@automation-platform/configurations';
import type { Static } from 'typebox';
import { same } from '../engine/changes.ts';
import type { Context } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Referrer, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { type Seal, sealSecrets } from '../engine/secretFields.ts';
import { findNode, type Line, lastOf, lineAt, lineTo, nodesOf, withContent, withNode } from './treeNodes.ts';
import type {
  newNodeSchema,
  newTreeSchema,
  newVersionSchema,
  nodeDevicesSchema,
  nodeTextSchema,
  TreeNode,
  TreeVersion,
  treeDetailsSchema,
} from './treeSchemas.ts';
import { firstVersion, type TreeEvent, type TreeState, versionOf } from './trees.ts';

/* The decisions on trees. Each stores no event if nothing changes. */

/** Trees of earlier versions, and imports of them, may have more nodes and levels. */
const mostLevels = 16;
const mostNodes = 1000;
const mostBytes = 8 * 1024 * 1024;
const mostDevices = 10_000;

/** Words that paths have in the places of names. */
const notVersions: readonly string[] = ['export', 'versions'];
const notNodes: readonly string[] = ['nodes', 'devices'];

const refuseWord = (name: string, words: readonly string[], what: string): void => {
  if (words.includes(name))
    throw new RequestError('invalid', `No ${what} may be named ${JSON.stringify(name)}`, { path: '/name' });
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Throws `too_large` or `invalid` for a text that no node may have. */
export const refuseText = (template: string, path: string): void => {
  if (bytesOf(template) > goldenBounds.bytes)
    throw new RequestError('too_large', `The text of a node may have ${goldenBounds.bytes} bytes`, { path });
  if (template.split(/\r\n?|\n/).length > goldenBounds.lines + 1)
    throw new RequestError('invalid', `The text of a node may have ${goldenBounds.lines} lines`, { path });
};

/** Throws `too_large` if the texts of the versions are too many bytes. */
export const refuseTexts = (versions: readonly Pick<TreeVersion, 'root'>[], path: string): void => {
  const texts = versions.flatMap(({ root }) => nodesOf(root).map(({ template = '' }) => template));
  if (texts.reduce((sum, text) => sum + bytesOf(text), 0) > mostBytes)
    throw new RequestError('too_large', `All texts of a tree may have ${mostBytes} bytes`, { path });
};

export const create = (
  _: TreeState,
  { name, deviceType = null, description }: Static<typeof newTreeSchema>,
  { newId }: Context,
): readonly TreeEvent[] => [
  {
    topic: 'treeCreated',
    data: { name, deviceType, ...defined({ description }), root: { name: 'base', configId: newId('root') } },
  },
];

/** Decides `updateTree`. Only given parts change. */
export const update = (state: TreeState, changes: Static<typeof treeDetailsSchema>): readonly TreeEvent[] => {
  const before = { description: state.description ?? '', deviceType: state.deviceType };
  const { name = state.name, ...details } = { ...before, ...changes };
  const events: readonly (TreeEvent | false)[] = [
    name !== state.name && { topic: 'treeNamed', data: { name } },
    !same(details, before) && { topic: 'treeDescribed', data: details },
  ];
  return events.filter((event) => event !== false);
};

export const addVersion = (
  state: TreeState,
  { name, base = firstVersion }: Static<typeof newVersionSchema>,
  { newId }: Context,
): readonly TreeEvent[] => {
  const { root } = versionOf(state, base, '/base');
  refuseVersionName(state, name);
  refuseTexts([...state.versions, { root }], '/base');
  const ids = Object.fromEntries(nodesOf(root).map(({ configId }) => [configId, newId(`node ${configId}`)]));
  return [{ topic: 'treeVersionAdded', data: { name, base, ids } }];
};

const refuseVersionName = ({ versions }: TreeState, name: string): void => {
  refuseWord(name, notVersions, 'version');
  if (versions.some((version) => version.name === name))
    throw new RequestError('conflict', `The tree has a version ${JSON.stringify(name)}`, { path: '/name' });
};

/** A plan that names a node of the tree. */
export type NodeReferrer = Referrer & { readonly version: string; readonly nodeId: string };
type Referred = Context<{ readonly nodeReferrers: readonly NodeReferrer[] }>;

const referrersIn = (version: string, { refs }: Referred): readonly NodeReferrer[] =>
  refs.nodeReferrers.filter((one) => one.version === version);

type VersionChange = {
  readonly version: string;
  readonly name?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

/** Decides `updateTreeVersion`. Variables replace all that the version had. Plans name versions, so those keep their names. */
export const updateVersion = (
  state: TreeState,
  { version, name = version, variables }: VersionChange,
  context: Referred,
): readonly TreeEvent[] => {
  const before = versionOf(state, version).variables;
  if (name !== version) {
    refuseVersionName(state, name);
    refuseReferred(referrersIn(version, context), 'renamed');
  }
  const events: readonly (TreeEvent | false)[] = [
    variables !== undefined &&
      !same(variables, before) && { topic: 'treeVariablesReplaced', data: { version, variables } },
    name !== version && { topic: 'treeVersionRenamed', data: { version, name } },
  ];
  return events.filter((event) => event !== false);
};

export const removeVersion = (
  state: TreeState,
  { version }: { readonly version: string },
  context: Referred,
): readonly TreeEvent[] => {
  versionOf(state, version);
  if (state.versions.length === 1)
    throw new RequestError('conflict', 'The last version of a tree cannot be deleted', { path: 'version' });
  refuseReferred(referrersIn(version, context), 'deleted');
  return [{ topic: 'treeVersionDeleted', data: { version } }];
};

type NodePath = { readonly version: string; readonly nodePath: string };

/** The line of the node that a request names by its path. */
const lineIn = (state: TreeState, { version, nodePath }: NodePath): Line =>
  lineAt(versionOf(state, version).root, nodePath, 'nodePath');

type NewNode = Static<typeof newNodeSchema> & { readonly version: string };

/** `parent` is the id of the node above it. */
export const addNode = (
  state: TreeState,
  { version, name, parent }: NewNode,
  { newId }: Context,
): readonly TreeEvent[] => {
  const { root } = versionOf(state, version);
  const above = lineTo(root, parent ?? root.configId);
  if (!above) throw new RequestError('not_found', 'No node of this version has this configId', { path: '/parent' });
  refuseNodeName(lastOf(above).children, name);
  if (above.length >= mostLevels)
    throw new RequestError('invalid', `Nodes may lie ${mostLevels} levels deep`, { path: '/parent' });
  if (nodesOf(root).length >= mostNodes)
    throw new RequestError('invalid', `A version may have ${mostNodes} nodes`, { path: '/name' });
  const data = { version, parent: lastOf(above).configId, name, configId: newId('node') };
  return [{ topic: 'treeNodeAdded', data }];
};

/** Adds a node below the one at a path. */
export const addChild = (
  state: TreeState,
  { version, nodePath, name }: NodePath & { readonly name: string },
  context: Context,
): readonly TreeEvent[] =>
  addNode(state, { version, name, parent: lastOf(lineIn(state, { version, nodePath })).configId }, context);

const refuseNodeName = (siblings: readonly TreeNode[], name: string): void => {
  refuseWord(name, notNodes, 'node');
  if (siblings.some((one) => one.name === name))
    throw new RequestError('conflict', `A sibling is named ${JSON.stringify(name)}`, { path: '/name' });
};

export const renameNode = (
  state: TreeState,
  { version, nodePath, name }: NodePath & { readonly name: string },
): readonly TreeEvent[] => {
  const line = lineIn(state, { version, nodePath });
  const node = lastOf(line);
  if (node.name === name) return [];
  refuseNodeName(line.at(-2)?.children ?? [], name);
  return [{ topic: 'treeNodeRenamed', data: { version, configId: node.configId, name } }];
};

/** Deletes a node with those below it, unless plans name one of them. */
export const removeNode = (
  state: TreeState,
  { version, nodePath }: NodePath,
  context: Referred,
): readonly TreeEvent[] => {
  const line = lineIn(state, { version, nodePath });
  const node = lastOf(line);
  if (line.length === 1)
    throw new RequestError('conflict', 'The root of a version cannot be deleted', { path: 'nodePath' });
  const ids = new Set(nodesOf(node).map(({ configId }) => configId));
  refuseReferred(
    referrersIn(version, context).filter(({ nodeId }) => ids.has(nodeId)),
    'deleted',
  );
  return [{ topic: 'treeNodeDeleted', data: { version, configId: node.configId } }];
};

type NodeDevices = Static<typeof nodeDevicesSchema>;

/** The device groups that a request names: the id and name of each; undefined of one that does not exist. */
export type NamedGroups = {
  readonly groups: ReadonlyMap<string, { readonly _id: string; readonly name: string } | undefined>;
};

/** Decides how the lists of a node change: the named devices and groups join, or leave. Groups that join must exist. */
export const changeNodeDevices = (
  state: TreeState,
  { version, nodePath, joins, devices = [], deviceGroups = [] }: NodeDevices,
  { refs: { groups } }: Context<NamedGroups>,
): readonly TreeEvent[] => {
  const node = lastOf(lineIn(state, { version, nodePath }));
  const before = { devices: node.devices ?? [], deviceGroups: node.deviceGroups ?? [] };
  if (joins)
    refuseUnknownIds(
      deviceGroups.filter((group) => !groups.get(group)),
      'device group',
      '/deviceGroups',
    );
  const ids = deviceGroups.map((group) => groups.get(group)?._id ?? group);
  // Trees of earlier versions may hold names of groups.
  const all = [...deviceGroups, ...ids, ...deviceGroups.flatMap((group) => groups.get(group)?.name ?? [])];
  const after = joins
    ? { devices: union(before.devices, devices), deviceGroups: union(before.deviceGroups, ids) }
    : { devices: without(before.devices, devices), deviceGroups: without(before.deviceGroups, all) };
  if (after.devices.length > mostDevices)
    throw new RequestError('invalid', `A node may have ${mostDevices} devices`, { path: '/devices' });
  return same(after, before)
    ? []
    : [{ topic: 'treeNodeDevicesSet', data: { version, configId: node.configId, ...after } }];
};

const union = (list: readonly string[], more: readonly string[]): readonly string[] => [...new Set([...list, ...more])];
const without = (list: readonly string[], items: readonly string[]): readonly string[] => {
  const names = new Set(items);
  return list.filter((one) => !names.has(one));
};

type NodeText = Static<typeof nodeTextSchema>;

/** Sets the text of a node, and merges variables into those of the version. */
export const setNodeText = (
  state: TreeState,
  { version, node, template, variables }: NodeText,
): readonly TreeEvent[] => {
  const one = versionOf(state, version, '/treeVersion');
  const found =
    'configId' in node ? findNode(one.root, node.configId) : lastOf(lineAt(one.root, node.path, '/nodePath'));
  if (!found) throw new RequestError('not_found', 'No node of this version has this configId', { path: 'configId' });
  refuseText(template, '/data/template');
  const news = newsIn(variables ?? {}, one.variables);
  if (template === (found.template ?? '') && Object.keys(news).length === 0) return [];
  const root = withNode(one.root, found.configId, (before) => withContent(before, { template }));
  refuseTexts(
    state.versions.map((version) => (version === one ? { root } : version)),
    '/data/template',
  );
  const data = {
    version,
    configId: found.configId,
    template,
    ...(Object.keys(news).length > 0 && { variables: news }),
  };
  return [{ topic: 'treeNodeTextSet', data }];
};

type Variables = { readonly version: string; readonly variables: Readonly<Record<string, unknown>> };

/** Seals the secrets among the variables, with those that their version had before. `path`: of the variables. */
const sealAt =
  (path: string) =>
  <V extends Partial<Variables> & Pick<Variables, 'version'>>(input: V, { versions }: TreeState, seal: Seal): V => {
    if (input.variables === undefined) return input;
    const before = versions.find(({ name }) => name === input.version)?.variables;
    return { ...input, variables: sealSecrets(input.variables, before, seal, path) };
  };

export const sealVariables = sealAt('/variables');
export const sealNodeText = sealAt('/data/variables');

/** The variables that are new or have another value. */
const newsIn = (variables: Variables['variables'], before: Variables['variables']): Variables['variables'] =>
  Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => !Object.hasOwn(before, name) || !same(before[name], value)),
  );

/** Merges the variables into those of the version. */
export const setVariables = (state: TreeState, { version, variables }: Variables): readonly TreeEvent[] => {
  const news = newsIn(variables, versionOf(state, version).variables);
  return Object.keys(news).length > 0 ? [{ topic: 'treeVariablesSet', data: { version, variables: news } }] : [];
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

export const remove = (
  _: TreeState,
  __: unknown,
  { refs }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly TreeEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'treeDeleted', data: {} }];
};

/** Part of a decision to delete trees. */
export const removeDecided = ({ exists }: TreeState): readonly TreeEvent[] =>
  exists ? [{ topic: 'treeDeleted', data: {} }] : [];
