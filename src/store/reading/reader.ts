import { setMaxListeners } from 'node:events';
import { type Leadership, type Log, leaderWork, repeating } from '@automation-platform/concurrency';
import { type EventStore, type Filter, type StoredEvent, WrongRevision } from '../port.ts';
import { eventsInFlight, type Partition, type PartitionNeeds, partition, type Taking } from './partition.ts';

/** How often a reader stores its place, and the pause before the second try of an item; 1,000 and 100 ms by default. */
export type Pauses = { readonly placeMs: number; readonly tryMs: number };

/** One reading of the log: it ends with the term of the leader, or with a failure, and is begun anew. */
export type Term = {
  /** The checkpoint at which it begins. */
  readonly from: number;
  /** The checkpoints of the partitions that are behind. */
  readonly behind: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
  /** Ends it: the reader begins anew from its checkpoint. */
  readonly fail: (error: unknown) => void;
  /** Resolves after other work had its turn, if the work has taken long; else undefined. */
  readonly breathe: () => Promise<void> | undefined;
};

export type Reading<Item> = Taking<Item> & {
  /** It gets the events whose types begin so; all events if not set. */
  readonly types?: Filter;
  /** The items that follow from an event. Those of a partition that is behind need not be among them. */
  readonly itemsOf: (
    event: StoredEvent,
    isBehind: (key: string) => boolean,
  ) => readonly Item[] | Promise<readonly Item[]>;
  /** The partition of an item. */
  readonly key: (item: Item) => string;
  /** Called once a second, with the partitions that have something to do. */
  readonly tick?: (partitions: ReadonlyMap<string, unknown>) => void;
};

type Needs<Item> = Pick<PartitionNeeds<Item>, 'backlog'> & {
  readonly store: EventStore;
  /** The name of its checkpoint. */
  readonly name: string;
  /** The nodes that read: the one that leads, or every node. */
  readonly on: Leadership;
  /** Resolves when the read models show what the log held when this process began, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Where it begins in a log that it has never read. */
  readonly first: 'beginning' | 'head';
  /** Called for each reading of the log. */
  readonly begin: (term: Term) => Reading<Item> | Promise<Reading<Item>>;
  /** How many events may be in flight. */
  readonly mostInFlight?: number;
  readonly pauses?: Pauses | undefined;
  /** Milliseconds since some moment, whatever becomes of the clock. */
  readonly elapsed?: () => number;
  /** The line that says that a reading has failed. */
  readonly failure: string;
  readonly log: Log;
};

const longestTurnMs = 10;

/** Lets other work have its turn whenever the work has taken long. */
const breather = (): Term['breathe'] => {
  let since = performance.now();
  return () => {
    if (performance.now() - since < longestTurnMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
};

/**
 * Sets the checkpoint of a reader that has never read the log to its head: what happened before has no consequences.
 * Returns the stored checkpoint.
 */
const beginAtHead = async (store: EventStore, name: string): Promise<number> => {
  const head = await store.head();
  try {
    await store.takeCheckpoint(name);
    await store.keepCheckpoint(name, head);
    return head;
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error;
    return (await store.checkpoint(name)) ?? head;
  }
};

/** Takes the checkpoints of the partitions that are behind. */
const takeBehind = async (store: EventStore, name: string): Promise<ReadonlyMap<string, number>> => {
  const behind = new Map<string, number>();
  for (const each of (await store.checkpointsOf(name)).keys()) {
    const position = await store.takeCheckpoint(each);
    if (position !== undefined) behind.set(each.slice(name.length + 1), position);
  }
  return behind;
};

/**
 * Reads the log and carries out what follows from its events: each item once it is its turn in its partition, again
 * until it is done or parked (docs/decisions/readers.md). A reading may end and begin anew at any moment.
 */
export const reader = <Item>(needs: Needs<Item>) => {
  const { store, name, begin, backlog, mostInFlight = 1000, pauses, elapsed = () => performance.now(), log } = needs;
  /** The work that the present reading has under way. */
  let current: { readonly partitions: ReadonlyMap<string, Partition<Item>>; readonly acked: () => number } | undefined;

  /** Reads until the term ends. Rejects unless it does. */
  const read = async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const ending = new AbortController();
    const signal = AbortSignal.any([term, ending.signal]);
    // Each item may wait with it.
    setMaxListeners(0, signal);
    const fail = (error: unknown): void => ending.abort(error);
    const breathe = breather();

    // From here on, a process that has led before and does not know better can move none of the checkpoints.
    const stored = await store.takeCheckpoint(name);
    const from = stored ?? (needs.first === 'head' ? await beginAtHead(store, name) : 0);
    const behind = backlog ? await takeBehind(store, name) : new Map<string, number>();
    const { types, itemsOf, key, tick, ...taking } = await begin({ from, behind, signal, fail, breathe });

    const inFlight = eventsInFlight(from);
    const partitions = new Map<string, Partition<Item>>();
    const partitionNeeds: PartitionNeeds<Item> = {
      ...taking,
      backlog,
      store: (partitionKey, position) => store.keepCheckpoint(`${name}:${partitionKey}`, position),
      inFlight,
      away: () => store.fault() !== undefined || !store.connected(),
      fail,
      signal,
      tryMs: pauses?.tryMs,
      elapsed,
      breathe,
    };
    const partitionOf = (partitionKey: string, checkpoint?: number): Partition<Item> => {
      const partitionOfKey = partitions.get(partitionKey) ?? partition(partitionKey, partitionNeeds, checkpoint);
      partitions.set(partitionKey, partitionOfKey);
      return partitionOfKey;
    };
    const isBehind = (partitionKey: string): boolean => partitions.get(partitionKey)?.isBehind() === true;

    /** The last event that is worth a checkpoint. A checkpoint may be an event, which is worth none. */
    let worth = from;
    const takeEvent = (event: StoredEvent, found: readonly Item[]): void => {
      // A partition that is behind reads its items by itself.
      const items = found.length === 0 ? found : found.filter((item) => !isBehind(key(item)));
      const before = inFlight.position();
      const at = event.position;
      if (!event.stream.startsWith('checkpoint-')) worth = at;
      const acks = inFlight.take(at, items.length);
      for (const [n, ack] of acks.entries()) {
        const item = items[n] as Item;
        partitionOf(key(item)).add(item, { at, before, ack });
      }
    };

    let checkpoint = from;
    const storeCheckpoint = async (): Promise<void> => {
      const acked = inFlight.acked();
      if (acked === checkpoint || worth <= checkpoint) return;
      await store.keepCheckpoint(name, acked);
      checkpoint = acked;
    };
    const ticking = repeating(
      async () => {
        // Together: what they store shares commits.
        await Promise.all([...partitions.values()].map((each) => each.tick()));
        for (const [each, { isIdle }] of partitions) if (isIdle()) partitions.delete(each);
        tick?.(partitions);
        await storeCheckpoint();
      },
      (error) => {
        if (error instanceof WrongRevision) fail(error);
        else if (!signal.aborted)
          log('The place of a reader cannot be kept; it is tried again', { reader: name, error });
      },
      pauses?.placeMs,
    );
    signal.addEventListener('abort', inFlight.wake);
    current = { partitions, acked: inFlight.acked };

    try {
      for (const [each, position] of behind) partitionOf(each, position);
      for await (const { events } of store.follow(from, types, signal)) {
        for (const event of events) {
          if (signal.aborted) break;
          const found = itemsOf(event, isBehind);
          takeEvent(event, found instanceof Promise ? await found : found);
          while (inFlight.size() >= mostInFlight && !signal.aborted) await inFlight.change();
          await breathe();
        }
        goesOn();
      }
      // Only the end of the term is no failure.
      if (!term.aborted) throw ending.signal.reason ?? new Error('The log can no longer be followed');
    } finally {
      signal.removeEventListener('abort', inFlight.wake);
      ending.abort();
      await ticking.stop();
      current = undefined;
      await Promise.all([...partitions.values()].map((each) => each.ended()));
      await storeCheckpoint().catch(() => undefined);
    }
  };

  const { start, stop, stopping } = leaderWork({
    leadership: needs.on,
    ready: needs.ready,
    work: read,
    pauseMs: 1000,
    longestPauseMs: 5000,
    onFailure: (error, isNew) => {
      if (isNew) log(needs.failure, { error });
    },
  });

  const all = (): readonly Partition<Item>[] => [...(current?.partitions.values() ?? [])];

  return {
    start,
    /** Begins nothing more, and waits for what is under way. The rest is left to the next start or leader. */
    stop,
    /** Aborts when it is to stop. */
    stopping,
    /** True if it has never read the log. */
    isNew: async (): Promise<boolean> => (await store.checkpoint(name)) === undefined,
    /** Begins at the head of the log. Returns the checkpoint. */
    beginAtHead: (): Promise<number> => beginAtHead(store, name),
    /** How many items are in flight, and how many partitions are behind. Only the node that reads knows. */
    status: (): { readonly inFlight: number; readonly behind: number } => ({
      inFlight: all().reduce((sum, each) => sum + each.size(), 0),
      behind: all().filter((each) => each.isBehind()).length,
    }),
    /** The position up to which all is acknowledged, also in partitions that are behind; undefined: it does not read. */
    acked: (): number | undefined =>
      current && all().reduce((least, each) => Math.min(least, each.acked() ?? Infinity), current.acked()),
  };
};
