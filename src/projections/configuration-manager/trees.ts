import { nodesOf, withoutTexts } from '../../domain/configuration-manager/treeNodes.ts';
import type { Tree } from '../../domain/configuration-manager/treeSchemas.ts';
import { type TreeContent, tree } from '../../domain/configuration-manager/trees.ts';
import { fold } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';

/** The withoutTextsOf part of the content: all but the texts, which may be as large as 8 MiB. */
const withoutTextsOf = ({ name, deviceType, description, versions }: TreeContent) => ({
  name,
  deviceType,
  ...defined({ description }),
  versions: versions.map((version) => ({ ...version, root: withoutTexts(version.root) })),
});

/** The document by the aggregate's own fold. */
const after = (doc: TreeContent | undefined, event: Recorded) =>
  withoutTextsOf(fold(tree, [event], doc ? { exists: true, ...doc } : tree.initial));

const nextOf = (doc: Tree | undefined, event: Recorded): Tree | undefined =>
  doc && { ...doc, ...after(doc, event), lastUpdated: event.metadata.at };

/** The same for the topics that can be a stream's first. */
const newTree = (doc: Tree | undefined, event: Recorded): Tree => ({
  _id: idOf(event),
  ...after(undefined, event),
  created: doc?.created ?? event.metadata.at,
  lastUpdated: event.metadata.at,
});

const nodesIn = ({ versions }: Tree) => versions.flatMap(({ root }) => nodesOf(root));

/** Golden configuration trees with all their versions, without texts. */
export const trees = projection<Tree>()(tree, {
  collection: 'trees',
  on: {
    treeCreated: newTree,
    treeRestored: (doc, event) => ({ ...newTree(doc, event), ...defined({ created: event.data.created }) }),
    treeNamed: nextOf,
    treeDescribed: nextOf,
    treeVersionAdded: nextOf,
    treeVersionRenamed: nextOf,
    treeVersionDeleted: nextOf,
    treeNodeAdded: nextOf,
    treeNodeTextSet: nextOf,
    treeNodeDevicesSet: nextOf,
    treeNodeRenamed: nextOf,
    treeNodeDeleted: nextOf,
    treeVariablesSet: nextOf,
    treeVariablesReplaced: nextOf,
    treeVariablesDeleted: nextOf,
    treeDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: {
    name: (doc) => doc.name,
    deviceType: (doc) => doc.deviceType ?? [],
    version: (doc) => doc.versions.map(({ name }) => name),
    configId: (doc) => nodesIn(doc).map(({ configId }) => configId),
    device: (doc) => nodesIn(doc).flatMap(({ devices = [] }) => devices),
    deviceGroup: (doc) => nodesIn(doc).flatMap(({ deviceGroups = [] }) => deviceGroups),
  },
});
