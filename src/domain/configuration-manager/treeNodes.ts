import type { Members } from '@automation-platform/json';
import { same } from '../engine/changes.ts';
import { defined } from '../engine/defined.ts';
import { isMembers, withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { RequestError } from '../engine/requestError.ts';
import type { TreeNode } from './treeSchemas.ts';

/** A node, and the nodes from the root down to it, which is the last one. */
export type Line = readonly [TreeNode, ...TreeNode[]];

/** All nodes of a version, each before those below it, with their lines. */
export const linesOf = (root: TreeNode): readonly Line[] => {
  const lines: Line[] = [];
  const walk = (line: Line): void => {
    lines.push(line);
    for (const child of lastOf(line).children) walk([...line, child]);
  };
  walk([root]);
  return lines;
};

export const lastOf = (line: Line): TreeNode => line.at(-1) ?? line[0];

export const nodesOf = (root: TreeNode): readonly TreeNode[] => [root, ...root.children.flatMap(nodesOf)];

/** The line of the node with the id; undefined if there is none. */
export const lineTo = (root: TreeNode, configId: string): Line | undefined => {
  if (root.configId === configId) return [root];
  for (const child of root.children) {
    const below = lineTo(child, configId);
    if (below) return [root, ...below];
  }
  return undefined;
};

export const findNode = (root: TreeNode, configId: string): TreeNode | undefined => {
  const line = lineTo(root, configId);
  return line && lastOf(line);
};

/** The names from the root down, joined by `/`. */
export const pathOf = (line: Line): string => line.map(({ name }) => name).join('/');

/** The line of a node by its path. `at` is where the path stands in the request. */
export const lineAt = (root: TreeNode, path: string, at: string): Line => {
  const names = path.startsWith('/') ? path.slice(1) : path;
  const [line, ...others] = linesOf(root).filter((one) => pathOf(one) === names);
  if (!line) throw new RequestError('not_found', `The version has no node ${JSON.stringify(path)}`, { path: at });
  if (others.length > 0)
    throw new RequestError('conflict', `Several nodes have the path ${JSON.stringify(path)}`, {
      faults: [
        { message: 'The path is not unique', path: at, ids: [line, ...others].map((one) => lastOf(one).configId) },
      ],
    });
  return line;
};

/** The tree with another node in the place of the one with the id; without it if there is no other. */
export const withNode = (
  root: TreeNode,
  configId: string,
  change: (node: TreeNode) => TreeNode | undefined,
): TreeNode => {
  const below = (node: TreeNode): readonly TreeNode[] =>
    node.configId === configId ? [change(node) ?? []].flat() : [{ ...node, children: node.children.flatMap(below) }];
  return below(root)[0] ?? root;
};

/** The tree with other ids: the new one for each old one. */
export const withIds = (node: TreeNode, ids: Readonly<Record<string, string>>): TreeNode => ({
  ...node,
  configId: Object.hasOwn(ids, node.configId) ? (ids[node.configId] ?? node.configId) : node.configId,
  children: node.children.map((child) => withIds(child, ids)),
});

/** The tree without texts. */
export const withoutTexts = ({ template: _, ...node }: TreeNode): TreeNode => ({
  ...node,
  children: node.children.map(withoutTexts),
});

/** The parts of a node beside its name: text, devices, device groups. None of them is stored as an empty one. */
export type NodeContent = Pick<TreeNode, 'template' | 'devices' | 'deviceGroups'>;

export const withContent = (node: TreeNode, content: NodeContent): TreeNode => {
  const { template = node.template, devices = node.devices, deviceGroups = node.deviceGroups } = content;
  const { name, configId, children } = node;
  return {
    name,
    configId,
    ...defined({
      template: template || undefined,
      devices: listOrNone(devices),
      deviceGroups: listOrNone(deviceGroups),
    }),
    children,
  };
};

const listOrNone = (list: readonly string[] | undefined): readonly string[] | undefined =>
  list && list.length > 0 ? list : undefined;

/*
 * Documents have our own form or the published one. In both, text, devices and device groups of a node are in its
 * `attributes`: `export.template`, `devices`, and `deviceGroups`, whose items are ids, names, or objects with an id.
 */

/** True if golden configurations are published so: the versions are in `data`. */
export const isPublished = (document: Members): boolean =>
  Object.hasOwn(document, 'data') && !Object.hasOwn(document, 'versions');

/** The versions in a document. */
export const itemsIn = (document: Members): readonly Members[] =>
  document[isPublished(document) ? 'data' : 'versions'] as readonly Members[];

export const rootIn = ({ root }: Members): Members => (isMembers(root) ? root : {});
export const attributesOf = ({ attributes }: Members): Members => (isMembers(attributes) ? attributes : {});
export const childrenOf = ({ children }: Members): readonly Members[] =>
  Array.isArray(children) ? (children as readonly Members[]) : [];

/** The text that a node of a document has, if it has one. */
export const templateIn = (node: Members): string => {
  const { export: exportPart } = attributesOf(node);
  const template = isMembers(exportPart) ? exportPart.template : '';
  return typeof template === 'string' ? template : '';
};

const nameIn = (item: unknown): readonly string[] => {
  const name = isMembers(item) ? (item.id ?? item.name) : item;
  return typeof name === 'string' && name !== '' ? [name] : [];
};
const namesIn = (list: unknown): readonly string[] => (Array.isArray(list) ? [...new Set(list.flatMap(nameIn))] : []);

/** The content of a node of a document. */
const contentIn = (node: Members): Required<NodeContent> => {
  const { devices, deviceGroups } = attributesOf(node);
  return { template: templateIn(node), devices: namesIn(devices), deviceGroups: namesIn(deviceGroups) };
};

/** The node with what the document says that it was made from. */
export const withContentIn = (node: TreeNode, document: Members): TreeNode => {
  const below = childrenOf(document);
  const children = node.children.map((child, i) => withContentIn(child, below[i] ?? {}));
  return withContent({ ...node, children }, contentIn(document));
};

/** The attributes of a node in documents, with what it says now in the place of what it said then. */
export const attributesNow = (attributes: Members, then: NodeContent, now: NodeContent): Members => {
  const exportPart = isMembers(attributes.export) ? attributes.export : {};
  const isNew = (then.template ?? '') !== (now.template ?? '');
  return withMembers(
    attributes,
    defined({
      devices: same(then.devices, now.devices) ? undefined : (now.devices ?? []),
      deviceGroups: same(then.deviceGroups, now.deviceGroups)
        ? undefined
        : itemsNow(attributes.deviceGroups, now.deviceGroups ?? []),
      // The lines are those of the former text.
      export: isNew
        ? withMembers(
            withoutMembers(exportPart, (name) => name === 'lines'),
            { template: now.template ?? '' },
          )
        : undefined,
    }),
  );
};

/** The items of a list that name what is still in it, and further names. */
const itemsNow = (items: unknown, names: readonly string[]): readonly unknown[] => {
  const before = Array.isArray(items) ? items : [];
  const still = before.filter((item) => nameIn(item).some((name) => names.includes(name)));
  const there = new Set(still.flatMap(nameIn));
  return [...still, ...names.filter((name) => !there.has(name))];
};
