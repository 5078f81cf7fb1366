import { setTimeout as pause } from 'node:timers/promises';
import { cursorOfTrigger, triggersReader } from '../../store/readers.ts';
import { splitStream } from '../../store/event.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../store/port.ts';
import { backlog } from './backlog.ts';
import { triggerBook } from './book.ts';
import { candidates } from './candidates.ts';
import { type Definition, definitionTypes, pastDefinitions } from './definitions.ts';
import { refusedIn, refusedType, settledEarlier } from './earlier.ts';
import type { Decide, Firing, Verdict } from './firing.ts';
import { type Lane, type LaneNeeds, lane } from './lane.ts';
import { places } from './places.ts';
import { type RateLimit, rateLimit } from './rate.ts';
import type { Refused } from './refusals.ts';
import { readersWindow } from './window.ts';

export type ReaderNeeds = Pick<LaneNeeds, 'start' | 'ended' | 'hasJob' | 'park' | 'away' | 'now' | 'log'> & {
  readonly store: EventStore;
  readonly decide: Decide;
  readonly fits: (definition: Definition, payload: unknown) => boolean;
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

const keepMs = 1000;
const mostOpen = 1000;
const againMs = 1000;
const longestTurnMs = 10;

/**
 * Where the reader begins in a log that it has never read: at the head. What happened before fires nothing. Returns the
 * stored checkpoint.
 */
export const beginning = async (store: EventStore): Promise<number> => {
  const head = await store.head();
  try {
    await store.takeCheckpoint(triggersReader);
    await store.keepCheckpoint(triggersReader, head);
    return head;
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error;
    return (await store.checkpoint(triggersReader)) ?? head;
  }
};

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

/**
 * Reads the log and fires event triggers, for one term as leader (docs/decisions/event-triggers.md). It may be ended and
 * begun anew at any moment.
 */
export const triggerReader = (needs: ReaderNeeds) => {
  const { store, decide, log, state } = needs;
  const past = pastDefinitions(store);
  const rates = new Map<string, RateLimit>();
  const rateOf = (trigger: string): RateLimit => {
    const known = rates.get(trigger) ?? rateLimit(needs.rate, needs.now);
    rates.set(trigger, known);
    return known;
  };

  return async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const ending = new AbortController();
    const signal = AbortSignal.any([term, ending.signal]);
    const fail = (error: unknown): void => ending.abort(error);

    const breathe = breather();
    const book = triggerBook({ candidates: candidates(), fits: needs.fits, breathe });
    const decided = places(needs.decidedAtOnce);
    const lanes = new Map<string, Lane>();
    const lastRefused = new Map<string, string>();
    const told = ({ trigger, event }: { readonly trigger: string; readonly event: string }): void =>
      void lastRefused.set(trigger, event);

    // From here on, a process that has led before and does not know better can move none of these.
    const from = (await store.takeCheckpoint(triggersReader)) ?? (await beginning(store));
    const cursors = new Map<string, number>();
    for (const name of (await store.checkpointsOf(triggersReader)).keys()) {
      const position = await store.takeCheckpoint(name);
      if (position !== undefined) cursors.set(name.slice(cursorOfTrigger('').length), position);
    }

    for await (const { events, position } of store.readAll(0, [...definitionTypes, refusedType])) {
      for (const event of events) {
        if (event.position > from) break;
        book.learn(event);
        const refused = refusedIn(event);
        if (refused) told(refused);
        await breathe();
      }
      signal.throwIfAborted();
      if (position >= from) break;
    }
    const settledBefore = await settledEarlier(store, Math.min(from, ...cursors.values()), told);

    const window = readersWindow(from);
    let kept = from;
    /** The last event that is worth a checkpoint. A checkpoint may be an event, which is worth none. */
    let worth = from;

    /** Stores refusals until it succeeds. Whoever has stored others meanwhile reads the log too: then begin anew. */
    const refuse = async (trigger: string, refused: Refused): Promise<void> => {
      for (;;) {
        try {
          await needs.refuse(trigger, refused, lastRefused.get(trigger));
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

    const laneNeeds: LaneNeeds = {
      ...needs,
      refuse,
      settledBefore,
      window,
      signal,
      failed: fail,
      backlog: (trigger, position) => backlog(trigger, position, { store, past, fits: needs.fits }),
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
      const verdicts = firings.length > 0 ? decided(() => verdictsOf(firings)) : undefined;
      let n = 0;
      window.take(event.position, firings.length, (hold) => {
        const firing = firings[n++]!; // one hold for each
        const verdict = verdicts!.then((all) => all.get(firing)!);
        verdict.catch(() => undefined);
        laneOf(firing.definition.id).take(firing, before, hold, verdict);
      });
      while (window.size() >= mostOpen && !signal.aborted) await window.news();
    };

    const verdictsOf = async (firings: readonly Firing[]): Promise<ReadonlyMap<Firing, Promise<Verdict>>> => {
      const all = new Map(firings.map((firing) => [firing, decide(firing)]));
      await Promise.allSettled(all.values());
      return all;
    };

    const keep = async (): Promise<void> => {
      const settled = window.settled();
      if (settled === kept || worth <= kept) return;
      await store.keepCheckpoint(triggersReader, settled);
      kept = settled;
    };

    const tick = async (): Promise<void> => {
      // Together: what they store shares commits.
      await Promise.all([...lanes.values()].map((each) => each.tick()));
      for (const [trigger, each] of lanes) if (each.idle()) lanes.delete(trigger);
      for (const [trigger, rate] of rates) if (rate.idle() && !lanes.has(trigger)) rates.delete(trigger);
      await keep();
    };

    let ticking: Promise<void> | undefined;
    const timer = setInterval(() => {
      ticking ??= tick()
        .catch((error: unknown) => {
          if (error instanceof WrongRevision) fail(error);
          else if (!signal.aborted) log('The place of event triggers cannot be kept; it is tried again', { error });
        })
        .finally(() => {
          ticking = undefined;
        });
    }, keepMs);
    signal.addEventListener('abort', window.wake);

    state.reading = { lanes, settled: window.settled };
    try {
      for (const [trigger, cursor] of cursors) laneOf(trigger, cursor);
      for await (const { events } of store.follow(from, undefined, signal)) {
        for (const event of events) {
          if (signal.aborted) break;
          await take(event);
          await breathe();
        }
        goesOn();
      }
      // Only the end of the term is no failure.
      if (!term.aborted) throw ending.signal.reason ?? new Error('The log can no longer be followed');
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', window.wake);
      ending.abort();
      delete state.reading;
      await ticking;
      await Promise.all([...lanes.values()].map((each) => each.ended()));
      await keep().catch(() => undefined);
    }
  };
};
