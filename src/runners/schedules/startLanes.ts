import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../concurrency/log.ts';
import { places } from '../../concurrency/places.ts';
import { splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { persistently, unlessUnusable } from '../../store/reading/persistently.ts';
import type { Placed } from '../triggers/earlier.ts';
import { type Refusals, refusals } from '../triggers/refusals.ts';
import type { Hold } from '../triggers/window.ts';
import type { Starting } from './starting.ts';

type Needs = Starting & {
  /** Whether an earlier reader has settled the run without a job. */
  readonly settledBefore: (run: Placed) => boolean;
  /** Whether the log cannot be reached, or takes nothing. */
  readonly away: () => boolean;
  /** Called with an error after which the reader must begin anew. */
  readonly fail: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
};

/** How many jobs are started at once. With more, requests wait longer meanwhile. */
const mostStarting = 3;
/** Decisions and requests have their turns between starts. */
const restMs = 4;

/** Starts the jobs of instants that have fired: those of one trigger in their order, one after the other. */
export const startLanes = ({ start, refuse, park, instantOf, settledBefore, away, fail, signal, log }: Needs) => {
  const atPlace = places(
    () => mostStarting,
    () => pause(restMs),
  );
  /** The last run of each trigger. */
  const last = new Map<string, Promise<void>>();
  const refused = new Map<string, Refusals>();
  let open = 0;

  const store = async (trigger: string, ...[gathered]: Parameters<Parameters<typeof refusals>[0]['store']>) => {
    try {
      await refuse(trigger, gathered);
    } catch (error) {
      fail(error);
      throw error;
    }
  };

  const refusalsOf = (trigger: string): Refusals => {
    const known = refused.get(trigger) ?? refusals({ signal, store: (gathered) => store(trigger, gathered) });
    refused.set(trigger, known);
    return known;
  };

  /** Resolves to the storing of a refusal, if there is one. */
  const attempt = async (trigger: string, event: StoredEvent): Promise<{ readonly stored?: Promise<void> }> => {
    if (settledBefore({ event, definition: { id: trigger } })) return {};
    const started = await start(event);
    if (!('refusal' in started)) return {};
    return refusalsOf(trigger).add(started.refusal, { event: event.id, instant: instantOf(event) });
  };

  const carryOut = async (trigger: string, event: StoredEvent, hold: Hold): Promise<void> => {
    signal.throwIfAborted();
    const about = { trigger, event: event.id, position: event.position };
    let stored: Promise<void> | undefined;
    await persistently({
      work: async () => {
        ({ stored } = await attempt(trigger, event));
      },
      giveUp: (error, tried) =>
        unlessUnusable(park(event, error, tried), (failure) =>
          log('A run of a schedule cannot be parked', { ...about, error: failure }),
        ),
      waits: (error) => log('A run of a schedule waits', { ...about, error }),
      failed: (error, tried) => log('A run of a schedule failed', { ...about, tried, error }),
      away,
      signal,
    });
    if (stored) stored.then(hold.release, () => undefined);
    else hold.release();
  };

  return {
    /** How many instants have fired and are not settled. */
    open: (): number => open,
    take: (event: StoredEvent, hold: Hold): void => {
      const { id } = splitStream(event.stream);
      const before = last.get(id) ?? Promise.resolve();
      open++;
      const run = before
        .then(() => atPlace(() => carryOut(id, event, hold)))
        .catch((error: unknown) => {
          if (!signal.aborted) fail(error);
        })
        .finally(() => {
          open--;
          if (last.get(id) === run) last.delete(id);
        });
      last.set(id, run);
    },
    /** Forgets triggers whose refusals are stored. */
    tidy: (): void => {
      for (const [id, one] of refused) if (!one.waiting() && !last.has(id)) refused.delete(id);
    },
    /** Resolves when all runs have ended. */
    ended: async (): Promise<void> => {
      await Promise.all(last.values());
    },
  };
};
