import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../concurrency/log.ts';
import { places } from '../../concurrency/places.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { unlessUnusable } from '../../store/reading/persistently.ts';
import type { Reading, Term } from '../../store/reading/reader.ts';
import { settledEarlier } from '../triggers/earlier.ts';
import { refusals } from '../triggers/refusals.ts';
import type { Starting } from './starting.ts';

type Needs = {
  readonly store: EventStore;
  readonly starting: (signal: AbortSignal) => Starting;
  readonly log: Log;
};

const firedType = `@platform/${triggerSchedule.area}:scheduleFired`;
/** How many jobs are started at once. With more, requests wait longer meanwhile. */
const mostStarting = 3;
/** Decisions and requests have their turns between starts. */
const restMs = 4;

const triggerOf = ({ stream }: StoredEvent): string => splitStream(stream).id;
const aboutOf = (event: StoredEvent) => ({ trigger: triggerOf(event), event: event.id, position: event.position });

/**
 * Makes the function that begins to read the log for instants that have fired. Each starts a job, whose id follows from
 * trigger and instant, so there is never a second one.
 */
export const firedReading =
  ({ store, starting, log }: Needs) =>
  async ({ from, signal, fail }: Term): Promise<Reading<StoredEvent>> => {
    const { start, refuse, park, instantOf } = starting(signal);
    const settledBefore = await settledEarlier(store, from, () => undefined);
    const refused = refusals({ store: refuse, lastRefused: new Map(), signal, fail, log });
    const atPlace = places(
      () => mostStarting,
      () => pause(restMs),
    );

    return {
      types: [firedType],
      itemsOf: (event) => (splitStream(event.stream).category === triggerSchedule.category ? [event] : []),
      key: triggerOf,
      take: async (event) => {
        const trigger = triggerOf(event);
        if (settledBefore({ event, definition: { id: trigger } })) return undefined;
        const started = await atPlace(() => start(event));
        if (!('refusal' in started)) return undefined;
        return refused.add(trigger, started.refusal, { event: event.id, instant: instantOf(event) });
      },
      retry: {
        park: async (event, error, tried) => {
          await unlessUnusable(park(event, error, tried), (failure) =>
            log('A run of a schedule cannot be parked', { ...aboutOf(event), error: failure }),
          );
        },
        onWait: (event, error) => log('A run of a schedule waits', { ...aboutOf(event), error }),
        onFailure: (event, error, tried) => log('A run of a schedule failed', { ...aboutOf(event), tried, error }),
      },
      tick: refused.tidy,
    };
  };
