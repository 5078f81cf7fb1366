import { setImmediate as nextTurn } from 'node:timers/promises';
import { seesAll } from '../../domain/engine/core.ts';
import { allGuards, lastGuard, mayReadGuard, type Reader } from '../engine/guards.ts';
import { keyOf, parkedSpec } from '../engine/parked.ts';
import type { Entry, ReadModel } from '../engine/port.ts';
import { guardsVersions, isGuarded, type Verdicts } from './pastModel.ts';
import type { PastReads } from './pastReads.ts';

type Needs = {
  readonly reads: PastReads;
  /** The read models as of now. They decide who may read. */
  readonly live: Pick<ReadModel, 'guard'>;
  readonly position: number;
  readonly actor: Reader;
};

/**
 * The read models as of a position, as one actor may see them now. A document is judged by what it says now; one that
 * is deleted, by what it said last. Documents that the actor may not read are left out everywhere.
 */
export const pastView = ({ reads, live, position, actor }: Needs): ReadModel => {
  const may = readers({ live, actor });
  const isOpen = (collection: string): boolean => seesAll(actor) || !isGuarded(collection);

  const getMany: ReadModel['getMany'] = async (collection, ids) => {
    const entries = await reads.getMany(position, collection, ids);
    if (isOpen(collection)) return entries.map(withoutGuard);
    const visibleEntries = entries.map((entry) =>
      entry && may(collection, entry.id, entry.guard) ? entry : undefined,
    );
    return visibleEntries.map(withoutGuard);
  };

  /** Which documents of a collection the actor may read. The event loop has turns in between. */
  const verdictsOn = async (collection: string): Promise<Verdicts> => {
    const verdicts: number[] = [];
    for (;;) {
      const some = await reads.guards(position, collection, verdicts.length);
      if (some.length === 0) return Uint8Array.from(verdicts);
      for (const [id, guard] of some) verdicts.push(may(collection, id, guard) ? 1 : 0);
      await nextTurn();
    }
  };

  return {
    get: async (collection, id) => (await getMany(collection, [id]))[0],
    getMany,
    idsNamed: async (collection, name) => {
      const ids = await reads.idsNamed(position, collection, name);
      if (isOpen(collection)) return ids;
      const foundEntries = await getMany(collection, ids);
      return ids.filter((_, at) => foundEntries[at] !== undefined);
    },
    // Rights are decided here, whatever a row asks.
    list: async (collection, { may: _, ...query }) => {
      const verdicts = isOpen(collection) ? undefined : await verdictsOn(collection);
      return reads.list(position, collection, query, verdicts);
    },
    guard: () => null,
    // The past of a position never changes.
    version: () => 0,
  };
};

const withoutGuard = (entry: Entry | undefined): Entry | undefined => {
  if (entry?.guard === undefined) return entry;
  const { guard: _, ...rest } = entry;
  return rest;
};

/**
 * Makes the function that tells whether the actor may read a document, as of now. `then` is the guard that it had: that
 * of a retired one has not changed, and that of a version which followed other documents counts as well.
 */
const readers = ({ live, actor }: Pick<Needs, 'live' | 'actor'>) => {
  const now = mayReadGuard(actor, live);
  const verdicts = new Map<string, boolean>();
  /** Many documents have the same guard. */
  const allows = (guard: string): boolean => {
    const knownVerdict = verdicts.get(guard);
    if (knownVerdict !== undefined) return knownVerdict;
    const verdict = now(guard);
    verdicts.set(guard, verdict);
    return verdict;
  };

  return (collection: string, id: string, then: string | undefined): boolean => {
    const key = collection === parkedSpec.name ? id : keyOf(collection, id);
    const slash = key.indexOf('/');
    const of = key.slice(0, slash);
    const last = lastGuard(live, of, key.slice(slash + 1));
    const isBoth = last === undefined || guardsVersions(of);
    const counts = allGuards([last ?? undefined, isBoth ? then : undefined]);
    return counts === undefined || allows(counts);
  };
};
