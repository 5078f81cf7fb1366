import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyOf } from '../engine/parked.ts';
import type { Change, CollectionSpec, ReadStore } from '../engine/port.ts';
import type { Projections } from '../engine/run.ts';
import { type Compared, isSameEntry } from '../foldLog.ts';
import type { Folder } from './folder.ts';
import type { Folded } from './foldWorker.ts';

type Needs = {
  readonly model: Pick<ReadStore, 'getMany' | 'ids' | 'mend'>;
  readonly run: Pick<Projections, 'position' | 'between'>;
  readonly touched: Pick<Touching, 'begin' | 'end' | 'isTouched' | 'count' | 'take'>;
  readonly collections: readonly CollectionSpec[];
  readonly folder: Folder;
};

const fewTouched = 500;
const mostRounds = 20;
const idsAtOnce = 1000;

const byCollection = (documents: readonly Folded[]): ReadonlyMap<string, readonly Folded[]> => {
  const groups = new Map<string, Folded[]>();
  for (const one of documents) {
    const group = groups.get(one[0]);
    if (group) group.push(one);
    else groups.set(one[0], [one]);
  }
  return groups;
};

/**
 * Compares the live read models with a fold of the log, document by document, while they change, and puts those right
 * that differ. Documents that change meanwhile are compared in later rounds. The last round is made while nothing is
 * projected: it is short, and reads go on.
 */
export const rebuild = async ({ model, run, touched, collections, folder }: Needs): Promise<readonly Compared[]> => {
  /** The documents that differ, by key. */
  const differing = new Map<string, Change>();
  const earlier = new Set<string>();

  const compare = async (documents: readonly Folded[]): Promise<void> => {
    for (const [collection, group] of byCollection(documents)) {
      const live = await model.getMany(
        collection,
        group.map(([, id]) => id),
      );
      for (const [n, [, id, entry]] of group.entries()) {
        const key = keyOf(collection, id);
        earlier.add(key);
        // It has changed since, so a later round compares it.
        if (touched.isTouched(collection, id)) continue;
        if (isSameEntry(entry, live[n])) differing.delete(key);
        else differing.set(key, entry ? { collection, id, entry } : { collection, id });
      }
    }
    await nextTurn();
  };

  const compareThese = async (ids: readonly Named[]): Promise<void> => {
    for (let at = 0; at < ids.length; at += idsAtOnce) await compare(await folder.these(ids.slice(at, at + idsAtOnce)));
  };

  /** Compares everything with the fold up to the present position. */
  const compareAll = async (): Promise<void> => {
    touched.begin();
    await folder.foldTo(run.position());
    for await (const some of folder.all()) await compare(some);
    const more: Named[] = [];
    for (const { name } of collections)
      for (const id of model.ids(name)) if (!earlier.has(keyOf(name, id))) more.push([name, id]);
    await compareThese(more);
  };

  /** Compares what has changed since the last round. */
  const compareTouched = async (): Promise<void> => {
    const ids = touched.take();
    await folder.foldTo(run.position());
    await compareThese(ids);
  };

  /** Compares also what differed before: it may have changed in the fold and not in the live read models. */
  const compareLast = async (): Promise<void> => {
    const differed = Array.from(differing.values(), ({ collection, id }) => [collection, id] as const);
    await compareTouched();
    await compareThese(differed);
  };

  try {
    await compareAll();
    for (let round = 0; touched.count() > fewTouched && round < mostRounds; round++) await compareTouched();
    await run.between(async () => {
      await compareLast();
      await model.mend([...differing.values()]);
    });
    return report(await folder.counts(), [...differing.values()], collections);
  } finally {
    touched.end();
  }
};

const report = (
  counts: Readonly<Record<string, number>>,
  changes: readonly Change[],
  collections: readonly CollectionSpec[],
): readonly Compared[] =>
  collections
    .map(({ name }) => ({
      name,
      documents: counts[name] ?? 0,
      differences: changes
        .filter(({ collection }) => collection === name)
        .map(({ id }) => id)
        .sort(),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

/** A document by collection and id. */
export type Named = readonly [collection: string, id: string];

/** Notes which documents a read store changes, while a caller wants to know. */
export const touching = (model: ReadStore) => {
  let touched: Map<string, Named> | undefined;

  const documentsIn = ({ collection, id, wholePart }: Change): readonly Named[] =>
    wholePart ? Array.from(model.ids(collection, id), (child) => [collection, child] as const) : [[collection, id]];

  const note = (documents: readonly Named[]): void => {
    if (touched) for (const [collection, id] of documents) touched.set(keyOf(collection, id), [collection, id]);
  };

  return {
    model: {
      ...model,
      // They are noted twice, because noting may begin while a change is being written.
      apply: async (changes, from, to) => {
        const documents = changes.flatMap(documentsIn);
        note(documents);
        const applied = await model.apply(changes, from, to);
        note(documents);
        return applied;
      },
    } satisfies ReadStore,
    /** Begins to note. */
    begin: (): void => {
      touched = new Map();
    },
    end: (): void => {
      touched = undefined;
    },
    isTouched: (collection: string, id: string): boolean => touched?.has(keyOf(collection, id)) ?? false,
    /** How many documents were noted since the last `take`. */
    count: (): number => touched?.size ?? 0,
    /** The documents that were noted; the notes begin anew. */
    take: (): readonly Named[] => {
      const touchedDocuments = [...(touched?.values() ?? [])];
      touched = new Map();
      return touchedDocuments;
    },
  };
};

type Touching = ReturnType<typeof touching>;
