import { places } from '@automation-platform/concurrency';
import type { AutomationContent } from '../../domain/operations-manager/automations.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Pauses, Reading, Term } from '../../store/reading/reader.ts';
import { type Candidates, candidates } from './candidates.ts';
import { type Carried, type CarryingNeeds, carrying } from './carrying.ts';
import {
  aboutDefinition,
  automationAfter,
  type Definition,
  definitionTypes,
  triggerAfter,
  waitedFor,
} from './definitions.ts';
import { refusedIn, refusedType, settledEarlier } from './earlier.ts';
import type { Decide, Firing, MayFire, Verdict } from './firing.ts';
import type { RateLimits } from './rate.ts';
import { payloadOf, readOf } from './read.ts';
import { type Refused, refusals } from './refusals.ts';

type BookNeeds = {
  readonly candidates: Candidates;
  /** True if the payload fits the filter of the trigger. */
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
  /** Resolves at once, or after other work had its turn, if this work has taken long. */
  readonly breathe: () => Promise<void> | undefined;
};

/**
 * All event triggers and automations as they were at one position of the log. It learns from the events of the log, in
 * their order.
 */
const triggerBook = ({ candidates, fits, mayFire, breathe }: BookNeeds) => {
  const triggers = new Map<string, Definition>();
  const automations = new Map<string, AutomationContent>();
  const byType = new Map<string, Set<string>>();

  const waits = (id: string, from: string | undefined, to: string | undefined): void => {
    if (from !== undefined) byType.get(from)?.delete(id);
    if (from !== undefined && byType.get(from)?.size === 0) byType.delete(from);
    if (to !== undefined) byType.set(to, (byType.get(to) ?? new Set()).add(id));
  };

  const set = (id: string, definition: Definition | undefined): void => {
    waits(id, waitedFor(triggers.get(id)), waitedFor(definition));
    if (definition) triggers.set(id, definition);
    else triggers.delete(id);
    if (waitedFor(definition) === undefined) candidates.remove(id);
    else if (definition) candidates.set(id, definition.content);
  };

  const firing = (id: string, event: Pick<Firing, 'event' | 'read'>): Firing | undefined => {
    const definition = triggers.get(id);
    return definition && { ...event, definition, automation: automations.get(definition.content.actionId) };
  };

  const matchSome = async (event: StoredEvent, waiting: ReadonlySet<string>): Promise<readonly Firing[]> => {
    const read = readOf(event);
    if (read instanceof Error) return [...waiting].flatMap((id) => firing(id, { event, read }) ?? []);
    const payload = payloadOf(event, read);
    const found: Firing[] = [];
    for (const id of candidates.find(read.source, read.topic, payload)) {
      const one = firing(id, { event, read });
      if (one && fits(one.definition, payload)) found.push(one);
      await breathe();
    }
    return found;
  };

  return {
    /** Takes in an event that may change a trigger or an automation. Returns the id of the trigger. */
    learn: (event: StoredEvent): string | undefined => {
      const about = aboutDefinition(event);
      if (about?.kind === 'trigger') {
        set(about.id, triggerAfter(triggers.get(about.id), event));
        return about.id;
      }
      if (about) {
        const next = automationAfter(automations.get(about.id), event);
        if (next) automations.set(about.id, next);
        else automations.delete(about.id);
      }
      return undefined;
    },
    /**
     * The triggers that the event fires. An event that cannot be read fires all triggers that wait for its type, because nobody
     * knows which of them it fits: their runs will fail. Undefined if no trigger waits for its type.
     */
    match: (event: StoredEvent): Promise<readonly Firing[]> | undefined => {
      const waiting = byType.get(event.type);
      return waiting && mayFire(event) ? matchSome(event, waiting) : undefined;
    },
    size: (): number => triggers.size,
  };
};

type Needs = CarryingNeeds & {
  readonly store: EventStore;
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
  /**
   * Stores refusals of a trigger's runs. `after` is the event of those that were stored last. Throws `WrongRevision` if
   * more were stored since.
   */
  readonly refuse: (trigger: string, refused: Refused, after: string | undefined) => Promise<void>;
  /** How many events are decided at once. */
  readonly decidedAtOnce: () => number;
  readonly rates: RateLimits;
  readonly pauses?: Pauses | undefined;
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

const none: readonly Carried[] = [];

/** Makes the function that begins to read the log for event triggers (docs/decisions/event-triggers.md). */
export const triggerReading =
  (needs: Needs) =>
  async (term: Term): Promise<Reading<Carried>> => {
    const { store, decide, fits, mayFire, rates, log } = needs;
    const { signal, fail, breathe } = term;
    const book = triggerBook({ candidates: candidates(), fits, mayFire, breathe });
    const { lastRefused, settledBefore } = await readEarlier(store, book, term);
    const atPlace = places(needs.decidedAtOnce);
    const refused = refusals({
      store: needs.refuse,
      lastRefused,
      signal,
      gatherMs: needs.pauses?.placeMs,
      fail,
      log,
    });
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
      itemsOf: (event, isBehind) => {
        const changed = book.learn(event);
        if (changed !== undefined) wake(changed);
        const matching = book.match(event);
        if (!matching) return none;
        return matching.then((found) => decided(found.filter(({ definition }) => !isBehind(definition.id))));
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
