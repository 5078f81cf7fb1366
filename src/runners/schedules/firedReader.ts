import type { Log } from '../../concurrency/log.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { splitStream } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import { schedulesReader } from '../../store/readers.ts';
import { beginning } from '../triggers/beginning.ts';
import { settledEarlier } from '../triggers/earlier.ts';
import { type Reading, readForTerm, type TermEnd } from '../triggers/readForTerm.ts';
import { readersWindow } from '../triggers/window.ts';
import type { Starting } from './starting.ts';
import { startLanes } from './startLanes.ts';

type Needs = {
  readonly store: EventStore;
  readonly starting: (signal: AbortSignal) => Starting;
  /** What the reader does, for health and metrics. It outlives a term. */
  readonly state: FiredState;
  readonly log: Log;
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
export const firedReader = ({ store, starting, state, log }: Needs) => {
  const begin = async ({ signal, fail }: TermEnd): Promise<Reading> => {
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
    state.open = lanes.open;

    return {
      from,
      types: [firedType],
      window,
      take: async (event) => {
        if (splitStream(event.stream).category !== triggerSchedule.category) return;
        window.take(event.position, 1, (hold) => lanes.take(event, hold));
        while (lanes.open() >= mostOpen && !signal.aborted) await window.news();
      },
      tick: async () => lanes.tidy(),
      isWorthKeeping: () => true,
      ended: async () => {
        delete state.open;
        await lanes.ended();
      },
    };
  };
  return readForTerm({ store, reader: schedulesReader, begin, log });
};
