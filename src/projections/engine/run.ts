import { setTimeout as pause } from 'node:timers/promises';
import { supervise } from '../../concurrency/supervise.ts';
import { NotReadable, Refusal } from '../../domain/engine/refusal.ts';
import { isDamage } from '../../store/integrity.ts';
import type { EventStore } from '../../store/port.ts';
import type { Projection } from './define.ts';
import { type Lead, newLead } from './lead.ts';
import { leaseMs, type ReadStore } from './port.ts';
import { projector } from './projector.ts';
import { checkpointAt, resume } from './resume.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly projections: readonly Projection[];
  /** How many events are put into one batch while catching up. */
  readonly catchUp: number;
  /** Told of a stream whose events do not follow one another: somebody else has touched it. */
  readonly onTouched?: (stream: string, reason: string) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const shuttingDown = () => new Refusal('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });

const renewEveryMs = leaseMs / 3;
const askEveryMs = leaseMs / 15;
const shortestPauseMs = 50;
const longestPauseMs = 5000;

/**
 * Feeds every event of the log, in order and once, to the projections and what comes of it to the read store: the only
 * writer of read models. Of the processes that share a read store one does so at a time; the others take over what it
 * writes, and one of them its place when it is gone, or has lost the log.
 */
export const runProjections = ({ store, model, projections, catchUp, onTouched, log }: Needs) => {
  const documents = projector(projections, model.forRunner.get, log, onTouched);
  const waiting = new Set<{ readonly position: number; readonly wake: (error?: Refusal) => void }>();
  const waitingForReady = new Set<() => void>();
  const stop = new AbortController();
  const lead = newLead();
  let position = 0;
  let taken = 0;
  let ready = false;
  let fault: string | undefined;
  let turn = new AbortController();
  let moved = false;
  let wake = (): void => undefined;
  let done = Promise.resolve();
  let tellDamage: (error: Error) => void = () => undefined;
  const damaged = new Promise<Error>((resolve) => {
    tellDamage = resolve;
  });

  const endTurn = (): void => {
    turn.abort();
    wake();
  };
  model.onLost(endTurn);
  model.onMoved(() => {
    moved = true;
    wake();
  });

  const move = (to: number): void => {
    model.shown(to);
    position = to;
    for (const waiter of waiting) if (waiter.position <= to) waiter.wake();
  };

  const setReady = (so: boolean): void => {
    ready = so;
    if (so) for (const go of waitingForReady) go();
  };

  /** Takes the lead or keeps it. Who cannot reach the log leaves it to others. */
  const leads = async (): Promise<boolean> => {
    if (store.connected()) lead.set(await model.lead());
    else if (lead.held()) {
      lead.set(false);
      await model.resign();
    }
    return lead.held();
  };

  const project = async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
    move((await resume(store, model, documents, log)).position);
    const target = await store.head();
    setReady(position >= target);
    if (ready) goesOn();
    let pending = 0;
    for await (const { events, position: to } of store.follow(position, undefined, signal)) {
      await documents.take(events);
      pending += events.length;
      taken += events.length;
      if (to < target && pending < catchUp) continue;
      pending = 0;
      if (!(await model.apply(documents.drain(), position, checkpointAt(to, events))))
        throw new Refusal('unavailable', 'The read models are not where they were left');
      move(to);
      if (!ready) setReady(to >= target);
      goesOn();
    }
  };

  /** Until the other process may have written something. */
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      if (moved) return resolve();
      const timer = setTimeout(() => wake(), renewEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const watch = async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
    move((await model.resume()).position);
    const target = await store.head();
    for (let asked = performance.now(); !signal.aborted; ) {
      moved = false;
      move((await model.catchUp()).position);
      setReady(position >= target);
      goesOn();
      if (performance.now() - asked > askEveryMs) {
        if (await leads()) return;
        asked = performance.now();
      }
      await next();
    }
  };

  const takeTurn = async (goesOn: () => void): Promise<void> => {
    turn = new AbortController();
    const signal = AbortSignal.any([stop.signal, turn.signal]);
    if (!(await leads())) return watch(signal, goesOn);
    const renewing = setInterval(() => {
      leads().then(
        (still) => {
          if (!still) endTurn();
        },
        () => undefined,
      );
    }, renewEveryMs).unref();
    await project(signal, goesOn).finally(() => clearInterval(renewing));
  };

  const takeTurns = async (recovered: () => void): Promise<void> => {
    const goesOn = (): void => {
      fault = undefined;
      recovered();
    };
    while (!stop.signal.aborted) {
      await takeTurn(goesOn);
      await pause(shortestPauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };

  const onFailure = (error: unknown, isNew: boolean): void => {
    fault = error instanceof Error ? error.message : String(error);
    if (!ready && isDamage(error)) tellDamage(error as Error);
    if (isNew) log('Projecting stopped; it will go on', { position, error });
  };

  return {
    /** Begins to follow the log, or whoever projects. */
    start: (): void => {
      done = supervise(takeTurns, {
        signal: stop.signal,
        pauseMs: shortestPauseMs,
        longestPauseMs,
        onFailure,
      });
    },
    lead: lead as Lead,
    position: (): number => position,
    /** How many events this process has projected, since its start. */
    taken: (): number => taken,
    /** Whether the read models have reached the head that the log had when following began. */
    ready: (): boolean => ready,
    /** Resolves once it is ready, or the signal aborts. */
    whenReady: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const go = (): void => {
          waitingForReady.delete(go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        if (ready || signal.aborted) return resolve();
        waitingForReady.add(go);
        signal.addEventListener('abort', go);
      }),
    /** Resolves when the log turns out to be damaged where it is read at the start: nothing may be shown then. */
    damaged,
    /** Why projecting does not go on just now. */
    fault: (): string | undefined => fault,
    /**
     * Waits until the read models hold everything up to the position; `unavailable` after `ms`, and when the service
     * stops.
     */
    reached: (target: number, ms?: number): Promise<void> =>
      new Promise((resolve, reject) => {
        if (target <= position) return resolve();
        // Nothing moves any more: who waits now would wait for ever.
        if (stop.signal.aborted) return reject(shuttingDown());
        const end = (error?: Refusal): void => {
          clearTimeout(timer);
          waiting.delete(waiter);
          if (error) reject(error);
          else resolve();
        };
        const waiter = { position: target, wake: end };
        const timer =
          ms === undefined
            ? undefined
            : setTimeout(() => end(new NotReadable('The read models are behind; try again', fault)), ms);
        waiting.add(waiter);
      }),
    stop: async (): Promise<void> => {
      stop.abort();
      wake();
      for (const waiter of waiting) waiter.wake(shuttingDown());
      await done;
      lead.set(false);
      await model.resign().catch(() => undefined);
    },
  };
};

export type Projections = ReturnType<typeof runProjections>;
