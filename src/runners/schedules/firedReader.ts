import { setMaxListeners } from 'node:events';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { splitStream } from '../../store/event.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { schedulesReader } from '../../store/readers.ts';
import { beginning } from '../triggers/beginning.ts';
import { settledEarlier } from '../triggers/earlier.ts';
import { everySecond } from '../triggers/everySecond.ts';
import { readersWindow } from '../triggers/window.ts';
import type { Starting } from './starting.ts';
import { startLanes } from './startLanes.ts';

type Needs = {
  readonly store: EventStore;
  readonly starting: (signal: AbortSignal) => Starting;
  /** What the reader does, for health and metrics. It outlives a term. */
  readonly state: FiredState;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** How many instants have fired and are not settled. Undefined while nobody reads. */
export type FiredState = { open?: () => number };

const firedType = `@platform/${triggerSchedule.area}:scheduleFired`;
/** How many instants are kept in memory that have fired and are not settled. */
const mostOpen = 20_000;

/**
 * Starts the jobs of the instants that have fired, for one term as leader. It may be ended and begun anew at any moment:
 * the id of a job follows from trigger and instant, so there is never a second one.
 */
export const firedReader =
  ({ store, starting, state, log }: Needs) =>
  async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const ending = new AbortController();
    const signal = AbortSignal.any([term, ending.signal]);
    // Each run may wait with it. Node must not warn of many.
    setMaxListeners(0, signal);
    const fail = (error: unknown): void => ending.abort(error);

    const from = (await store.takeCheckpoint(schedulesReader)) ?? (await beginning(store, schedulesReader));
    const window = readersWindow(from);
    const lanes = startLanes({
      ...starting(signal),
      settledBefore: await settledEarlier(store, from, () => undefined),
      away: () => store.fault() !== undefined || !store.connected(),
      fail,
      signal,
      log,
    });
    let kept = from;

    const keep = async (): Promise<void> => {
      lanes.tidy();
      const settled = window.settled();
      if (settled === kept) return;
      await store.keepCheckpoint(schedulesReader, settled);
      kept = settled;
    };
    const ticking = everySecond(keep, (error) => {
      if (error instanceof WrongRevision) fail(error);
      else if (!signal.aborted) log('The place of schedules cannot be kept; it is tried again', { error });
    });
    signal.addEventListener('abort', window.wake);

    state.open = lanes.open;
    try {
      for await (const { events } of store.follow(from, [firedType], signal)) {
        for (const event of events) {
          if (signal.aborted) break;
          if (splitStream(event.stream).category !== triggerSchedule.category) continue;
          window.take(event.position, 1, (hold) => lanes.take(event, hold));
          while (lanes.open() >= mostOpen && !signal.aborted) await window.news();
        }
        goesOn();
      }
      // Only the end of the term is no failure.
      if (!term.aborted) throw ending.signal.reason ?? new Error('The log can no longer be followed');
    } finally {
      signal.removeEventListener('abort', window.wake);
      ending.abort();
      delete state.open;
      await ticking.stop();
      await lanes.ended();
      await keep().catch(() => undefined);
    }
  };
