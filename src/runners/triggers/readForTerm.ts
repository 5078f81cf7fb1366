import { setMaxListeners } from 'node:events';
import { everySecond } from '../../concurrency/everySecond.ts';
import type { Log } from '../../concurrency/log.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../store/port.ts';
import type { ReadersWindow } from './window.ts';

/** What a reader of the log does in one term. */
export type Reading = {
  /** Where it begins. */
  readonly from: number;
  /** Begins of the types that it wants; all events if not set. */
  readonly types?: readonly string[];
  readonly window: ReadersWindow;
  readonly take: (event: StoredEvent) => Promise<void>;
  /** Called once a second, before the place is kept. */
  readonly tick: () => Promise<void>;
  /** Whether a new place is worth a checkpoint. */
  readonly isWorthKeeping: (kept: number) => boolean;
  /** Ends what is under way. The signal has aborted. */
  readonly ended: () => Promise<void>;
};

/** How a term of reading ends: by its signal, or with a failure. */
export type TermEnd = { readonly signal: AbortSignal; readonly fail: (error: unknown) => void };

type Needs = {
  readonly store: EventStore;
  /** The name of the reader's checkpoint. */
  readonly reader: string;
  readonly begin: (end: TermEnd) => Promise<Reading>;
  readonly log: Log;
};

/**
 * Reads the log for one term as leader, and keeps the place of the reader. It may be ended and begun anew at any moment.
 * Rejects unless the term ends.
 */
export const readForTerm =
  ({ store, reader, begin, log }: Needs) =>
  async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const ending = new AbortController();
    const signal = AbortSignal.any([term, ending.signal]);
    // Each run may wait with it. Node must not warn of many.
    setMaxListeners(0, signal);
    const fail = (error: unknown): void => ending.abort(error);

    const { from, types, window, take, tick, isWorthKeeping, ended } = await begin({ signal, fail });
    let kept = from;
    const keep = async (): Promise<void> => {
      const settled = window.settled();
      if (settled === kept || !isWorthKeeping(kept)) return;
      await store.keepCheckpoint(reader, settled);
      kept = settled;
    };
    const ticking = everySecond(
      async () => {
        await tick();
        await keep();
      },
      (error) => {
        if (error instanceof WrongRevision) fail(error);
        else if (!signal.aborted) log('The place of a reader cannot be kept; it is tried again', { reader, error });
      },
    );
    signal.addEventListener('abort', window.wake);

    try {
      for await (const { events } of store.follow(from, types, signal)) {
        for (const event of events) {
          if (signal.aborted) break;
          await take(event);
        }
        goesOn();
      }
      // Only the end of the term is no failure.
      if (!term.aborted) throw ending.signal.reason ?? new Error('The log can no longer be followed');
    } finally {
      signal.removeEventListener('abort', window.wake);
      ending.abort();
      await ticking.stop();
      await ended();
      await keep().catch(() => undefined);
    }
  };
