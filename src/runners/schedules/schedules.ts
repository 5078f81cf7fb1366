import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type GuardedClock,
  type Leadership,
  type Log,
  leaderWork,
  onEveryNode,
  places,
} from '@automation-platform/concurrency';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { completeReaction } from '../../commands/engine/parkedReactions.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { setSchedule } from '../../commands/operations-manager/triggerSchedules.ts';
import { platform } from '../../domain/engine/core.ts';
import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { documentIn, documentsOf, pagesOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import {
  type PlanDoc,
  schedulePlans,
  triggerSchedules,
} from '../../projections/operations-manager/triggerSchedules.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import { eventAt } from '../../store/eventAt.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { schedulesReader } from '../../store/readers.ts';
import { unlessUnusable } from '../../store/reading/persistently.ts';
import { type Pauses, type Reading, reader, type Term } from '../../store/reading/reader.ts';
import { lastRefusedOf, settledEarlier } from '../triggers/earlier.ts';
import { refusals } from '../triggers/refusals.ts';
import type { Retried } from '../triggers/retrying.ts';
import { clocksApart, scheduleClock } from './clock.ts';
import { type Starting, type StartingNeeds, starting } from './starting.ts';
import { deciding, timetable } from './timetable.ts';

type Needs = StartingNeeds & {
  readonly store: EventStore;
  readonly model: ReadStore;
  /** The leader alone starts jobs. Every node decides. */
  readonly leadership: Leadership;
  /** Resolves when the read models show what the log held when this process began, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly guardedClock: GuardedClock;
  /** Calls a function once; returns what cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void;
  readonly pauses?: Pauses;
  readonly log: Log;
};

/** How many instants are kept in memory that have fired and are not settled. */
const mostFired = 20_000;

/** Runs schedule triggers (docs/schedules.md): the clock says what is due, the log decides, the leader starts jobs. */
export const schedules = (needs: Needs) => {
  const { store, model, handle, leadership, ready, guardedClock, timer, log } = needs;
  const onFailure = (error: unknown, isNew: boolean): void => {
    if (isNew) log('The timetable of schedules begins again', { error });
  };
  const planning = leaderWork({
    leadership: onEveryNode,
    ready,
    work: async () => {
      await table.load();
      clock.start();
    },
    pauseMs: 1000,
    longestPauseMs: 5000,
    onFailure,
  });
  const signal = planning.stopping;
  const set = (id: string, at: number | null): void => clock.set(id, at);
  const table = timetable({ model, moment: guardedClock.moment, set, signal, onFailure });
  const decisions = deciding({ handle, clock: guardedClock, changed: table.changed, timer, signal, log });
  const clock = scheduleClock({ clock: guardedClock, timer, due: decisions.decide });
  const fired = reader<StoredEvent>({
    store,
    name: schedulesReader,
    on: leadership,
    ready,
    first: 'head',
    begin: firedReading({ store, starting: (term) => starting(needs, term), gatherMs: needs.pauses?.placeMs, log }),
    mostInFlight: mostFired,
    pauses: needs.pauses,
    failure: 'The reader of schedules that have fired begins again',
    log,
  });

  return {
    categories: new Set([trigger.category, triggerSchedule.category]),
    /** To be called with each event of these categories once the read models show it. */
    onEvent: ({ stream }: Pick<EventNotice, 'stream'>): void => table.changed(splitStream(stream).id),
    /** To be called with each event of the log. */
    onStored: clocksApart({ now: guardedClock.now, monotonic: guardedClock.monotonic, log }),
    /** How many schedules are set, mean nothing, and have fired without a job yet. */
    status: () => ({ set: clock.size(), faults: table.faults(), starting: fired.status().inFlight }),
    /**
     * To be called before the first request is taken. In a log of a version that did not run schedules they begin now.
     */
    prepare: async (): Promise<void> => {
      if (!(await fired.isNew())) return;
      // Read models may be made anew after an upgrade. Firings that are due meanwhile are not lost.
      const startedAt = guardedClock.now();
      await ready(signal);
      await beginAll(startedAt, { model, handle });
      await fired.beginAtHead();
    },
    start: (): void => {
      planning.start();
      fired.start();
    },
    retry: retryingRuns(needs, starting(needs, signal)),
    /** Decides and starts nothing more, and waits for what is under way. The rest is left to the next start or leader. */
    stop: async (): Promise<void> => {
      const stopped = [planning.stop(), fired.stop(), table.idle()];
      clock.stop();
      await decisions.ended();
      await Promise.all(stopped);
    },
  };
};

export type Schedules = ReturnType<typeof schedules>;

type ReaderNeeds = {
  readonly store: EventStore;
  readonly starting: (signal: AbortSignal) => Starting;
  readonly gatherMs: number | undefined;
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
const firedReading =
  ({ store, starting, gatherMs, log }: ReaderNeeds) =>
  async ({ from, signal, fail }: Term): Promise<Reading<StoredEvent>> => {
    const { start, refuse, park, instantOf } = starting(signal);
    const lastRefused = new Map<string, string>();
    const settledBefore = await settledEarlier(store, from, ({ trigger, event }) => lastRefused.set(trigger, event));
    const refused = refusals({
      store: async (trigger, some, after) =>
        refuse(trigger, some, after ?? (await lastRefusedOf(store, trigger, from))),
      lastRefused,
      signal,
      gatherMs,
      fail,
      log,
    });
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
        park: async (event, error, attempts) => {
          await unlessUnusable(park(event, error, attempts), (failure) =>
            log('A run of a schedule cannot be parked', { ...aboutOf(event), error: failure }),
          );
        },
        onWait: (event, error) => log('A run of a schedule waits', { ...aboutOf(event), error }),
        onFailure: (event, error, attempts) =>
          log('A run of a schedule failed', { ...aboutOf(event), tried: attempts, error }),
      },
      tick: refused.tidy,
    };
  };

type RetryNeeds = { readonly store: EventStore; readonly tools: Tools; readonly handle: Handle };

/**
 * Makes the function that tries a parked run of a schedule again, by what trigger and automation say now. It stays
 * parked unless there is a job then. Throws `not_found` if it is no parked run.
 */
const retryingRuns = ({ store, tools, handle }: RetryNeeds, { start }: Pick<Starting, 'start'>) => {
  return async (id: string, about: Omit<Request, 'id' | 'input'>): Promise<Retried> => {
    const { parked, parking } = await tools.state(parkedReaction, id);
    const event = parked && parking ? await eventAt(store, parking.stream, parking.revision) : undefined;
    if (!event) throw new RequestError('not_found', 'No such parked run', { path: 'id' });
    const started = await start(event);
    if ('refusal' in started) return { job: null, refused: started.refusal };
    await handle(completeReaction, { ...about, id, input: {} });
    return { job: started.job, refused: null };
  };
};

type UpgradeNeeds = { readonly model: Pick<ReadStore, 'list' | 'getMany'>; readonly handle: Handle };

/** Begins all schedules that an earlier version has stored, which did not run them. */
const beginAll = async (startedAt: number, { model, handle }: UpgradeNeeds): Promise<void> => {
  const begin = async ({ trigger: id, cause }: PlanDoc): Promise<void> => {
    const input = { begun: startedAt, cause };
    const about = { operation: setSchedule.name, requestId: randomUUID(), causation: cause };
    await handle(setSchedule, { id, input, actor: platform, ...about });
  };
  for await (const entries of pagesOf(model, schedulePlans, { sort: 'trigger', order: 1 })) {
    const plans = entries.map((entry) => documentIn(schedulePlans, entry));
    const scheduleDocuments = await documentsOf(
      model,
      triggerSchedules,
      plans.map(({ trigger }) => trigger),
    );
    const triggerIds = new Set(scheduleDocuments.map(({ trigger }) => trigger));
    await Promise.all(plans.filter(({ trigger }) => !triggerIds.has(trigger)).map(begin));
  }
};
