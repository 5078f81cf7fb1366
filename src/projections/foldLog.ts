import { isDeepStrictEqual } from 'node:util';
import type { ForeignSources } from '../domain/sources.ts';
import { splitStream } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';
import { projections } from './all.ts';
import { countedEvents } from './countedEvents.ts';
import type { Checkpoint, Entry } from './engine/port.ts';
import { collectionsOf, projector } from './engine/projector.ts';
import { checkpointAt, resume } from './engine/run.ts';
import { type MemoryOptions, memoryReadStore } from './index/memory.ts';

const categories = new Set(projections.map(({ of }) => of.category));

/** True if a projection may use the event. Other events are not needed for a snapshot. */
export const isProjected = ({ stream, type }: StoredEvent): boolean =>
  type.startsWith('@platform/') && categories.has(splitStream(stream).category);

type Folding = {
  /** Gives the state from which folding begins; without it, that is the beginning of the log. */
  readonly load?: MemoryOptions['load'];
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources | undefined;
};

/** Folds a log into read models in memory, beside those that serve requests. */
export const foldLog = async (log: EventStore, { load, foreign }: Folding = {}) => {
  const specs = { collections: collectionsOf(projections) };
  const model = memoryReadStore(load ? { ...specs, load } : specs);
  const documents = projector(projections, {
    read: model.forRunner.get,
    list: model.forRunner.list,
    log: () => undefined,
    counted: countedEvents(foreign),
  });
  let at = await resume(log, model, documents, () => undefined);

  return {
    model,
    at: (): Checkpoint => at,
    /** Folds what the log has up to a position, or up to its end. */
    foldTo: async (until = Infinity, report: (position: number) => void = () => undefined): Promise<void> => {
      const keep = async (to: Checkpoint): Promise<void> => {
        if (to.position > at.position) await model.apply(documents.drain(), at.position, to);
        at = to;
      };
      let to = at;
      for await (const batch of log.readAll(at.position)) {
        const events = batch.events.filter(({ position }) => position <= until);
        await documents.take(events);
        to = checkpointAt(Math.min(batch.position, until), events);
        report(to.position);
        if (batch.position >= until) break;
        if (documents.isFull()) await keep(to);
      }
      // In few steps, most documents are written as JSON once.
      await keep(to);
    },
  };
};

export type Fold = Awaited<ReturnType<typeof foldLog>>;

/** The result of a comparison of a collection: how many documents it should have, and the ids of those that differ. */
export type Compared = { readonly name: string; readonly documents: number; readonly differences: readonly string[] };

/** True if two entries hold and find the same document. Members may come in another order. */
export const isSameEntry = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.text === other.text && isDeepStrictEqual(one, other);

const idsIn = (fold: Fold): ReadonlyMap<string, ReadonlySet<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const [collection, { id }] of fold.model.entries())
    ids.set(collection, (ids.get(collection) ?? new Set()).add(id));
  return ids;
};

/** The documents of two folds, compared one by one. Differences are sorted. */
export const compareFolds = async (one: Fold, other: Fold): Promise<readonly Compared[]> => {
  const [ours, theirs] = [idsIn(one), idsIn(other)];
  const results: Compared[] = [];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const documents = ours.get(name)?.size ?? 0;
    const differences: string[] = [];
    for (const id of new Set([...(ours.get(name) ?? []), ...(theirs.get(name) ?? [])])) {
      const [here, there] = [await one.model.get(name, id), await other.model.get(name, id)];
      if (!isSameEntry(here, there)) differences.push(id);
    }
    results.push({ name, documents, differences: differences.sort() });
  }
  return results.sort((a, b) => (a.name < b.name ? -1 : 1));
};
