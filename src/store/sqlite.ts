import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../domain/refusal.ts';
import { startWorker } from '../startWorker.ts';
import type { EventStore, StoredEvent } from './port.ts';
import { readerAhead } from './sqliteAhead.ts';
import { sqliteAppends, type Stats } from './sqliteAppends.ts';
import { follow, newest, type News } from './sqliteFollow.ts';
import { lockFolder } from './sqliteLock.ts';
import { checkVersion, connect, connectToRead, createTables, privateFile } from './sqliteLog.ts';
import { sqliteReads, type Heading, type Reads } from './sqliteReads.ts';
import type { WriterOptions } from './sqliteWriter.ts';

/** The event store embedded in the process, with what EventStoreDB's protocol needs beyond the port. */
export type SqliteStore = EventStore & Backwards & { stats(): Stats };

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
  readAll: reads.readAll,
  follow: ((after, filter, signal) => follow(reads, news, after, filter, signal)) satisfies EventStore['follow'],
  newest: async (stream: string, count: number) => reads.newest(stream, count),
  readBack: reads.readBack,
  readAllBack: reads.readAllBack,
  at: async (position: number) => reads.at(position),
  head: async () => reads.head(),
  checkpoint: async (name: string) => reads.checkpoint(name),
  connected: () => true,
});

/**
 * Opens the log in a file, which is made when it is missing. Throws `Refusal('unavailable')` when another process is
 * writing in the same folder, an error when the file is no log or cannot be written durably.
 */
export const openSqliteStore = async (options: WriterOptions): Promise<SqliteStore> => {
  const file = absolute(options.file);
  const unlock = lockFolder(file);
  try {
    privateFile(file);
    const db = connect(file);
    createTables(db);
    checkVersion(db, file);
    const worker = startWorker('sqliteWriter', import.meta.url, { ...options, file } satisfies WriterOptions);
    await once(worker, 'message');
    const reads = sqliteReads(db);
    const news = newest(reads.head());
    const { close: finishAppends, ...appends } = sqliteAppends(worker, news);
    const close = async (): Promise<void> => {
      await finishAppends();
      reads.close();
      news.wake();
      unlock();
    };
    let closed: Promise<void> | undefined;
    return { ...reading(reads, { ...news, ahead: readerAhead(file) }), ...appends, close: () => (closed ??= close()) };
  } catch (error) {
    unlock();
    throw error;
  }
};

const pollMs = 200;

const refuse = async (): Promise<never> => {
  throw new Refusal('unavailable', 'The log is open for reading only');
};

/**
 * Opens the log in a file for reading, also while another process or thread writes to it; what is new is found by
 * polling. Throws `Refusal('not_found')` when there is no such file, an error when it is no log.
 */
export const openSqliteReader = async (file: string): Promise<EventStore> => {
  if (!existsSync(file)) throw new Refusal('not_found', `There is no log at ${file}`);
  const db = connectToRead(file);
  checkVersion(db, file);
  const reads = sqliteReads(db);
  const next = (signal: AbortSignal): Promise<void> => delay(pollMs, undefined, { signal }).catch(() => undefined);
  return {
    ...reading(reads, { head: reads.head, next, ahead: readerAhead(file) }),
    append: refuse,
    setCheckpoint: refuse,
    fault: () => undefined,
    close: async () => reads.close(),
  };
};
