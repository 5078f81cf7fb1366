import { exactEntries, inOrder, type Members } from '@automation-platform/json';
import { same } from '../engine/changes.ts';
import { defined } from '../engine/defined.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import type { Imported } from '../engine/importedDocuments.ts';
import { inOurForm } from './publishedTrees.ts';
import { attributesNow, attributesOf, childrenOf, isPublished, itemsIn, nodesOf, rootIn } from './treeNodes.ts';
import type { TreeNode, TreeVersion } from './treeSchemas.ts';
import type { TreeContent } from './trees.ts';

/*
 * Documents of trees as of now. An imported one is given back with everything that has changed since. Versions and nodes
 * are found again by their ids: they may have other names, and those beside them may be gone.
 */

/** How documents of one form write new versions and nodes. `tree`: the members that say of the tree what it is. */
type Form = {
  readonly list: 'data' | 'versions';
  readonly version: 'version' | 'name';
  readonly node: (node: TreeNode) => Members;
};

const attributesFor = (node: TreeNode): Members => attributesNow({}, {}, node);

const newOwnNode = (node: TreeNode): Members => {
  const attributes = attributesFor(node);
  const { name, configId, children } = node;
  const ownMembers = { name, configId, children: children.map(newOwnNode) };
  return Object.keys(attributes).length > 0 ? { ...ownMembers, attributes } : ownMembers;
};

const newPublishedNode = (node: TreeNode): Members => ({
  name: node.name,
  attributes: { configId: node.configId, ...attributesFor(node) },
  children: node.children.map(newPublishedNode),
});

const own: Form = { list: 'versions', version: 'name', node: newOwnNode };
const publishedForm: Form = { list: 'data', version: 'version', node: newPublishedNode };

/** The document of a tree that was never imported. */
const newDocument = ({ name, deviceType, description, versions }: TreeContent): Members => ({
  name,
  deviceType,
  ...defined({ description }),
  versions: versions.map(({ name, root, variables }) => ({ name, root: newOwnNode(root), variables })),
});

/** The document of a tree: that of its last import with everything that has changed since, else one in our own form. */
export const documentNow = (imported: Imported<TreeContent> | undefined, now: TreeContent): Members => {
  if (!imported) return newDocument(now);
  const { document, content: then } = imported;
  if (same(then, now)) return document;
  const form = isPublished(document) ? publishedForm : own;
  const ofTree = defined({
    name: then.name === now.name ? undefined : now.name,
    deviceType: then.deviceType === now.deviceType ? undefined : now.deviceType,
    description: then.description === now.description ? undefined : now.description,
  });
  const before = itemsIn(document).map((item) => (form === publishedForm ? withMembers(item, ofTree) : item));
  const origins = originsOf(then.versions, now.versions);
  const items = now.versions.map((version, i) => {
    const origin = origins[i];
    const [item, former] = [before[origin ?? -1], then.versions[origin ?? -1]];
    return item && former ? itemNow(form, item, former, version) : newItem(form, before[0] ?? {}, version);
  });
  const changed = withMembers(document, { ...(form === own && ofTree), [form.list]: items });
  return form === publishedForm ? withIdsOf(now, changed) : changed;
};

/** For each version the index of the former one that it was: it has the root, and its name unless it was renamed. */
const originsOf = (then: readonly TreeVersion[], now: readonly TreeVersion[]): readonly (number | undefined)[] => {
  const free = new Set(then.keys());
  const origins: (number | undefined)[] = now.map((): undefined => undefined);
  const assign = (fits: (former: TreeVersion, version: TreeVersion) => boolean): void => {
    for (const [i, version] of now.entries()) {
      const found = origins[i] ?? [...free].find((j) => then[j] && fits(then[j], version));
      if (found === undefined) continue;
      origins[i] = found;
      free.delete(found);
    }
  };
  const isRoot = (former: TreeVersion, { root }: TreeVersion): boolean => former.root.configId === root.configId;
  assign((former, version) => isRoot(former, version) && former.name === version.name);
  // Copies of earlier versions share the ids of their nodes.
  assign(isRoot);
  return origins;
};

const itemNow = (form: Form, item: Members, then: TreeVersion, now: TreeVersion): Members =>
  withMembers(item, {
    ...(then.name !== now.name && { [form.version]: now.name }),
    ...(!same(then.variables, now.variables) && { variables: now.variables }),
    ...(!same(then.root, now.root) && { root: nodeNow(form, rootIn(item), then.root, now.root) }),
  });

const nodeNow = (form: Form, node: Members, then: TreeNode, now: TreeNode): Members => {
  if (same(then, now)) return node;
  const documents = childrenOf(node);
  const origins = new Map(then.children.map((child, i) => [child.configId, { child, document: documents[i] }]));
  const children = now.children.map((child) => {
    const { child: former, document } = origins.get(child.configId) ?? {};
    return former && document ? nodeNow(form, document, former, child) : form.node(child);
  });
  const attributes = attributesNow(attributesOf(node), then, now);
  return withMembers(node, {
    ...(then.name !== now.name && { name: now.name }),
    ...(!same(attributes, attributesOf(node)) && { attributes }),
    ...(!same(then.children, now.children) && { children }),
  });
};

/** A version that was added here. It says of its tree what the first item says. */
const newItem = (form: Form, first: Members, { name, root, variables }: TreeVersion): Members => {
  const ofTree = exactEntries(first).filter(
    ([member]) => form === publishedForm && ['name', 'deviceType', 'description', 'treeId'].includes(member),
  );
  return inOrder([...ofTree, [form.version, name], ['root', form.node(root)], ['variables', variables]]);
};

/**
 * The publishedForm document with the ids of nodes written down where other ones would be changed from their places: what stood
 * before them is gone.
 */
const withIdsOf = ({ versions }: TreeContent, document: Members): Members => {
  const items = itemsIn(inOurForm(document));
  const data = itemsIn(document).map((item, i) => {
    const root = versions[i]?.root;
    return root ? withMembers(item, { root: withIdsWritten(rootIn(item), rootIn(items[i] ?? {}), root) }) : item;
  });
  return withMembers(document, { data });
};

const withIdsWritten = (node: Members, read: Members, { configId, children }: TreeNode): Members => {
  if (
    same(
      idsIn(read),
      nodesOf({ name: '', configId, children }).map((one) => one.configId),
    )
  )
    return node;
  const below = childrenOf(read);
  return withMembers(node, {
    ...(read.configId !== configId && { attributes: withMembers(attributesOf(node), { configId }) }),
    children: childrenOf(node).map((child, i) => {
      const now = children[i];
      return now ? withIdsWritten(child, below[i] ?? {}, now) : child;
    }),
  });
};

const idsIn = (node: Members): readonly unknown[] => [node.configId, ...childrenOf(node).flatMap(idsIn)];

/** The document in our own form, the members that the service knows first. */
export const inOurWords = (document: Members): Members => {
  const whole = isPublished(document) ? inOurForm(document) : document;
  const { _id, name, deviceType = null, description } = whole;
  const versions = itemsIn(whole).map((version) =>
    knownFirst(version, {
      name: version.name,
      root: nodeInOurWords(rootIn(version)),
      variables: version.variables ?? {},
    }),
  );
  return knownFirst(whole, defined({ _id, name, deviceType, description, versions }));
};

const nodeInOurWords = (node: Members): Members => {
  const { name, configId } = node;
  return knownFirst(node, { name, configId, children: childrenOf(node).map(nodeInOurWords) });
};

const knownFirst = (document: Members, members: Members): Members =>
  withMembers(
    members,
    withoutMembers(document, (member) => Object.hasOwn(members, member)),
  );
