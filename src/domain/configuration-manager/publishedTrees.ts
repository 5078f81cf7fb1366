import { derivedId, type Members } from '@automation-platform/json';
import { same } from '../engine/changes.ts';
import { defined } from '../engine/defined.ts';
import { isMembers, withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { RequestError } from '../engine/requestError.ts';
import { attributesOf, childrenOf, isPublished, itemsIn, rootIn, templateIn } from './treeNodes.ts';
import type { PublishedTree } from './treeSchemas.ts';

/*
 * Golden configurations as installations publish them: `{data: [item], ...}`, where each item is one version of one
 * tree, and the id of a node is `attributes.configId`. This file translates them into our own form.
 */

const isId = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{24}$/.test(value);

/** The id of the tree that a document names: its own or one derived from it; undefined if the document has none. */
export const treeIdOf = (value: unknown): string | undefined => {
  if (isId(value)) return value;
  return typeof value === 'string' && value !== '' ? derivedId(value) : undefined;
};

/**
 * The document in our own form. Every unknown member is at the place of the object that it belongs to; those of
 * `attributes` stay in there. Throws `invalid` with the path in the document.
 */
export const inOurForm = (document: Members): Members => {
  const { data } = document as PublishedTree;
  const { name, deviceType = null, description } = firstItem(document);
  const treeId = namedTree(document);
  checkItems(data, treeId);
  const _id = treeIdOf(treeId);
  const tree = defined({
    _id,
    name,
    deviceType,
    description: typeof description === 'string' ? description : undefined,
  });
  const seed = typeof treeId === 'string' ? treeId : name;
  const versions = data.map((item, i) => {
    const root = nodeInOurForm(item.root as Members, `/data/${i}/root`, idsIn(seed));
    return versionInOurForm({ ...item }, root, tree);
  });
  const treeMembers = { ...tree, versions };
  return withMembers(
    treeMembers,
    withoutMembers(document, (member) => member === 'data' || member === '_id' || Object.hasOwn(treeMembers, member)),
  );
};

/** The item that says what the tree is called. */
export const firstItem = (document: Members): PublishedTree['data'][number] => {
  const [item] = (document as PublishedTree).data;
  return item!; // the schema requires one
};

/** The `treeId` of the items; undefined if none has one. */
export const namedTree = (document: Members): unknown =>
  (document as PublishedTree).data.find(({ treeId }) => treeId !== undefined)?.treeId;

const checkItems = (data: PublishedTree['data'], treeId: unknown): void => {
  const versions = new Set<string>();
  for (const [i, item] of data.entries()) {
    if (item.treeId !== undefined && !same(item.treeId, treeId))
      throw new RequestError('invalid', 'A document holds the versions of one tree', { path: `/data/${i}/treeId` });
    if (versions.size === versions.add(item.version).size)
      throw new RequestError('invalid', `Another one here is the version ${JSON.stringify(item.version)}`, {
        path: `/data/${i}/version`,
      });
  }
};

/** `name`, `deviceType`, `description` and `treeId` belong to the tree. They stay in the version only where they say something else. */
const versionInOurForm = (
  item: Members,
  root: Members,
  tree: { readonly _id?: string; readonly deviceType: string | null; readonly description?: string },
): Members => {
  const variables = isMembers(item.variables) ? item.variables : undefined;
  const versionMembers = defined({ name: item.version, root, variables });
  const drops = (member: string): boolean =>
    ['name', 'version', 'root', 'variables'].includes(member) ||
    (member === 'treeId' && item.treeId === tree._id) ||
    (member === 'deviceType' && item.deviceType === tree.deviceType) ||
    (member === 'description' && item.description === tree.description);
  return withMembers(versionMembers, withoutMembers(item, drops));
};

/** Makes the function that gives the nodes of one version their ids. No two get the same one. */
const idsIn = (seed: string) => {
  const used = new Set<string>();
  return (value: unknown, path: string): string => {
    let id = isId(value) ? value : derivedId(`${seed} ${path}`);
    for (let n = 2; used.has(id); n++) id = derivedId(`${seed} ${path} ${n}`);
    used.add(id);
    return id;
  };
};

/** `path` is the node's place in the document, `within` its place below the root. */
const nodeInOurForm = (node: Members, path: string, idOf: ReturnType<typeof idsIn>, within = ''): Members => {
  const documentId = attributesOf(node).configId;
  const configId = idOf(documentId, within);
  const children = childrenOf(node).map((child, i) => {
    const at = `/children/${i}`;
    if (!isMembers(child)) throw new RequestError('invalid', 'A node is an object', { path: path + at });
    return nodeInOurForm(child, path + at, idOf, within + at);
  });
  const nodeMembers = { name: typeof node.name === 'string' ? node.name : '', configId, children };
  const rest = withoutMembers(node, (member) => Object.hasOwn(nodeMembers, member));
  const attributes = isMembers(node.attributes)
    ? withoutMembers(node.attributes, (name) => isOwnId(name, documentId, configId))
    : undefined;
  return withMembers(nodeMembers, attributes ? withMembers(rest, { attributes }) : rest);
};

const isOwnId = (name: string, value: unknown, configId: string): boolean => name === 'configId' && value === configId;

/** A document of a tree in the published form. `_id`: of the tree. */
export const inPublishedForm = (document: Members, _id: string): Members => {
  if (isPublished(document)) return document;
  const { name, deviceType = null, description } = document;
  const tree = defined({ treeId: _id, name, deviceType, description });
  const data = itemsIn(document).map((version) => {
    const ofVersion = {
      ...tree,
      version: version.name,
      root: publishedNode(rootIn(version)),
      variables: version.variables,
    };
    return withMembers(
      defined(ofVersion),
      withoutMembers(version, (member) => Object.hasOwn(ofVersion, member)),
    );
  });
  const ofTree = ['_id', 'versions', ...Object.keys(tree)];
  return withMembers(
    { data },
    withoutMembers(document, (member) => ofTree.includes(member)),
  );
};

const publishedNode = (node: Members): Members => {
  const { name, configId } = node;
  const attributes = withMembers({ configId }, attributesOf(node));
  const ofNode = { name, attributes, children: childrenOf(node).map(publishedNode) };
  return withMembers(
    ofNode,
    withoutMembers(node, (member) => member === 'configId' || Object.hasOwn(ofNode, member)),
  );
};

/** Makes the `attributes.export` of a node from the present one; undefined: the node has none. */
type ExportPart = (part: Members | undefined, path: string, node: Members) => Members | undefined;

/** A published document with other `attributes.export` of its nodes. `path` points to each node. */
const withExportParts = (document: Members, change: ExportPart): Members => {
  const withPart = (node: Members, path: string): Members => {
    const attributes = attributesOf(node);
    const before = isMembers(attributes.export) ? attributes.export : undefined;
    const part = change(before, path, node);
    const children = childrenOf(node).map((child, i) => withPart(child, `${path}/children/${i}`));
    const others = withoutMembers(attributes, (member) => member === 'export' && part === undefined);
    return withMembers(node, {
      ...(part !== before && { attributes: part ? withMembers(others, { export: part }) : others }),
      ...(children.length > 0 && { children }),
    });
  };
  const data = itemsIn(document).map((item, i) =>
    withMembers(item, { root: withPart(rootIn(item), `/data/${i}/root`) }),
  );
  return withMembers(document, { data });
};

/** The members of `attributes.export` that follow from the tree and its text. */
export type ExportedText = {
  readonly _id: string;
  readonly deviceType: string | null;
  readonly template: string;
  readonly lines: readonly unknown[] | null;
};

/** A published document with these members where a node lacks them. `texts`: by the paths of the nodes. */
export const withTexts = (document: Members, texts: ReadonlyMap<string, ExportedText>): Members =>
  withExportParts(document, (part = {}, path) => withMembers(texts.get(path) ?? {}, part));

/** An exported document without what `withTexts` has added to the document `before`. */
export const withoutTexts = (document: Members, before: Members): Members => {
  const partsBefore = new Map<string, Members>();
  withExportParts(before, (part, path) => {
    if (part) partsBefore.set(path, part);
    return part;
  });
  const bare = withExportParts(document, (part, path, node) => {
    if (!part) return undefined;
    const there = partsBefore.get(path);
    const adds = (member: string): boolean =>
      ['_id', 'deviceType', 'lines'].includes(member) || (member === 'template' && templateIn(node) === '');
    const rest = withoutMembers(part, (member) => adds(member) && !Object.hasOwn(there ?? {}, member));
    return there || Object.keys(rest).length > 0 ? rest : undefined;
  });
  return withoutMembers(bare, (member) => member === 'status' && !Object.hasOwn(before, member));
};
