import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { hidden, type Referrer } from '../../domain/engine/references.ts';
import { wordsOf } from '../../domain/engine/resource.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Tools } from './define.ts';

/** The names that no document of the collection has. */
export const unknownNames = async <Doc extends { readonly name: string }>(
  { query }: Tools,
  collection: Collection<Doc, string, 'name'>,
  names: readonly string[],
): Promise<readonly string[]> => {
  if (names.length === 0) return [];
  const found = await query(collection, { any: names.map((value) => ({ field: 'name', op: 'equals', value })) });
  return names.filter((name) => !found.some((doc) => doc.name === name));
};

/** A document that refers to something. Its name is replaced if the actor may not see it. */
export const referrerOf = <Doc>(
  projection: Pick<Projection<Doc>, 'of' | 'word' | 'sorts' | 'guard'>,
  doc: Doc & { readonly _id?: string },
  actor: Actor,
  { mayRead }: Pick<Tools, 'mayRead'>,
): Referrer => ({
  kind: projection.word ?? wordsOf(projection.of.category),
  name: mayRead(projection, doc, actor) ? (projection.sorts.name?.(doc) ?? '') : hidden,
  ...defined({ stream: doc._id === undefined ? undefined : `${projection.of.category}-${doc._id}` }),
});
