import { splitStream } from '../../store/event.ts';
import { projections } from '../all.ts';
import { type Projection, specsOf } from '../engine/define.ts';
import { eventTypes, eventTypesSpec } from '../engine/eventTypes.ts';
import { documentGuard } from '../engine/guards.ts';
import { parkedSpec } from '../engine/parked.ts';
import type { Change, Entry, Query } from '../engine/port.ts';
import { collections } from '../index/collections.ts';

/** An entry whose guard names the document itself, so that its readers can be asked as of now. */
type Kept = Entry & { readonly guardThen?: string };

/** One byte for each document of a guarded collection, in the order of `guards`: 1 if it may be read. */
export type Verdicts = Uint8Array;

const bytesOfObject = 500;

/** About how many bytes a text takes in memory. */
const bytesOf = (text: string): number => (/[^\0-\xff]/.test(text) ? 2 * text.length : text.length);

const bytesAround = ({ id, sorts, filters }: Entry): number => {
  // Each sort field has a list with keys of its own.
  let bytes = bytesOfObject + bytesOf(id);
  for (const value of Object.values(sorts)) bytes += 200 + 4 * bytesOf(value);
  for (const values of Object.values(filters)) for (const value of values) bytes += 50 + bytesOf(value);
  return bytes;
};

/** The documents of a unit as of one position. `bytes` is about what they take in memory. */
export const pastModel = (unit: Unit) => {
  const specs = unit === 'log' ? [eventTypesSpec] : [...projectionsOf(unit).flatMap(specsOf), parkedSpec];
  const documents = collections<Kept>(specs);
  const ordinals = new Map<string, ReadonlyMap<string, number>>();
  let bytes = 0;
  let ofTexts = 0;
  let hasTexts = true;

  const keptOf = (collection: string, entry: Entry): Kept => {
    ofTexts += bytesOf(entry.text);
    bytes += bytesAround(entry);
    const { guard, ...rest } = hasTexts ? entry : { ...entry, text: '' };
    if (!isGuarded(collection)) return rest;
    const own = documentGuard({ collection }, entry.id);
    return guard === undefined ? { ...rest, guard: own } : { ...rest, guard: own, guardThen: guard };
  };

  const asThen = ({ guard: _, guardThen, ...entry }: Kept): Entry =>
    guardThen === undefined ? entry : { ...entry, guard: guardThen };

  const ordinalsOf = (collection: string): ReadonlyMap<string, number> => {
    const ordinalsById = ordinals.get(collection);
    if (ordinalsById) return ordinalsById;
    const newOrdinals = new Map<string, number>();
    for (const { id } of documents.of(collection).all())
      newOrdinals.set(documentGuard({ collection }, id), newOrdinals.size);
    ordinals.set(collection, newOrdinals);
    return newOrdinals;
  };

  return {
    put: (changes: readonly Change[]): void =>
      documents.apply(
        changes.map(({ entry, ...change }) =>
          entry ? { ...change, entry: keptOf(change.collection, entry) } : change,
        ),
      ),
    bytes: (): number => bytes + (hasTexts ? ofTexts : 0),
    hasTexts: (): boolean => hasTexts,
    dropTexts: (): void => {
      hasTexts = false;
      for (const [collection, entry] of [...documents.all()]) documents.of(collection).put({ ...entry, text: '' });
    },
    /** The entry with the guard that it had. Its text is missing if the texts were dropped. */
    get: (collection: string, id: string): Entry | undefined => {
      const entry = documents.of(collection).get(id);
      return entry && asThen(entry);
    },
    idsNamed: (collection: string, name: string): readonly string[] =>
      documents
        .of(collection)
        .named(name)
        .map(({ id }) => id),
    list: (collection: string, query: Omit<Query, 'may'>, verdicts: Verdicts | undefined) => {
      if (!verdicts) return documents.of(collection).page(query);
      const order = ordinalsOf(collection);
      const may = (guard: string): boolean => verdicts[order.get(guard) ?? -1] === 1;
      return documents.of(collection).page({ ...query, may });
    },
    /** Ids and former guards of the documents from one on, in an order that stays. */
    guards: (collection: string, from: number, count: number): readonly (readonly [id: string, guard?: string])[] => {
      const some: (readonly [string, string?])[] = [];
      let at = 0;
      for (const { id, guardThen } of documents.of(collection).all()) {
        if (at >= from + count) break;
        if (at >= from) some.push(guardThen === undefined ? [id] : [id, guardThen]);
        at++;
      }
      return some;
    },
  };
};

export type PastModel = ReturnType<typeof pastModel>;

/** The unit that is folded: the streams of a category, one stream alone, or the whole log. */
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
