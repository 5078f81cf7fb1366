import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { hidden, type Referrer } from '../../domain/engine/references.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { mayRead } from './access.ts';
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

/** A referrer. Its name is replaced if the actor may not see it. */
export const referrerOf = (kind: string, name: string, gbac: Gbac, actor: Actor): Referrer => ({
  kind,
  name: mayRead(actor, gbac) ? name : hidden,
});
