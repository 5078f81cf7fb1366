import { setTimeout as pause } from 'node:timers/promises';
import { type Leadership, newLeadership } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { supervise } from '../../concurrency/supervise.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isDamage } from '../../store/integrity.ts';
import type { EventStore } from '../../store/port.ts';
import { betweenTerms } from './betweenTerms.ts';
import type { Projection } from './define.ts';
import type { Counted } from './eventTypes.ts';
import { leaseMs, type ReadStore } from './port.ts';
import { newProgress } from './progress.ts';
import { projecting } from './projecting.ts';
import { projector } from './projector.ts';
import { renewEveryMs, watching } from './watching.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly projections: readonly Projection[];
  /** Which events are counted by type; none if not set. */
  readonly counted?: Counted | undefined;
  /** How many events one batch has while catching up. */
  readonly catchUp: number;
  /** Called for a stream whose events do not follow one another, because somebody else has touched it. */
  readonly onTampered?: (stream: string, reason: string) => void;
  /** Milliseconds from a clock that never jumps. */
  readonly now?: (() => number) | undefined;
  readonly log: Log;
};

const shortestPauseMs = 50;
const longestPauseMs = 5000;

/**
 * Gives every event of the log to the projections, in order and once, and writes the resulting changes to the read
 * store. It is the only writer of read models. If several processes share a read store, one of them leads and writes.
 * The others take over what the leader writes. When the leader is gone or has lost the log, one of them becomes leader.
 */
export const runProjections = (needs: Needs) => {
  const { store, model, projections, counted, catchUp, onTampered, now = () => performance.now(), log } = needs;
  const stop = new AbortController();
  const leadership = newLeadership();
  let leaseEnd = 0;
  let fault: string | undefined;
  let term = new AbortController();
  let done = Promise.resolve();
  let tellDamage: (error: Error) => void = () => undefined;
  const damaged = new Promise<Error>((resolve) => {
    tellDamage = resolve;
  });

  /** Another process may have the leadership once the lease of this one has ended, though it hears nothing of that. */
  const lease = async (): Promise<boolean> => {
    const asked = now();
    try {
      const held = await model.takeLeadership();
      if (held) leaseEnd = asked + leaseMs;
      return held;
    } catch (error) {
      if (now() >= leaseEnd) leadership.set(false);
      throw error;
    }
  };

  /** Takes or keeps the leadership; returns true if this process leads. A process that cannot reach the log resigns. */
  const leads = async (): Promise<boolean> => {
    if (store.connected()) leadership.set(await lease());
    else if (leadership.held()) {
      leadership.set(false);
      await model.resign();
    }
    return leadership.held();
  };

  const progress = newProgress({ shown: (at) => model.shown(at), fault: () => fault, stopping: stop.signal });
  const { position, ready, whenReady, reached } = progress;
  const documents = projector(projections, {
    read: model.forRunner.get,
    list: model.forRunner.list,
    log,
    onTampered,
    counted,
  });
  const { project, taken } = projecting({ store, model, documents, progress, catchUp, log });
  const { watch, wake, onMoved } = watching({ store, model, progress, leads });

  const endTerm = (): void => {
    term.abort();
    wake();
  };
  model.onLost(endTerm);
  model.onMoved(onMoved);

  /** Leads, or watches the process that leads, until that changes. */
  const runTerm = async (goesOn: () => void): Promise<void> => {
    term = new AbortController();
    const signal = AbortSignal.any([stop.signal, term.signal]);
    if (!(await leads())) return watch(signal, goesOn);
    const renewing = setInterval(() => {
      leads().then(
        (still) => {
          if (!still) endTerm();
        },
        () => undefined,
      );
    }, renewEveryMs).unref();
    await project(signal, goesOn).finally(() => clearInterval(renewing));
  };

  const runTerms = async (recovered: () => void): Promise<void> => {
    const goesOn = (): void => {
      fault = undefined;
      recovered();
    };
    while (!stop.signal.aborted) {
      await exchange.run();
      await runTerm(goesOn);
      await pause(shortestPauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };

  const exchange = betweenTerms(endTerm);

  const onFailure = (error: unknown, isNew: boolean): void => {
    fault = error instanceof Error ? error.message : String(error);
    if (!ready() && isDamage(error)) tellDamage(error as Error);
    if (isNew) log('Projecting stopped; it will go on', { position: position(), error });
  };

  return {
    /** Starts to follow the log, or the process that leads. */
    start: (): void => {
      done = supervise(runTerms, {
        signal: stop.signal,
        pauseMs: shortestPauseMs,
        longestPauseMs,
        onFailure,
      });
    },
    leadership: leadership as Leadership,
    position,
    taken,
    ready,
    whenReady,
    reached,
    /**
     * Resolves if the log turns out to be damaged while it is read at the start. The service must show nothing then.
     */
    damaged,
    /**
     * Does the work while nothing is projected, on the process that leads. Documents are read from the read store anew
     * afterwards. Rejects when this process does not lead, or stops.
     */
    between: async (work: () => Promise<void>): Promise<void> => {
      if (!leadership.held())
        throw new RequestError('unavailable', 'Another node writes the read models; ask that one');
      await exchange.ask(work);
    },
    /** The reason why projecting has stopped for now; undefined if it has not. */
    fault: (): string | undefined => fault,
    stop: async (): Promise<void> => {
      stop.abort();
      wake();
      progress.refuseAll();
      await done;
      exchange.refuse();
      leadership.set(false);
      await model.resign().catch(() => undefined);
    },
  };
};

export type Projections = ReturnType<typeof runProjections>;
