import { dirname, join } from 'node:path';
import Database from 'libsql';
import { Refusal } from '../domain/refusal.ts';
import { privateFile } from './sqliteLog.ts';

/**
 * Makes this process the only one that writes in the folder of a file, until the returned function is called or the
 * process is gone, however it ended. Throws `Refusal('unavailable')` when there is one already.
 */
export const lockFolder = (file: string): (() => void) => {
  const lock = join(dirname(file), 'lock.db');
  privateFile(lock);
  const db = new Database(lock, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    if (!(cause as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw cause;
    throw new Refusal('unavailable', `Another process is writing to the log in ${dirname(file)}`, { cause });
  }
  return () => {
    db.exec('ROLLBACK');
    db.close();
  };
};
