import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, Filter, StoredEvent } from '../port.ts';
import type { Reads } from './reads.ts';

/** How a follower learns of new events. */
export type News = {
  /** Position of the newest durable event. */
  head(): number;
  /** Resolves when there may be something new, or the signal has aborted, or the store is closed. */
  next(signal: AbortSignal): Promise<void>;
  /** Lets all that wait for something new look again. */
  wake?(): void;
  /** Events after a position if they are still in memory, else undefined. */
  recent?(after: number): readonly StoredEvent[] | undefined;
  /**
   * Everything after a position up to another, for a follower far behind. Undefined while such a read runs for another
   * follower.
   */
  ahead(after: number, until: number): AsyncIterable<Batch> | undefined;
};

/**
 * A follower that is further behind than this number of positions reads in a thread. To read fewer takes less time than to
 * start a thread.
 */
const far = 20_000;

const mostTypes = 10_000;
const keptEvents = 1024;
const keptLength = 8192;
const batchSize = 128;

/** Keeps the newest events in memory for followers at the end of the log: a limited number, without long events. */
export const newest = (headAtStart: number) => {
  const ring: StoredEvent[] = [];
  let waiting: (() => void)[] = [];
  let head = headAtStart;
  return {
    /** Adds events that have become durable: every event once, in order. */
    add(events: readonly StoredEvent[]): void {
      for (const event of events) {
        head = event.position;
        if (event.data.length + event.metadata.length <= keptLength) ring[event.position % keptEvents] = event;
      }
    },
    head: () => head,
    /** The log was opened again, and ends at this position. Events that were not added are read from the file. */
    reached(position: number): void {
      head = Math.max(head, position);
    },
    wake(): void {
      const woken = waiting;
      waiting = [];
      for (const go of woken) go();
    },
    next: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
      }),
    recent(after: number): readonly StoredEvent[] | undefined {
      const events: StoredEvent[] = [];
      for (let position = after + 1; position <= head && events.length < batchSize; position++) {
        const event = ring[position % keptEvents];
        if (event?.position !== position) break;
        events.push(event);
      }
      return events.length > 0 ? events : undefined;
    },
  };
};

export type Newest = ReturnType<typeof newest>;

/**
 * Yields everything after a position, then new events until the signal aborts or the store is closed. The only state of
 * a follower is its position. It reads the file when the events after its position are no longer in memory.
 */
export async function* follow(
  { reads, news }: { readonly reads: Pick<Reads, 'chunks' | 'closed'>; readonly news: News },
  after: number,
  filter: Filter | undefined,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  let fromFile: ReturnType<Reads['chunks']> | undefined;
  // Types are few, prefixes may be many.
  const passing = new Map<string, boolean>();
  const passes = ({ type }: StoredEvent): boolean => {
    const passes = passing.get(type);
    if (passes !== undefined) return passes;
    const so = !filter || filter.some((prefix) => type.startsWith(prefix));
    if (passing.size < mostTypes) passing.set(type, so);
    return so;
  };
  const fromMemory = (position: number): Batch | undefined => {
    const events = news.recent?.(position);
    const last = events?.at(-1);
    return events && last && { events: events.filter(passes), position: last.position };
  };
  // One listener for all that is waited for: a follower waits very often.
  const wake = (): void => news.wake?.();
  signal.addEventListener('abort', wake);
  try {
    for (let position = after; !signal.aborted && !reads.closed(); ) {
      const head = news.head();
      if (position >= head) {
        await news.next(signal);
        continue;
      }
      const ahead = !filter && head - position > far ? news.ahead(position, head) : undefined;
      if (ahead) {
        for await (const batch of ahead) {
          yield batch;
          position = batch.position;
          if (signal.aborted || reads.closed()) return;
        }
        continue;
      }
      let batch = fromMemory(position);
      if (!batch) {
        fromFile ??= reads.chunks(filter);
        batch = fromFile(position, head);
      }
      yield batch;
      position = batch.position;
      if (position < head) await nextTurn();
    }
  } finally {
    signal.removeEventListener('abort', wake);
  }
}
