import { splitStream } from '../../store/event.ts';
import { projections } from '../all.ts';
import type { Projection } from '../engine/define.ts';
import { eventTypes } from '../engine/eventTypes.ts';
import { parkedSpec } from '../engine/parked.ts';

/** What is folded together: the streams of a category, one stream alone, or the whole log. */
export type Unit = { readonly category: string } | { readonly stream: string } | 'log';

const byCollection = new Map<string, { readonly category: string; readonly isChild: boolean }>();
const guarded = new Set([parkedSpec.name]);
const versioned = new Set<string>();
for (const { collection, of, children, guard, guardsVersions } of projections) {
  byCollection.set(collection, { category: of.category, isChild: false });
  if (children) byCollection.set(children.collection, { category: of.category, isChild: true });
  if (guard) guarded.add(collection);
  if (guardsVersions) versioned.add(collection);
}

/** True if the documents of a collection have guards. */
export const isGuarded = (collection: string): boolean => guarded.has(collection);

/** True if the guard that a document had at the time counts, too. */
export const guardsVersions = (collection: string): boolean => versioned.has(collection);

/** The text before the first slash, and the text after it. */
const parts = (text: string): readonly [string, string] => {
  const slash = text.indexOf('/');
  return [text.slice(0, slash), text.slice(slash + 1)];
};

const placeOf = (collection: string) => {
  const found = byCollection.get(collection);
  if (!found) throw new Error(`No projection fills the collection ${collection}`);
  return found;
};

/** The unit that has a document, or the documents with a name. */
export const unitOf = (collection: string, idOrName: string): Unit => {
  if (collection === eventTypes.collection) return 'log';
  if (collection === parkedSpec.name) return unitOf(...parts(idOrName));
  const { category, isChild } = placeOf(collection);
  return isChild ? { stream: `${category}-${parts(idOrName)[0]}` } : { category };
};

/** The unit that has a list; `part` names the parent of child documents. */
export const unitOfList = (collection: string, part: string | undefined): Unit =>
  part === undefined ? unitOf(collection, '') : unitOf(collection, `${part}/`);

/** The stream of a document. Throws if it depends on the whole log. */
export const streamOf = (collection: string, id: string): string => {
  const unit = unitOf(collection, id);
  if (unit === 'log') throw new Error(`The collection ${collection} has no streams of its own`);
  if ('stream' in unit) return unit.stream;
  return `${unit.category}-${collection === parkedSpec.name ? parts(id)[1] : id}`;
};

export const nameOfUnit = (unit: Unit): string => {
  if (unit === 'log') return 'log';
  return 'stream' in unit ? unit.stream : `${unit.category}-*`;
};

/** The projections that a unit's events concern. */
export const projectionsOf = (unit: Unit): readonly Projection[] => {
  if (unit === 'log') return [];
  const category = 'stream' in unit ? splitStream(unit.stream).category : unit.category;
  return projections.filter(({ of }) => of.category === category);
};
