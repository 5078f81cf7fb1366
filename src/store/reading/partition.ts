import { persistently } from './persistently.ts';

/** The items of one partition from a position on, which it reads by itself. */
export type Backlog<Item> = {
  /** All events up to here were read. */
  readonly position: () => number;
  /** Reads on until it has `most` items, or has come to the end of the log. `before`: the position before the event. */
  readonly read: (most: number, take: (item: Item, before: number) => void) => Promise<void>;
};

/** How far a partition is, as `take` sees it. */
export type Pace = {
  /** True if the partition has a checkpoint of its own. */
  readonly isBehind: () => boolean;
  /** The partition must wait: it gets a checkpoint of its own. */
  readonly leave: () => void;
};

/**
 * Acknowledged at once (undefined), or when `acked` resolves. Then the next item may begin already; the items of a
 * partition are acknowledged in their order.
 */
export type Outcome = { readonly acked: Promise<void> } | undefined;

export type Taking<Item> = {
  /** Carries an item out. The outcome must be the same if it is done again. */
  readonly take: (item: Item, pace: Pace) => Promise<Outcome>;
  /** The handling of failures. Without it, the reader begins anew after any. */
  readonly retry?: {
    /** Parks an item that fails for good. */
    readonly park: (item: Item, error: unknown, attempts: number) => Promise<void>;
    /** Called when an item begins to wait for what is not its fault. */
    readonly onWait: (item: Item, error: unknown) => void;
    readonly onFailure: (item: Item, error: unknown, attempts: number) => void;
  };
};

export type PartitionNeeds<Item> = Taking<Item> & {
  /** Reads on for a partition that is late; without it, none leaves the common reader. */
  readonly backlog?: ((key: string, from: number) => Backlog<Item>) | undefined;
  /** Stores the partition's own checkpoint; undefined removes it. Resolves when that is durable. */
  readonly store: (key: string, position: number | undefined) => Promise<void>;
  readonly inFlight: EventsInFlight;
  /** True while the log cannot be reached, or takes nothing. */
  readonly away: () => boolean;
  /** Called with an error after which the reader must begin anew. */
  readonly fail: (error: unknown) => void;
  /** Aborts when this reading of the log ends. */
  readonly signal: AbortSignal;
  /** The pause before the second try of an item, in milliseconds. */
  readonly tryMs?: number | undefined;
  /** Milliseconds since some moment, whatever becomes of the clock. */
  readonly elapsed: () => number;
  /** Resolves after other work had its turn, if this work has taken long; else undefined. */
  readonly breathe: () => Promise<void> | undefined;
};

type Entry<Item> = { readonly item: Item; readonly before: number; readonly since: number; readonly ack?: Ack };

/** An item that is not acknowledged within this time makes its partition leave the common reader. */
const lateMs = 3000;
const mostWaiting = 100;

/** Carries an item out, however often it fails; parks it after a permanent failure. */
const takeOrPark = <Item>(
  item: Item,
  pace: Pace,
  { take, retry, away, tryMs, signal }: Pick<PartitionNeeds<Item>, 'take' | 'retry' | 'away' | 'tryMs' | 'signal'>,
): Promise<Outcome> => {
  const work = () => take(item, pace);
  if (!retry) return work();
  return persistently<Outcome>({
    work,
    giveUp: async (error, attempts) => {
      await retry.park(item, error, attempts);
      return undefined;
    },
    waits: (error) => retry.onWait(item, error),
    failed: (error, attempts) => {
      retry.onFailure(item, error, attempts);
      pace.leave();
    },
    away,
    pauseMs: tryMs,
    signal,
  });
};

/**
 * The items of one partition, carried out one after the other.
 *
 * A partition that must wait falls behind: it gets a checkpoint of its own. Once that is stored, the common reader no
 * longer waits for it. When the partition has done all that it was given, it reads on by itself from where the common
 * reader gave it no more. It gives the checkpoint up when it has come to where the common reader is.
 */
export const partition = <Item>(key: string, needs: PartitionNeeds<Item>, checkpoint?: number) => {
  const { inFlight, signal, elapsed } = needs;
  const entries = new Set<Entry<Item>>();
  /** Those that have not begun. */
  const queue: Entry<Item>[] = [];
  let backlog = checkpoint === undefined ? undefined : needs.backlog?.(key, checkpoint);
  let storedCheckpoint = checkpoint;
  /** The partition has read so far by itself. That may be further than the common reader has come. */
  let readUpTo = 0;
  let storing = Promise.resolve();
  let working: Promise<void> | undefined;
  let lastAck: Promise<void> = Promise.resolve();

  const first = (): Entry<Item> | undefined => entries.values().next().value;

  /** All events up to here are acknowledged for this partition; undefined while the common reader speaks for it. */
  const acked = (): number | undefined => backlog && (first()?.before ?? backlog.position());

  const acknowledge = (entry: Entry<Item>): void => {
    entries.delete(entry);
    entry.ack?.();
  };

  /** Stores the checkpoint as it is when it is this call's turn. Then the common reader need not wait for the items. */
  const storeCheckpoint = (): Promise<void> => {
    const mine = storing.then(async () => {
      const position = acked();
      const covered = position === undefined ? [] : [...entries];
      if (position !== storedCheckpoint) await needs.store(key, position);
      storedCheckpoint = position;
      for (const { ack } of covered) ack?.();
    });
    storing = mine.catch(() => undefined);
    return mine;
  };

  /** Leaves the common reader. If the checkpoint cannot be stored, the reader begins anew. */
  const leave = (): void => {
    if (backlog || !needs.backlog) return;
    backlog = needs.backlog(key, inFlight.position());
    storeCheckpoint().catch(needs.fail);
    begin();
  };

  const pace: Pace = { isBehind: () => backlog !== undefined, leave };

  const carryOut = async (entry: Entry<Item>): Promise<void> => {
    const outcome = await takeOrPark(entry.item, pace, needs);
    if (!outcome) return acknowledge(entry);
    lastAck = outcome.acked;
    lastAck.then(
      () => acknowledge(entry),
      () => undefined,
    );
  };

  /** Reads on. Returns false once there is nothing more to do: the common reader speaks for this partition again. */
  const readOn = async (own: Backlog<Item>): Promise<boolean> => {
    await own.read(mostWaiting, (item, before) => {
      const entry = { item, before, since: elapsed() };
      entries.add(entry);
      queue.push(entry);
    });
    if (queue.length > 0) return true;
    // The checkpoint must not go while items wait to be acknowledged.
    if (entries.size > 0) await lastAck;
    else if (own.position() >= inFlight.position()) {
      readUpTo = own.position();
      backlog = undefined;
      return false;
    }
    return true;
  };

  const work = async (): Promise<void> => {
    for (;;) {
      await needs.breathe();
      signal.throwIfAborted();
      const entry = queue.shift();
      if (entry) await carryOut(entry);
      else if (!backlog) return;
      else if (!(await readOn(backlog))) return storeCheckpoint();
    }
  };

  /** Works until there is nothing to do. */
  const begin = (): void => {
    working ??= work()
      .catch((error: unknown) => {
        if (!signal.aborted) needs.fail(error);
      })
      .finally(() => {
        working = undefined;
        if (!signal.aborted && (queue.length > 0 || backlog)) begin();
      });
  };

  if (backlog) begin();

  return {
    isBehind: pace.isBehind,
    acked,
    /** How many items are not acknowledged. */
    size: (): number => entries.size,
    /** True if nothing would be lost with this partition. */
    isIdle: (): boolean =>
      entries.size === 0 && !backlog && storedCheckpoint === undefined && !working && readUpTo <= inFlight.position(),
    /** Takes an item from the common reader. It may have carried it out before. `at`: the position of its event. */
    add: (
      item: Item,
      { at, before, ack }: { readonly at: number; readonly before: number; readonly ack: Ack },
    ): void => {
      if (at <= readUpTo) {
        ack();
        return;
      }
      const entry: Entry<Item> = { item, before, since: elapsed(), ack };
      entries.add(entry);
      queue.push(entry);
      begin();
    },
    /** To be called once a second. Falls behind if an item takes long; stores the checkpoint. */
    tick: async (): Promise<void> => {
      if (!backlog && elapsed() - (first()?.since ?? Infinity) > lateMs) leave();
      if (acked() !== storedCheckpoint) await storeCheckpoint();
    },
    ended: async (): Promise<void> => {
      await working;
      await storing;
    },
  };
};

export type Partition<Item> = ReturnType<typeof partition<Item>>;

/** Acknowledges one item of an event. Called again, it changes nothing. */
export type Ack = () => void;

/** An event that was taken, and the number of its items that are not acknowledged. */
type Taken = { readonly before: number; remaining: number };

const none: readonly Ack[] = [];

/** The events that a reader has taken. Its checkpoint may pass one once all its items are acknowledged. */
export const eventsInFlight = (from: number) => {
  const batch: Taken[] = [];
  let position = from;
  let waiting: (() => void)[] = [];

  const wake = (): void => {
    while (batch[0]?.remaining === 0) batch.shift();
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };

  const ackOf = (event: Taken): Ack => {
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      event.remaining--;
      wake();
    };
  };

  return {
    /** The position up to which all events were taken. */
    position: (): number => position,
    /** All events up to here are acknowledged. */
    acked: (): number => batch[0]?.before ?? position,
    /** How many events were taken since the first that is not acknowledged, this one included. */
    size: (): number => batch.length,
    /** Resolves once something is acknowledged, or after `wake`. */
    change: (): Promise<void> => new Promise((resolve) => waiting.push(resolve)),
    wake,
    /** Takes the next event, with the number of its items; returns the acknowledgement of each. */
    take: (at: number, items: number): readonly Ack[] => {
      const event: Taken = { before: position, remaining: items };
      position = at;
      if (items === 0) return none;
      batch.push(event);
      return Array.from({ length: items }, () => ackOf(event));
    },
  };
};

type EventsInFlight = ReturnType<typeof eventsInFlight>;
