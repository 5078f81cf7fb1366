import type { Tree } from '../../domain/configuration-manager/treeSchemas.ts';
import { type TreeEvent, tree } from '../../domain/configuration-manager/trees.ts';
import type { DataOf } from '../../domain/engine/core.ts';
import { idOf, projection } from '../engine/define.ts';

/** Computes the document's versions with the aggregate's own fold. */
const evolved =
  <T extends TreeEvent['topic']>(topic: T) =>
  (doc: Tree | undefined, { data }: { readonly data: DataOf<TreeEvent, T> }): Tree | undefined =>
    doc && { ...doc, versions: tree.evolve[topic]({ exists: true, ...doc }, data).versions };

/** Golden configuration trees with all their versions. */
export const trees = projection<Tree>()(tree, {
  collection: 'trees',
  on: {
    treeCreated: (_, event) => {
      const { name, deviceType } = event.data;
      return {
        _id: idOf(event),
        name,
        deviceType,
        versions: tree.evolve.treeCreated(tree.initial, event.data).versions,
      };
    },
    treeVersionAdded: evolved('treeVersionAdded'),
    treeNodeAdded: evolved('treeNodeAdded'),
    treeVariablesSet: evolved('treeVariablesSet'),
    treeVariablesDeleted: evolved('treeVariablesDeleted'),
    treeRestored: (_, event) => {
      const { imported: __, ...content } = event.data;
      return { _id: idOf(event), ...content };
    },
    treeDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: {
    name: (doc) => doc.name,
    deviceType: (doc) => doc.deviceType ?? [],
    version: (doc) => doc.versions.map(({ name }) => name),
  },
});
