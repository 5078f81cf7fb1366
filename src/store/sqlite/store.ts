import { on, once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve as absolute, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import { startWorker } from '../../process/startWorker.ts';
import { isDamage } from '../integrity.ts';
import type { Batch, EventStore, StoredEvent } from '../port.ts';
import type { Ahead, Chunk } from './aheadWorker.ts';
import { type Stats, sqliteAppends } from './appends.ts';
import { inWords, naming } from './errors.ts';
import { follow, type News, newest } from './follow.ts';
import {
  type Connection,
  checkOrder,
  checkVersion,
  connect,
  connectToRead,
  createTables,
  lockFolder,
  privateFile,
} from './log.ts';
import { element, type Heading, type Reads, type StreamEnds, sqliteReads, streamEnds } from './reads.ts';
import { type Pace, type Scrubbed, scrubber } from './scrub.ts';
import { isMissing, refuseShorter, type Seen } from './shorter.ts';
import type { WriterOptions } from './transactions.ts';

/**
 * The event store in a file, embedded in the process. Beyond the port it has what a server of EventStoreDB's protocol
 * needs.
 */
export type SqliteStore = EventStore &
  Backwards & {
    stats(): Stats;
    /** Why the note beside the log cannot be written. Appends do not depend on the note. */
    noteFault(): string | undefined;
    /** Findings of the check of stored events in the background. */
    scrubbed(): Scrubbed;
  };

type Backwards = {
  /** A stream's newest events without their content, the newest first. */
  newest(stream: string, count: number): Promise<readonly Heading[]>;
  /** A stream's events from a revision down, some at a time. */
  readBack(stream: string, from: number): AsyncIterable<readonly StoredEvent[]>;
  /** Everything before a position, the newest first, some at a time. */
  readAllBack(before: number): AsyncIterable<readonly StoredEvent[]>;
};

const reading = (reads: Reads, news: News) => ({
  id: reads.id,
  read: reads.read,
  readCategory: reads.readCategory,
  readAll: reads.readAll,
  follow: ((after, filter, signal) => follow({ reads, news }, after, filter, signal)) satisfies EventStore['follow'],
  newest: async (stream: string, count: number) => reads.newest(stream, count),
  readBack: reads.readBack,
  readAllBack: reads.readAllBack,
  at: async (position: number) => reads.at(position),
  head: async () => reads.head(),
  checkpoint: async (name: string) => reads.checkpoint(name),
  checkpointsOf: async (reader: string) => reads.checkpointsOf(reader),
  takeCheckpoint: async (name: string) => reads.checkpoint(name),
  connected: () => true,
});

/** Further options of the store. */
export type Told = {
  /** Events that readers, such as snapshots, have seen in the log. It must have them. */
  readonly seen?: readonly Seen[];
  readonly log?: Log;
  /** How fast stored events are checked in the background. */
  readonly pace?: Pace;
  /** Accepts events of any size, for a copy: the source may have had another limit. */
  readonly anySize?: boolean;
};

const openToRead = (file: string, open: (file: string) => Connection): Connection => {
  let db: Connection | undefined;
  try {
    db = open(file);
    checkVersion(db, file);
    return db;
  } catch (error) {
    db?.close();
    throw naming(file, error);
  }
};

/** Opens the first connection, which makes the log if there is none. */
const create = (file: string, log: Log): Connection => {
  privateFile(file);
  const db = connect(file);
  try {
    if (createTables(db, file)) log('Earlier versions of the program refuse the log from now on', { file });
    checkOrder(db, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Opens the log in a file. A missing file is made. Throws `RequestError('unavailable')` when another process writes in
 * the same folder. Throws an error when the file is no log, cannot be written durably, or lacks events that it had.
 * When the disk fails later, the store recovers by itself. Until then `fault` says why, and appends are refused.
 */
export const openSqliteStore = async (options: WriterOptions, listeners: Told = {}): Promise<SqliteStore> => {
  const { seen = [], log = () => undefined, pace, anySize = false } = listeners;
  const file = absolute(options.file);
  const unlock = lockFolder(file);
  let reads: Reads | undefined;
  try {
    await refuseShorter(file, seen);
    if (isMissing(file) && existsSync(join(dirname(file), 'secret.key')))
      log('A new log begins beside a secret.key: a first start was cut short, or the log was moved', { file });
    const db = openToRead(file, () => create(file, log));
    const ends = streamEnds();
    reads = sqliteReads(db, ends);
    reads.checkHead();
    const scrub = scrubber({ db, head: reads.head, pace });
    return await writing({ reads, ends, scrub, options: { ...options, file }, log, anySize, unlock });
  } catch (error) {
    reads?.close();
    unlock();
    throw error;
  }
};

type Parts = {
  readonly reads: Reads;
  readonly ends: StreamEnds;
  readonly scrub: ReturnType<typeof scrubber>;
  readonly options: WriterOptions;
  readonly log: Log;
  readonly anySize: boolean;
  readonly unlock: () => void;
};

const writing = async ({ reads, ends, scrub, options, log, anySize, unlock }: Parts): Promise<SqliteStore> => {
  const head = reads.head();
  const news = newest(head);
  const { id, find } = reads;
  const {
    close: finishAppends,
    started,
    ...appends
  } = sqliteAppends({ options, id, last: reads.at(head), news, ends, find, log, anySize });
  await started;
  const close = async (): Promise<void> => {
    scrub.stop();
    await finishAppends();
    reads.close();
    news.wake();
    unlock();
  };
  let closed: Promise<void> | undefined;
  const ahead = readerAhead(options.file);
  return {
    ...reading(reads, { ...news, ahead }),
    ...appends,
    scrubbed: scrub.scrubbed,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
};

const pollMs = 200;

const refuse = async (): Promise<never> => {
  throw new RequestError('unavailable', 'The log is open for reading only');
};

/**
 * Opens the log in a file for reading, also while another process or thread writes to it. New events are found by
 * polling. Throws `RequestError('not_found')` when there is no such file, and an error when it is no log or has lost events.
 */
export const openSqliteReader = async (file: string): Promise<EventStore> => {
  if (!existsSync(file)) throw new RequestError('not_found', `There is no log at ${file}`);
  // A log that has lost its end must not be read as if it were whole.
  await refuseShorter(file, []);
  const reads = sqliteReads(openToRead(file, connectToRead));
  const next = (signal: AbortSignal): Promise<void> => delay(pollMs, undefined, { signal }).catch(() => undefined);
  return {
    ...reading(reads, { head: reads.head, next, ahead: readerAhead(file) }),
    append: refuse,
    setCheckpoint: refuse,
    removeCheckpoint: refuse,
    keepCheckpoint: refuse,
    fault: () => undefined,
    close: async () => reads.close(),
  };
};

const chunksAhead = 4;

const batchOf = ({ position, numbers, texts }: Chunk): Batch => {
  const events: StoredEvent[] = [];
  for (let n = 0; n < numbers.length / 2; n++) {
    const text = 5 * n;
    events.push({
      position: element(numbers, 2 * n),
      revision: element(numbers, 2 * n + 1),
      stream: element(texts, text),
      id: element(texts, text + 1),
      type: element(texts, text + 2),
      data: element(texts, text + 3),
      metadata: element(texts, text + 4),
    });
  }
  return { events, position };
};

/**
 * Returns a function that reads a log after one position up to another, in a thread of its own. The thread is some
 * chunks ahead of the consumer, so a long replay handles one chunk while the next is read. Between two chunks other
 * work can run. Only one such read runs at a time: meanwhile the function returns undefined.
 */
const readerAhead = (file: string): ((after: number, until: number) => AsyncIterable<Batch> | undefined) => {
  let busy = false;
  const read = async function* (after: number, until: number): AsyncGenerator<Batch> {
    busy = true;
    const worker = startWorker('store/sqlite/aheadWorker', { file, after, until } satisfies Ahead);
    // The loop below gets the worker's error from `on`.
    const ended = once(worker, 'exit').catch(() => undefined);
    try {
      const chunks = on(worker, 'message', { close: ['exit'] });
      for (let n = 0; n < chunksAhead; n++) worker.postMessage('next');
      for await (const [chunk] of chunks as AsyncIterable<[Chunk]>) {
        worker.postMessage('next');
        yield batchOf(chunk);
        if (chunk.position === until) return;
      }
    } catch (cause) {
      throw isDamage(cause) ? cause : new RequestError('unavailable', inWords(cause), { cause });
    } finally {
      worker.postMessage('end');
      await ended;
      busy = false;
    }
  };
  return (after, until) => (busy ? undefined : read(after, until));
};
