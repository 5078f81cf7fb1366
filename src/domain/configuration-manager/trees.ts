import { type Members, mark } from '@automation-platform/json';
import { type TObject, Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { deletionOf } from '../engine/deletions.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { type Imported, importedIn } from '../engine/importedDocuments.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed } from '../engine/secretFields.ts';
import { anyMembers, nothing, restored, text, textOrNull, texts, topicsOf, typed } from '../engine/topics.ts';
import { itemsIn, rootIn, withContent, withContentIn, withIds, withNode } from './treeNodes.ts';
import type { Tree, TreeNode, TreeVersion } from './treeSchemas.ts';

const node = Type.Object({ name: text, configId: text });

const content = {
  name: text,
  deviceType: textOrNull,
  description: Type.Optional(text),
  versions: Type.Array(Type.Object({ name: text, root: typed<TreeNode>()(node), variables: anyMembers })),
};
export type TreeContent = SchemaData<TObject<typeof content>>;

const topics = topicsOf({
  treeCreated: [
    'A golden configuration tree was created',
    Type.Object({ name: text, deviceType: textOrNull, description: Type.Optional(text), root: node }),
  ],
  treeNamed: ['A tree got another name', Type.Object({ name: text })],
  treeDescribed: [
    'A tree got another description, or another type of devices',
    Type.Object({ description: text, deviceType: textOrNull }),
  ],
  /**
   * Starts with the present nodes and variables of `base`. `ids` are the new ids of its nodes, by those that they are
   * copies of; without it, in logs of earlier versions, nodes keep their ids.
   */
  treeVersionAdded: [
    'A tree got a version that begins as a copy of another',
    Type.Object({ name: text, base: text, ids: Type.Optional(Type.Record(text, text)) }),
  ],
  treeVersionRenamed: ['A version of a tree got another name', Type.Object({ version: text, name: text })],
  treeVersionDeleted: ['A version of a tree was deleted', Type.Object({ version: text })],
  /** Adds the node as the last child of `parent`. */
  treeNodeAdded: [
    'A version of a tree got a node',
    Type.Object({ version: text, parent: text, name: text, configId: text }),
  ],
  /** `variables` are merged into those of the version. */
  treeNodeTextSet: [
    'A node of a tree got another text',
    Type.Object({ version: text, configId: text, template: text, variables: Type.Optional(anyMembers) }),
  ],
  treeNodeDevicesSet: [
    'A node of a tree got other devices or device groups',
    Type.Object({ version: text, configId: text, devices: texts, deviceGroups: texts }),
  ],
  treeNodeRenamed: ['A node of a tree got another name', Type.Object({ version: text, configId: text, name: text })],
  treeNodeDeleted: [
    'A node of a tree was deleted, with the nodes below it',
    Type.Object({ version: text, configId: text }),
  ],
  treeVariablesSet: ['Variables of a version were set', Type.Object({ version: text, variables: anyMembers })],
  treeVariablesReplaced: [
    'A version of a tree got other variables in the place of all that it had',
    Type.Object({ version: text, variables: anyMembers }),
  ],
  treeVariablesDeleted: ['Variables of a version were deleted', Type.Object({ version: text, names: texts })],
  treeRestored: [
    'A tree got the content of an imported document',
    Type.Object({ ...content, created: Type.Optional(text), imported: restored.imported }),
  ],
  treeDeleted: ['A tree was deleted', nothing],
});
export type TreeEvent = EventOf<typeof topics>;

export type TreeState = TreeContent & {
  readonly exists: boolean;
  /** The last import; undefined if there was none. */
  readonly imported?: Imported<TreeContent>;
};

export const firstVersion = 'initial';

/** A tree with all its versions and texts. The tree's stream decides which versions are added. */
export const tree = aggregate<TreeState, TreeEvent>({
  area: 'configuration-manager',
  category: 'tree',
  topics,
  initial: { exists: false, name: '', deviceType: null, versions: [] },
  evolve: {
    treeCreated: (_, { name, deviceType, description, root }) => ({
      exists: true,
      name,
      deviceType,
      ...defined({ description }),
      versions: [{ name: firstVersion, root: { ...root, children: [] }, variables: {} }],
    }),
    treeNamed: (state, { name }) => ({ ...state, name }),
    treeDescribed: (state, { description, deviceType }) => ({ ...state, description, deviceType }),
    treeVersionAdded: (state, { name, base, ids = {} }) => {
      const { root, variables } = versionOf(state, base);
      return { ...state, versions: [...state.versions, { name, root: withIds(root, ids), variables }] };
    },
    treeVersionRenamed: (state, { version, name }) => changed(state, version, (one) => ({ ...one, name })),
    treeVersionDeleted: (state, { version }) => ({
      ...state,
      versions: state.versions.filter(({ name }) => name !== version),
    }),
    treeNodeAdded: (state, { version, parent, name, configId }) =>
      changedNode(state, version, parent, (node) => ({
        ...node,
        children: [...node.children, { name, configId, children: [] }],
      })),
    treeNodeTextSet: (state, { version, configId, template, variables = {} }) =>
      changed(state, version, ({ root, variables: before, ...one }) => ({
        ...one,
        root: withNode(root, configId, (node) => withContent(node, { template })),
        variables: merged(before, variables),
      })),
    treeNodeDevicesSet: (state, { version, configId, devices, deviceGroups }) =>
      changedNode(state, version, configId, (node) => withContent(node, { devices, deviceGroups })),
    treeNodeRenamed: (state, { version, configId, name }) =>
      changedNode(state, version, configId, (node) => ({ ...node, name })),
    treeNodeDeleted: (state, { version, configId }) => changedNode(state, version, configId, () => undefined),
    treeVariablesSet: (state, { version, variables }) =>
      changed(state, version, (one) => ({ ...one, variables: merged(one.variables, variables) })),
    treeVariablesReplaced: (state, { version, variables }) => changed(state, version, (one) => ({ ...one, variables })),
    treeVariablesDeleted: (state, { version, names }) =>
      changed(state, version, (one) => ({
        ...one,
        variables: withoutMembers(one.variables, (name) => names.includes(name)),
      })),
    treeRestored: (_, data) => {
      const { imported, created: _created, ...stored } = data;
      const { document } = importedIn(defined({ imported }), stored).imported ?? {};
      const content = document ? withTextsIn(stored, document) : stored;
      return { exists: true, ...content, ...(document && { imported: { document, content } }) };
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

/** Variables with further ones over them. Those of an imported document may have marks. */
export const merged = (before: Members, variables: Members): Members =>
  Object.hasOwn(before, mark) ? withMembers(before, variables) : { ...before, ...variables };

const changedNode = (
  state: TreeState,
  version: string,
  configId: string,
  change: (node: TreeNode) => TreeNode | undefined,
): TreeState => changed(state, version, (one) => ({ ...one, root: withNode(one.root, configId, change) }));

/** The content of a document with the texts, devices and device groups that the document has. */
export const withTextsIn = (content: TreeContent, document: Members): TreeContent => {
  const items = itemsIn(document);
  return {
    ...content,
    versions: content.versions.map((version, i) => ({
      ...version,
      root: withContentIn(version.root, rootIn(items[i] ?? {})),
    })),
  };
};

export const versionOf = ({ versions }: Pick<TreeState, 'versions'>, name: string, path = 'version'): TreeVersion => {
  const found = versions.find((version) => version.name === name);
  if (!found) throw new RequestError('not_found', `The tree has no version ${JSON.stringify(name)}`, { path });
  return found;
};

/** The tree for answers: secrets among the variables are masked, even those that an earlier version stored in clear. */
export const maskTree = (tree: Tree): Tree => ({
  ...tree,
  versions: tree.versions.map((version) => ({ ...version, variables: maskNamed(version.variables) })),
});

/** The decision to delete several trees. */
export const treeDeletions = deletionOf({
  area: 'configuration-manager',
  category: 'treeDeletion',
  topic: 'treesDeleted',
  member: 'treeIds',
  title: 'TreeDeletion',
  noun: 'golden configuration tree',
});
export const treeDeletion = treeDeletions.of;
