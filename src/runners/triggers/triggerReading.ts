import { places } from '../../concurrency/places.ts';
import type { EventStore } from '../../store/port.ts';
import type { Reading, Term } from '../../store/reading/reader.ts';
import { triggerBook } from './book.ts';
import { candidates } from './candidates.ts';
import { type Carried, type CarryingNeeds, carrying } from './carrying.ts';
import { type Definition, definitionTypes } from './definitions.ts';
import { refusedIn, refusedType, settledEarlier } from './earlier.ts';
import type { Decide, Firing, MayFire, Verdict } from './firing.ts';
import type { RateLimits } from './rate.ts';
import { type Refused, refusals } from './refusals.ts';

type Needs = CarryingNeeds & {
  readonly store: EventStore;
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
  /**
   * Stores refusals of a trigger's runs. `after` is the event of those that were stored last. Throws `WrongRevision` if
   * others were stored since.
   */
  readonly refuse: (trigger: string, refused: Refused, after: string | undefined) => Promise<void>;
  /** How many events are decided at once. */
  readonly decidedAtOnce: () => number;
  readonly rates: RateLimits;
};

/** Decides about all that one event fires. Other events wait for a place. */
const deciding =
  (decide: Decide, atPlace: ReturnType<typeof places>) =>
  (firings: readonly Firing[]): readonly Carried[] => {
    if (firings.length === 0) return [];
    const all = atPlace(() => Promise.allSettled(firings.map(decide)));
    return firings.map((firing, n) => {
      const verdict = all.then((decided): Verdict => {
        const one = decided[n];
        if (one?.status === 'fulfilled') return one.value;
        throw one?.reason;
      });
      // The run may never ask.
      verdict.catch(() => undefined);
      return { ...firing, verdict };
    });
  };

/**
 * Fills the book up to where the reader begins, and finds out which firings an earlier reader has settled without a job.
 * `lastRefused`: the event of the last refusals in the log, by trigger.
 */
const readEarlier = async (
  store: EventStore,
  { learn }: Pick<ReturnType<typeof triggerBook>, 'learn'>,
  { from, behind, signal, breathe }: Term,
) => {
  const lastRefused = new Map<string, string>();
  for await (const { events, position } of store.readAll(0, [...definitionTypes, refusedType])) {
    for (const event of events) {
      if (event.position > from) break;
      learn(event);
      const refused = refusedIn(event);
      if (refused) lastRefused.set(refused.trigger, refused.event);
      await breathe();
    }
    signal.throwIfAborted();
    if (position >= from) break;
  }
  let least = from;
  for (const checkpoint of behind.values()) least = Math.min(least, checkpoint);
  const settledBefore = await settledEarlier(store, least, ({ trigger, event }) => lastRefused.set(trigger, event));
  return { lastRefused, settledBefore };
};

/** Makes the function that begins to read the log for event triggers (docs/decisions/event-triggers.md). */
export const triggerReading =
  (needs: Needs) =>
  async (term: Term): Promise<Reading<Carried>> => {
    const { store, decide, fits, mayFire, rates, log } = needs;
    const { signal, fail, breathe } = term;
    const book = triggerBook({ candidates: candidates(), fits, mayFire, breathe });
    const { lastRefused, settledBefore } = await readEarlier(store, book, term);
    const atPlace = places(needs.decidedAtOnce);
    const refused = refusals({ store: needs.refuse, lastRefused, signal, fail, log });
    const { take, retry, wake } = carrying({
      ...needs,
      decide: (firing) => atPlace(() => decide(firing)),
      settledBefore,
      rateOf: rates.of,
      refused,
      signal,
    });
    const decided = deciding(decide, atPlace);

    return {
      itemsOf: async (event, isBehind) => {
        const changed = book.learn(event);
        if (changed !== undefined) wake(changed);
        return decided((await book.match(event)).filter(({ definition }) => !isBehind(definition.id)));
      },
      key: ({ definition }) => definition.id,
      take,
      retry,
      tick: (partitions) => {
        refused.tidy(partitions);
        rates.tidy(partitions);
      },
    } satisfies Reading<Carried>;
  };
