import { setTimeout as pause } from 'node:timers/promises';
import { type Leadership, type Log, newLeadership, paced, supervise } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isDamage } from '../../store/integrity.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Projection } from './define.ts';
import type { Counted } from './eventTypes.ts';
import { parkedIn, parkedSpec } from './parked.ts';
import { type Checkpoint, leaseMs, partOfTurnMs, type ReadStore } from './port.ts';
import { newProgress, type Progress } from './progress.ts';
import { type Projector, projector } from './projector.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly projections: readonly Projection[];
  /** Which events are counted by type; none if not set. */
  readonly counted?: Counted | undefined;
  /** How many events one batch has while catching up. */
  readonly catchUp: number;
  /** Called for a stream whose events do not follow one another, because another program has touched it. */
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
 * The other processes take over what the leader writes. When the leader is gone or has lost the log, one of them becomes leader.
 */
export const runProjections = (needs: Needs) => {
  const { store, model, projections, counted, onTampered, now = () => performance.now(), log } = needs;
  const stop = new AbortController();
  const leadership = newLeadership();
  let leaseEnd = 0;
  let fault: string | undefined;
  let term = new AbortController();
  let lastWork = Promise.resolve();
  let tellDamage: (error: Error) => void = () => undefined;
  const damaged = new Promise<Error>((resolve) => {
    tellDamage = resolve;
  });

  /** Another process may have the leadership once the lease of this one has ended, though it hears nothing of that. */
  const lease = async (): Promise<boolean> => {
    const askedAt = now();
    try {
      const isLeader = await model.takeLeadership();
      if (isLeader) leaseEnd = askedAt + leaseMs;
      return isLeader;
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

  const progress = newProgress({
    onProjected: (at) => model.onProjected(at),
    fault: () => fault,
    stopping: stop.signal,
  });
  const { position, ready, whenReady, reached } = progress;
  const documents = projector(projections, {
    read: model.forRunner.get,
    list: model.forRunner.list,
    log,
    onTampered,
    counted,
  });
  const { project, taken } = projecting(needs, documents, progress);
  const { watch, wake, onMoved } = watching(needs, progress, leads);

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
      lastWork = supervise(runTerms, {
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
      await lastWork;
      exchange.refuse();
      leadership.set(false);
      await model.resign().catch(() => undefined);
    },
  };
};

export type Projections = ReturnType<typeof runProjections>;

/** The work of the leader: it follows the log and writes the resulting changes to the read store. */
const projecting = ({ store, model, catchUp, log }: Needs, documents: Projector, progress: Progress) => {
  const { inPieces, collect } = paced(partOfTurnMs);
  const { move, position, ready, setReady } = progress;
  let takenCount = 0;

  return {
    /** How many events this process has projected since its start. */
    taken: (): number => takenCount,
    /** Runs until the signal aborts. Calls `goesOn` at each step. */
    project: async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
      const before = position();
      move((await resume(store, model, documents, log)).position);
      const target = await store.head();
      // Read models that were ready stay so, unless the read store has started over.
      setReady((ready() && position() >= before) || position() >= target);
      if (ready()) goesOn();
      let pending = 0;
      for await (const { events, position: to } of store.follow(position(), undefined, signal)) {
        await inPieces(events, documents.take);
        pending += events.length;
        takenCount += events.length;
        if (to < target && pending < catchUp && !documents.isFull()) continue;
        pending = 0;
        if (!(await model.apply(await collect(documents.changes()), position(), checkpointAt(to, events))))
          throw new RequestError('unavailable', 'The read models are not where they were left');
        move(to);
        if (!ready()) setReady(to >= target);
        goesOn();
      }
    },
  };
};

const renewEveryMs = leaseMs / 3;
const askEveryMs = leaseMs / 15;

/**
 * The work of processes that do not lead: they take over the leader's changes, until one of them can become leader.
 * `leads` takes the leadership if nobody has it, and resolves to true if this process leads.
 */
const watching = ({ store, model }: Needs, progress: Progress, leads: () => Promise<boolean>) => {
  const { move, position, setReady } = progress;
  let moved = false;
  let wake = (): void => undefined;

  /** Resolves when another process may have written something. */
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      if (moved) return resolve();
      const timer = setTimeout(() => wake(), renewEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    /** Ends the wait, so that an aborted signal is seen at once. */
    wake: (): void => wake(),
    /** Ends the wait and looks at once, because another process may have written something. */
    onMoved: (): void => {
      moved = true;
      wake();
    },
    /** Runs until this process leads or the signal aborts. Calls `goesOn` at each step. */
    watch: async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
      move((await model.resume()).position);
      const target = await store.head();
      for (let askedAt = performance.now(); !signal.aborted; ) {
        moved = false;
        move((await model.catchUp()).position);
        setReady(position() >= target);
        goesOn();
        if (performance.now() - askedAt > askEveryMs) {
          if (await leads()) return;
          askedAt = performance.now();
        }
        await next();
      }
    },
  };
};

/** A place between two terms of projecting, where nothing is projected. `endTerm` ends the term. */
const betweenTerms = (endTerm: () => void) => {
  let pendingRun: { readonly run: () => Promise<void>; readonly refuse: () => void } | undefined;
  return {
    /** Does the work that was asked for, if any. */
    run: async (): Promise<void> => {
      const work = pendingRun;
      pendingRun = undefined;
      await work?.run();
    },
    /** Ends the term, and resolves when the work is done. */
    ask: (work: () => Promise<void>): Promise<void> =>
      new Promise((resolve, reject) => {
        pendingRun = {
          run: () => work().then(resolve, reject),
          refuse: () =>
            reject(new RequestError('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 })),
        };
        endTerm();
      }),
    /** Nothing is projected any more. */
    refuse: (): void => pendingRun?.refuse(),
  };
};

const pageLength = 1000;

const parkedBefore = async ({ list }: ReadStore['forRunner']): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (;;) {
    const { entries, total } = await list(parkedSpec.name, {
      sort: 'name',
      order: 1,
      skip: found.size,
      limit: pageLength,
    });
    for (const entry of entries) found.set(entry.id, parkedIn(entry).reason);
    if (found.size >= total || entries.length === 0) return found;
  }
};

/** The checkpoint for a position up to which every event was delivered. `events` are the last ones delivered. */
export const checkpointAt = (position: number, events: readonly StoredEvent[]): Checkpoint => {
  const last = events.at(-1);
  return { position, event: last?.position === position ? last.id : '' };
};

/**
 * True if the log goes on from the checkpoint. A missing event proves nothing, because EventStoreDB drops old events
 * when it is scavenged. Another event at the position shows that the log is another one. So does a head before the
 * position: the log became shorter, and other events will take the position.
 */
const goesOnFrom = async (store: EventStore, { position, event }: Checkpoint): Promise<boolean> => {
  const there = event === '' ? undefined : await store.at(position);
  return there ? there.id === event : position <= (await store.head());
};

/**
 * The checkpoint from which projecting goes on: that of the read store if the log goes on from there, else the
 * beginning.
 */
export const resume = async (
  store: EventStore,
  model: ReadStore,
  documents: Projector,
  log: Log,
): Promise<Checkpoint> => {
  let checkpoint = await model.resume();
  if (checkpoint.position > 0 && !(await goesOnFrom(store, checkpoint))) {
    log('The read models do not belong to this log; they are built anew', { position: checkpoint.position });
    await model.clear();
    checkpoint = { position: 0, event: '' };
  }
  documents.reset(checkpoint.position === 0, await parkedBefore(model.forRunner));
  return checkpoint;
};
