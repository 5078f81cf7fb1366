import type { Worker } from 'node:worker_threads';
import type { Log } from '@automation-platform/concurrency';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { ForeignSources } from '../../domain/sources.ts';
import { endWorker, startWorker } from '../../process/startWorker.ts';
import type { LogUrl } from '../../store/url.ts';
import type { Entry } from '../engine/port.ts';
import type { Asked, AsOfWork, Told } from './asOfWorker.ts';
import type { PastReads } from './pastReads.ts';

type Needs = {
  readonly log: LogUrl;
  /** How many bytes documents of earlier times may take. */
  readonly memory: number;
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources | undefined;
  readonly warn: Log;
  readonly patienceMs?: number;
};

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: RequestError) => void };

type ResultOf<R extends keyof PastReads> = Awaited<ReturnType<PastReads[R]>>;

const heapAround = 256;

const unavailable = (message: string, retryAfterSeconds: number): RequestError =>
  new RequestError('unavailable', message, { retryAfterSeconds });

const notYet = (): RequestError => unavailable('The log is still being read for this; ask again', 5);

/**
 * Reads documents as of earlier positions in a thread of its own, which starts when it is first needed. Work that takes
 * longer than a request should wait goes on: who asks again gets it.
 */
export const pastThread = ({ log, memory, foreign, warn, patienceMs = 10_000 }: Needs) => {
  // Joins read the same documents again and again.
  const documents = new LRUCache<string, Entry | false>({
    maxSize: Math.max(1, Math.floor(memory / 8)),
    sizeCalculation: (entry) => (entry === false ? 100 : 500 + entry.text.length),
  });
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let requestCount = 0;
  let stopped = false;

  const forget = (message: string): void => {
    worker = undefined;
    const all = [...waiting.values()];
    waiting.clear();
    for (const { reject } of all) reject(unavailable(message, 1));
  };

  const hear = (message: Told): void => {
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    if ('result' in message) one?.resolve(message.result);
    else
      one?.reject(
        new RequestError(message.failed.code, message.failed.message, retrying(message.failed.retryAfterSeconds)),
      );
  };

  const started = (): Worker => {
    const work: AsOfWork = { log, memory: memory - documents.maxSize, foreign };
    const thread = startWorker('projections/asOf/asOfWorker', work, {
      maxOldGenerationSizeMb: Math.ceil((2 * memory) / 2 ** 20) + heapAround,
    });
    thread.on('message', (message: Told) => {
      if (worker === thread) hear(message);
    });
    const onThreadEnd = (reason: string): void => {
      if (worker !== thread) return;
      warn('The thread that reads earlier times has ended; it is started anew', { reason });
      forget('The log could not be read for this; ask again');
    };
    thread.on('error', (error) => onThreadEnd(error.message));
    thread.on('exit', () => onThreadEnd('exit'));
    return thread;
  };

  /** Asks the thread. The result goes to `keep` as well, even if it comes after the patience has ended. */
  const ask = <R extends keyof PastReads>(
    read: R,
    args: Parameters<PastReads[R]>,
    keep: (result: ResultOf<R>) => void = () => undefined,
  ): Promise<ResultOf<R>> =>
    new Promise((resolve, reject) => {
      if (stopped) return reject(unavailable('The service is shutting down', 2));
      worker ??= started();
      const id = ++requestCount;
      const timer = setTimeout(() => reject(notYet()), patienceMs);
      waiting.set(id, {
        resolve: (result) => {
          clearTimeout(timer);
          // The thread answers with what its reads give.
          keep(result as ResultOf<R>);
          resolve(result as ResultOf<R>);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      worker.postMessage({ id, read, args } satisfies Asked);
    });

  const keyOf = (position: number, collection: string, id: string): string => `${position} ${collection}/${id}`;

  const reads: PastReads = {
    getMany: async (position, collection, ids) => {
      const cachedDocuments = ids.map((id) => documents.get(keyOf(position, collection, id)));
      const missing = [...new Set(ids.filter((_, at) => cachedDocuments[at] === undefined))];
      if (missing.length === 0) return cachedDocuments.map((entry) => entry || undefined);
      const keep = (found: readonly (Entry | undefined)[]): void => {
        for (const [at, id] of missing.entries()) documents.set(keyOf(position, collection, id), found[at] ?? false);
      };
      const found = await ask('getMany', [position, collection, missing], keep);
      const byId = new Map(missing.map((id, at) => [id, found[at]]));
      return ids.map((id, at) => cachedDocuments[at] || byId.get(id));
    },
    idsNamed: (...args) => ask('idsNamed', args),
    list: (...args) => ask('list', args),
    guards: (...args) => ask('guards', args),
  };

  return {
    reads,
    stop: async (): Promise<void> => {
      stopped = true;
      const thread = worker;
      forget('The service is shutting down');
      if (thread) await endWorker(thread);
    },
  };
};

const retrying = (retryAfterSeconds: number | undefined) =>
  retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
