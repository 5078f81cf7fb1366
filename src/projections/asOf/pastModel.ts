import { specsOf } from '../engine/define.ts';
import { eventTypesSpec } from '../engine/eventTypes.ts';
import { documentGuard } from '../engine/guards.ts';
import { parkedSpec } from '../engine/parked.ts';
import type { Change, Entry, Query } from '../engine/port.ts';
import { collections } from '../index/collections.ts';
import { isGuarded, projectionsOf, type Unit } from './units.ts';

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
  const kept = collections<Kept>(specs);
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
    const known = ordinals.get(collection);
    if (known) return known;
    const made = new Map<string, number>();
    for (const { id } of kept.of(collection).all()) made.set(documentGuard({ collection }, id), made.size);
    ordinals.set(collection, made);
    return made;
  };

  return {
    put: (changes: readonly Change[]): void =>
      kept.apply(
        changes.map(({ entry, ...change }) =>
          entry ? { ...change, entry: keptOf(change.collection, entry) } : change,
        ),
      ),
    bytes: (): number => bytes + (hasTexts ? ofTexts : 0),
    hasTexts: (): boolean => hasTexts,
    dropTexts: (): void => {
      hasTexts = false;
      for (const [collection, entry] of [...kept.all()]) kept.of(collection).put({ ...entry, text: '' });
    },
    /** The entry with the guard that it had. Its text is missing if the texts were dropped. */
    get: (collection: string, id: string): Entry | undefined => {
      const entry = kept.of(collection).get(id);
      return entry && asThen(entry);
    },
    idsNamed: (collection: string, name: string): readonly string[] =>
      kept
        .of(collection)
        .named(name)
        .map(({ id }) => id),
    list: (collection: string, query: Omit<Query, 'may'>, verdicts: Verdicts | undefined) => {
      if (!verdicts) return kept.of(collection).page(query);
      const order = ordinalsOf(collection);
      const may = (guard: string): boolean => verdicts[order.get(guard) ?? -1] === 1;
      return kept.of(collection).page({ ...query, may });
    },
    /** Ids and former guards of the documents from one on, in an order that stays. */
    guards: (collection: string, from: number, count: number): readonly (readonly [id: string, guard?: string])[] => {
      const some: (readonly [string, string?])[] = [];
      let at = 0;
      for (const { id, guardThen } of kept.of(collection).all()) {
        if (at >= from + count) break;
        if (at >= from) some.push(guardThen === undefined ? [id] : [id, guardThen]);
        at++;
      }
      return some;
    },
  };
};

export type PastModel = ReturnType<typeof pastModel>;
