import { lruCache } from '@automation-platform/concurrency';
import { timeOf } from '../../store/anyEvent.ts';
import { splitType } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { type Collection, entryOf } from './define.ts';
import type { Change, CollectionSpec, Entry } from './port.ts';

/** Events of one source and topic: how many there are, and when the last one happened (null: none has). */
export type EventType = {
  readonly source: string;
  readonly topic: string;
  readonly count: number;
  readonly last: string | null;
};

/**
 * The known types of events. They are counted from the whole log, so a document here depends on many streams
 * (docs/decisions/event-types.md).
 */
export const eventTypes: Collection<EventType, 'source' | 'topic', 'source' | 'topic'> = {
  collection: 'events',
  sorts: { source: ({ source }) => source, topic: ({ topic }) => topic },
  filters: { source: ({ source }) => source, topic: ({ topic }) => topic },
};

export const eventTypesSpec: CollectionSpec = {
  name: eventTypes.collection,
  sorts: Object.keys(eventTypes.sorts),
  filters: Object.keys(eventTypes.filters),
};

/** Which events are counted. */
export type Counted = {
  /** Types (`<source>:<topic>`) that are listed even before the first event. */
  readonly known: readonly string[];
  readonly counts: (event: Pick<StoredEvent, 'stream' | 'type'>) => boolean;
};

type Tally = { count: number; last: string | null; newest: StoredEvent | undefined };

const mostKept = 10_000;

/**
 * Counts events by type. Like the projector it takes every event once and in order, and its changes are written in the
 * same step as the checkpoint. So the counts are exact, whatever stops in between.
 */
export const newEventCounts = (
  { known, counts }: Counted,
  read: (collection: string, id: string) => Promise<Entry | undefined>,
) => {
  const tallies = lruCache<Tally>(mostKept);
  const changed = new Map<string, Tally>();

  const add = (type: string, tally: Tally, event: StoredEvent): void => {
    tally.count++;
    tally.newest = event;
    changed.set(type, tally);
  };

  return {
    /** Forgets everything. `empty` says that the read store holds nothing; then the known types are written first. */
    reset: (empty: boolean): void => {
      tallies.clear();
      changed.clear();
      if (empty) for (const type of known) changed.set(type, { count: 0, last: null, newest: undefined });
    },
    /** Returns a promise if the read store has to be asked. */
    take: (event: StoredEvent): Promise<void> | undefined => {
      if (!counts(event)) return undefined;
      const { type } = event;
      const tally = changed.get(type) ?? tallies.get(type);
      if (tally) return void add(type, tally, event);
      return read(eventTypes.collection, type).then((entry) => {
        const { count, last } = entry ? (JSON.parse(entry.text) as EventType) : { count: 0, last: null };
        add(type, { count, last, newest: undefined }, event);
      });
    },
    *drain(): Generator<Change> {
      for (const [type, tally] of changed) {
        tally.last = (tally.newest && timeOf(tally.newest)) ?? tally.last;
        tally.newest = undefined;
        const { count, last } = tally;
        const entry = entryOf(eventTypes, type, { ...splitType(type), count, last }, 0);
        yield { collection: eventTypes.collection, id: type, entry };
        tallies.set(type, tally);
      }
      changed.clear();
    },
  };
};
