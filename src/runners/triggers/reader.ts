import { setTimeout as pause } from 'node:timers/promises';
import { places } from '../../concurrency/places.ts';
import { splitStream } from '../../store/event.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../store/port.ts';
import { cursorOfTrigger, triggersReader } from '../../store/readers.ts';
import { backlog } from './backlog.ts';
import { begin } from './beginning.ts';
import { triggerBook } from './book.ts';
import { candidates } from './candidates.ts';
import { type Definition, pastDefinitions } from './definitions.ts';
import type { Decide, Firing, MayFire, Verdict } from './firing.ts';
import { type Lane, type LaneNeeds, lane } from './lane.ts';
import { type RateLimit, rateLimit } from './rate.ts';
import { type Reading, readForTerm, type TermEnd } from './readForTerm.ts';
import type { Refused } from './refusals.ts';
import { readersWindow } from './window.ts';

export type ReaderNeeds = Pick<LaneNeeds, 'start' | 'endedSince' | 'hasJob' | 'park' | 'away' | 'elapsed' | 'log'> & {
  readonly store: EventStore;
  readonly decide: Decide;
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
  /**
   * Stores refusals of a trigger's runs. `after` is the event of those that were stored last. Throws `WrongRevision` if
   * others were stored since.
   */
  readonly refuse: (trigger: string, refused: Refused, after: string | undefined) => Promise<void>;
  /** How many events are decided at once. */
  readonly decidedAtOnce: () => number;
  /** How many jobs a trigger may start in a minute. */
  readonly rate: number;
  /** What the reader does, for health and metrics. It outlives a term. */
  readonly state: ReaderState;
};

/** What the reader of event triggers is about. Undefined while it does not read. */
export type ReaderState = { reading?: { readonly lanes: ReadonlyMap<string, Lane>; readonly settled: () => number } };

const mostOpen = 1000;
const againMs = 1000;
const longestTurnMs = 10;

/** Lets others have their turn whenever the work has taken long. */
const breather = () => {
  let since = performance.now();
  return (): Promise<void> | undefined => {
    if (performance.now() - since < longestTurnMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
};

/** Decides about all that one event fires. Other events wait for a place. */
const deciding =
  (decide: Decide, atPlace: ReturnType<typeof places>) =>
  (firings: readonly Firing[]): readonly Promise<Verdict>[] => {
    if (firings.length === 0) return [];
    const all = atPlace(() => Promise.allSettled(firings.map(decide)));
    return firings.map((_, n) => {
      const verdict = all.then((settled) => {
        const one = settled[n];
        if (one?.status === 'fulfilled') return one.value;
        throw one?.reason;
      });
      // The lane may never ask.
      verdict.catch(() => undefined);
      return verdict;
    });
  };

/**
 * Makes the function that stores refusals, until it succeeds. Whoever has stored others meanwhile reads the log too:
 * then the reader begins anew.
 */
const refusing =
  ({ refuse, log }: Pick<ReaderNeeds, 'refuse' | 'log'>, lastRefused: Map<string, string>, { signal, fail }: TermEnd) =>
  async (trigger: string, refused: Refused): Promise<void> => {
    for (;;) {
      try {
        await refuse(trigger, refused, lastRefused.get(trigger));
        lastRefused.set(trigger, refused.event);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof WrongRevision) {
          fail(error);
          throw error;
        }
        log('Refusals of a trigger cannot be stored; it is tried again', { trigger, error });
        await pause(againMs, undefined, { signal });
      }
    }
  };

/**
 * Reads the log and fires event triggers, for one term as leader (docs/decisions/event-triggers.md). It may be ended and
 * begun anew at any moment.
 */
export const triggerReader = (needs: ReaderNeeds) => {
  const { store, decide, fits, mayFire, log, state } = needs;
  const past = pastDefinitions(store);
  const rates = new Map<string, RateLimit>();
  const rateOf = (trigger: string): RateLimit => {
    const known = rates.get(trigger) ?? rateLimit(needs.rate, needs.elapsed);
    rates.set(trigger, known);
    return known;
  };

  const begun = async ({ signal, fail }: TermEnd): Promise<Reading> => {
    const breathe = breather();
    const book = triggerBook({ candidates: candidates(), fits, mayFire, breathe });
    const atPlace = places(needs.decidedAtOnce);
    const decidedTogether = deciding(decide, atPlace);
    const lanes = new Map<string, Lane>();
    const { from, cursors, lastRefused, settledBefore } = await begin(store, book, { signal, breathe });
    const window = readersWindow(from);
    /** The last event that is worth a checkpoint. A checkpoint may be an event, which is worth none. */
    let worth = from;

    const laneNeeds: LaneNeeds = {
      ...needs,
      decide: (firing) => atPlace(() => decide(firing)),
      breathe,
      refuse: refusing(needs, lastRefused, { signal, fail }),
      settledBefore,
      window,
      signal,
      failed: fail,
      backlog: (trigger, position) => backlog(trigger, position, { store, past, fits, mayFire }),
      keep: (trigger, position) => store.keepCheckpoint(cursorOfTrigger(trigger), position),
    };
    const laneOf = (trigger: string, cursor?: number): Lane => {
      const known = lanes.get(trigger) ?? lane(trigger, rateOf(trigger), laneNeeds, cursor);
      lanes.set(trigger, known);
      return known;
    };

    const take = async (event: StoredEvent): Promise<void> => {
      const changed = book.learn(event);
      if (changed !== undefined) lanes.get(changed)?.changed();
      const firings = (await book.match(event)).filter(({ definition }) => !lanes.get(definition.id)?.behind());
      const before = window.position();
      if (splitStream(event.stream).category !== 'checkpoint') worth = event.position;
      const verdicts = decidedTogether(firings);
      window.take(event.position, firings.length, (hold, n) => {
        const [firing, verdict] = [firings[n], verdicts[n]];
        if (firing && verdict) laneOf(firing.definition.id).take(firing, before, hold, verdict);
      });
      while (window.size() >= mostOpen && !signal.aborted) await window.news();
      await breathe();
    };

    const tick = async (): Promise<void> => {
      // Together: what they store shares commits.
      await Promise.all([...lanes.values()].map((each) => each.tick()));
      for (const [trigger, each] of lanes) if (each.idle()) lanes.delete(trigger);
      for (const [trigger, rate] of rates) if (rate.idle() && !lanes.has(trigger)) rates.delete(trigger);
    };

    state.reading = { lanes, settled: window.settled };
    for (const [trigger, cursor] of cursors) laneOf(trigger, cursor);

    return {
      from,
      window,
      take,
      tick,
      isWorthKeeping: (kept) => worth > kept,
      ended: async () => {
        delete state.reading;
        await Promise.all([...lanes.values()].map((each) => each.ended()));
      },
    };
  };

  return readForTerm({ store, reader: triggersReader, begin: begun, log });
};
