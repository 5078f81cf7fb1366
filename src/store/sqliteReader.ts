import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { Refusal } from '../domain/refusal.ts';
import type { EventStore } from './port.ts';
import { follow } from './sqliteFollow.ts';
import { checkVersion } from './sqliteLog.ts';
import { sqliteReads } from './sqliteReads.ts';

const pollMs = 200;

const refuse = async (): Promise<never> => {
  throw new Refusal('unavailable', 'The log is open for reading only');
};

/**
 * Opens a log for reading, also while another process or thread writes to it; it learns of new events by polling.
 * Throws `Refusal('not_found')` when there is no such file, and an error when it is not a log.
 */
export const openSqliteReader = (file: string): EventStore => {
  if (!existsSync(file)) throw new Refusal('not_found', `There is no log at ${file}`);
  const db = new Database(file, { timeout: 5000 });
  db.exec('PRAGMA query_only = 1');
  checkVersion(db, file);
  const reads = sqliteReads(db);
  const news = { head: reads.head, next: (signal: AbortSignal) => delay(pollMs, undefined, { signal }).catch(() => {}) };
  return {
    id: reads.id,
    append: refuse,
    read: reads.read,
    readAll: reads.readAll,
    follow: (after, filter, signal) => follow(reads, news, after, filter, signal),
    at: async position => reads.at(position),
    head: async () => reads.head(),
    checkpoint: async name => reads.checkpoint(name),
    setCheckpoint: refuse,
    fault: () => undefined,
    close: async () => reads.close(),
  };
};
