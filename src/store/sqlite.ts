import { once } from 'node:events';
import { resolve as absolute } from 'node:path';
import { startWorker } from '../startWorker.ts';
import type { EventStore } from './port.ts';
import { sqliteAppends, type Stats } from './sqliteAppends.ts';
import { follow, newest } from './sqliteFollow.ts';
import { lockFolder } from './sqliteLock.ts';
import { checkVersion, connect, createTables, privateFile } from './sqliteLog.ts';
import { sqliteReads } from './sqliteReads.ts';

/** The event store embedded in the process, and counts of what it has committed since it was opened. */
export type SqliteStore = EventStore & { stats(): Stats };

/**
 * Opens the log in a file, making file and folder when they are missing. Throws `Refusal('unavailable')` when another
 * process has it open for writing, and an error when the file is something else or cannot be written durably.
 */
export const openSqliteStore = async ({ file: path }: { readonly file: string }): Promise<SqliteStore> => {
  const file = absolute(path);
  const unlock = lockFolder(file);
  try {
    privateFile(file);
    const db = connect(file);
    createTables(db);
    checkVersion(db, file);
    db.exec('PRAGMA query_only = 1');
    const worker = startWorker('sqliteWriter', import.meta.url, { file });
    await once(worker, 'message');
    const reads = sqliteReads(db);
    const news = newest(reads.head());
    const appends = sqliteAppends(worker, news);
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await appends.close();
      reads.close();
      news.wake();
      unlock();
    };
    return {
      id: reads.id,
      append: appends.append,
      read: reads.read,
      readAll: reads.readAll,
      follow: (after, filter, signal) => follow(reads, news, after, filter, signal),
      at: async position => reads.at(position),
      head: async () => reads.head(),
      checkpoint: async name => reads.checkpoint(name),
      setCheckpoint: appends.setCheckpoint,
      fault: appends.fault,
      stats: appends.stats,
      close: () => (closed ??= close()),
    };
  } catch (error) {
    unlock();
    throw error;
  }
};
