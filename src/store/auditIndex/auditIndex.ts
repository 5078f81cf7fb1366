import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Log } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import { endWorker, startWorker } from '../../process/startWorker.ts';
import { isForGood } from '../sqlite/errors.ts';
import type { Connection } from '../sqlite/log.ts';
import type { LogUrl } from '../url.ts';
import type { AuditIndexNews, AuditIndexWork } from './auditIndexWorker.ts';
import { openIndexToRead, removeIndex } from './indexFile.ts';

type Needs = {
  readonly folder: string;
  readonly log: LogUrl;
  readonly warn: Log;
  /** Is told how far the index has come, and where it shall come. Then reads wait as long as it grows. */
  readonly growing?: (position: number, target: number) => void;
};

// The number of events that may be missing before the index is brought up to date although nobody asks.
const mostBehind = 10_000;
const patienceMs = 10_000;

/**
 * The index beside the log, in `audit-index.db`. A thread fills it when a reader asks, or when it is far behind. The
 * log has everything, so an index that is lost is made anew. One that cannot be written there, as on a full disk, is made
 * among the temporary files until the next start.
 */
export const auditIndex = ({ folder, log, warn, growing }: Needs) => {
  const name = 'audit-index.db';
  const beside = join(folder, name);
  let file = beside;
  const waiting = waitingForIndex({ patienceMs, whileItGrows: growing !== undefined });
  let worker: Worker | undefined;
  let db: Connection | undefined;
  let lastPosition = -1;
  let targetPosition = 0;
  let unasked = 0;
  let stopped = false;

  const close = (): void => {
    worker = undefined;
    db?.close();
    db = undefined;
    lastPosition = -1;
  };

  const forget = (message: string): void => {
    close();
    waiting.fail(message);
  };

  /** Goes on in a folder for temporary files, which may be on another disk. False if there is none, or it is full too. */
  const goElsewhere = (reason: string): boolean => {
    if (stopped || file !== beside) return false;
    try {
      file = join(mkdtempSync(join(tmpdir(), 'audit-index-')), name);
    } catch {
      return false;
    }
    warn('The audit index cannot be written beside the log; it is made elsewhere until the next start', {
      reason,
      file,
    });
    close();
    ask(targetPosition);
    return true;
  };

  const goBack = (): void => {
    if (file !== beside) rmSync(dirname(file), { recursive: true, force: true });
    file = beside;
  };

  const hear = (news: AuditIndexNews): void => {
    if ('failed' in news) {
      if (news.unwritable && goElsewhere(news.failed)) return;
      warn('The audit index cannot be written; it is tried again', { reason: news.failed });
      forget('The audit index cannot be written; try again');
      goBack();
      return;
    }
    lastPosition = news.reached;
    growing?.(lastPosition, targetPosition);
    waiting.reached(lastPosition);
  };

  const started = (): Worker => {
    const work: AuditIndexWork = { file, log };
    const thread = startWorker('store/auditIndex/auditIndexWorker', work);
    thread.on('message', (news: AuditIndexNews) => {
      if (worker === thread) hear(news);
    });
    thread.on('error', (error) => {
      if (worker === thread) hear({ failed: error.message, unwritable: false });
    });
    return thread;
  };

  /** Asks the thread for everything up to a position. */
  const ask = (position: number): void => {
    if (stopped || (worker && position <= targetPosition)) return;
    targetPosition = position;
    unasked = 0;
    worker ??= started();
    worker.postMessage(position);
  };

  const upTo = async (position: number): Promise<void> => {
    if (stopped) throw unavailable('The service is shutting down');
    if (position <= lastPosition) return;
    const there = waiting.upTo(position);
    ask(position);
    await there;
  };

  return {
    /** Call with the position of each new event, and once with that of the log's head. */
    moved: (position: number): void => {
      unasked++;
      // Later positions tell nothing: those of EventStoreDB are bytes.
      const isFirst = targetPosition === 0 && position >= mostBehind;
      if (isFirst || unasked >= mostBehind) ask(position);
    },
    /**
     * Reads the index once it holds everything up to a position. Throws `unavailable` if that takes long; then the
     * index is made all the same.
     */
    read: async <T>(position: number, work: (db: Connection) => T | Promise<T>): Promise<T> => {
      await upTo(position);
      try {
        db ??= openIndexToRead(file);
        return await work(db);
      } catch (error) {
        if (!isForGood(error)) throw error;
        const thread = worker;
        forget('The audit index was damaged');
        await thread?.terminate();
        removeIndex(file);
        throw unavailable('The audit index was damaged and is made anew; try again');
      }
    },
    stop: async (): Promise<void> => {
      stopped = true;
      const thread = worker;
      forget('The service is shutting down');
      if (thread) await endWorker(thread);
      goBack();
    },
  };
};

export type AuditIndex = ReturnType<typeof auditIndex>;

type Waiting = {
  readonly position: number;
  readonly done: () => void;
  readonly fail: (error: RequestError) => void;
  readonly again: () => void;
};

type Patience = {
  readonly patienceMs: number;
  /** True if the patience begins anew whenever the index has grown. */
  readonly whileItGrows: boolean;
};

const unavailable = (message: string): RequestError =>
  new RequestError('unavailable', message, { retryAfterSeconds: 2 });

/** Those who wait until the index has come to a position. */
export const waitingForIndex = ({ patienceMs, whileItGrows }: Patience) => {
  const waiting = new Set<Waiting>();
  return {
    /** Resolves once the index has come that far. Throws `unavailable` if that takes long. */
    upTo: (position: number): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          clearTimeout(timer);
          waiting.delete(one);
          settle();
        };
        const one: Waiting = {
          position,
          done: () => end(resolve),
          fail: (error) => end(() => reject(error)),
          again: () => void timer.refresh(),
        };
        const timer = setTimeout(() => one.fail(unavailable('The audit index is being made; try again')), patienceMs);
        waiting.add(one);
      }),
    /** Call when the index has come to a position. */
    reached: (position: number): void => {
      for (const one of [...waiting])
        if (one.position <= position) one.done();
        else if (whileItGrows) one.again();
    },
    /** Lets all fail. */
    fail: (message: string): void => {
      for (const one of [...waiting]) one.fail(unavailable(message));
    },
  };
};
