import { Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';
import { texts, topicsOf } from '../engine/topics.ts';

export const treeDeletionSchema = Type.Object(
  { treeIds: Type.Array(name('Id of a tree'), { description: 'Trees to delete: all or none', maxItems: 1000 }) },
  { additionalProperties: false, title: 'TreeDeletion', description: 'Trees to delete' },
);

const decision = Type.Object({ treeIds: texts });
export type TreesDeleted = SchemaData<typeof decision>;

const topics = topicsOf({
  treesDeleted: ['Golden configuration trees are to be deleted', decision],
});
type TreeDeletionEvent = EventOf<typeof topics>;

/** The decision to delete several trees, all or none. It is carried out in the streams of the trees. */
export const treeDeletion = aggregate<{ readonly decided: boolean }, TreeDeletionEvent>({
  area: 'configuration-manager',
  category: 'treeDeletion',
  topics,
  initial: { decided: false },
  evolve: { treesDeleted: () => ({ decided: true }) },
  exists: ({ decided }) => decided,
});

/** `missing`: trees that do not exist. `referrers`: the plans that name one of the trees. */
type TreeDeletionRefs = { readonly missing: readonly string[]; readonly referrers: readonly Referrer[] };

export const decideTreeDeletion = (
  _: unknown,
  { treeIds }: { readonly treeIds: readonly string[] },
  { refs: { missing, referrers } }: Context<TreeDeletionRefs>,
): readonly TreeDeletionEvent[] => {
  refuseUnknownIds(missing, 'golden configuration tree', '/treeIds');
  refuseReferred(referrers, 'deleted');
  return treeIds.length > 0 ? [{ topic: 'treesDeleted', data: { treeIds: [...new Set(treeIds)] } }] : [];
};
