import type { Worker } from 'node:worker_threads';
import { Refusal } from '../domain/refusal.ts';
import { checkSize, WrongRevision, type Appended, type NewEvent } from './port.ts';
import type { Newest } from './sqliteFollow.ts';
import type { Reply, Request } from './sqliteWriter.ts';

/** What has been committed since the store was opened. */
export type Stats = { readonly commits: number; readonly appends: number; readonly events: number };

type Entry = {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly NewEvent[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
};

// With each append the page of the index that it changes goes into the WAL.
const pageSize = 4096;
const maxRequest = 256 * 1024;

const emptyRequest = (): Request => ({ streams: [], expected: [], counts: [], texts: [], size: 0 });

/**
 * Hands appends to the writer's thread: those of one turn of the event loop together, up to a size. When the thread
 * fails, all that wait and all that come later are refused with the reason.
 */
export const sqliteAppends = (worker: Worker, news: Newest) => {
  const stats = { commits: 0, appends: 0, events: 0 };
  const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
  let waiting: Entry[] = [];
  let request = emptyRequest();
  let refused: string | undefined;
  let fault: string | undefined;
  let closing = false;

  const send = (): void => {
    if (request.streams.length === 0) return;
    worker.postMessage(request);
    request = emptyRequest();
  };

  const enqueue = (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> =>
    new Promise((resolve, reject) => {
      if (refused) throw new Refusal('unavailable', refused);
      if (request.streams.length === 0) setImmediate(send);
      waiting.push({ stream, expected, events, resolve, reject });
      request.streams.push(stream);
      request.expected.push(expected);
      request.counts.push(events.length);
      request.size += pageSize;
      for (const { id, type, data, metadata } of events) {
        request.texts.push(id, type, data, metadata);
        request.size += data.length + metadata.length;
      }
      if (request.size >= maxRequest) send();
    });

  const stored = ({ stream, expected, events }: Entry, position: number): void => {
    stats.appends++;
    stats.events += events.length;
    const before = position - events.length;
    news.add(events.map(({ id, type, data, metadata }, n) =>
      ({ stream, revision: expected + 1 + n, position: before + 1 + n, id, type, data, metadata })));
  };

  const settle = (entry: Entry, revision: number, position: number): void => {
    const { stream, expected, events, resolve, reject } = entry;
    if (position < 0) return reject(new Refusal('unavailable', 'Another program is writing to the file of the log'));
    if (position === 0) return reject(new WrongRevision(stream, expected, revision));
    // Not so for a checkpoint, and for a repeated append.
    if (events.length > 0 && position > news.head()) stored(entry, position);
    resolve({ revision, position });
  };

  const finishWhenIdle = (): void => {
    if (closing && waiting.length === 0) worker.postMessage(null);
  };

  worker.on('message', (reply: Reply) => {
    stats.commits++;
    const settled = waiting.splice(0, reply.length / 2);
    for (const [n, entry] of settled.entries()) settle(entry, reply[2 * n]!, reply[2 * n + 1]!);
    news.wake();
    finishWhenIdle();
  });

  worker.on('error', error => {
    fault = error.message;
    refused = `The log has stopped: ${fault}`;
    for (const { reject } of waiting) reject(new Refusal('unavailable', refused, { cause: error }));
    waiting = [];
  });

  return {
    append: async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
      checkSize(events);
      return enqueue(stream, expected, events);
    },
    setCheckpoint: async (name: string, position: number): Promise<void> => {
      await enqueue(name, position, []);
    },
    fault: () => fault,
    stats: (): Stats => ({ ...stats }),
    /** Waits for what is under way, refuses what comes later, and ends the thread. */
    close: (): Promise<void> => {
      refused ??= 'The log is closed';
      closing = true;
      send();
      finishWhenIdle();
      return exited;
    },
  };
};
