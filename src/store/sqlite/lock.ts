import { dirname, join } from 'node:path';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isBusy, naming } from './errors.ts';
import { openFile, privateFile } from './log.ts';

/**
 * Makes this process the only one that writes in the folder of a file. The lock ends when the returned function is
 * called, or when the process ends in any way. `works` says in errors what the other process does. Throws `RequestError('unavailable')` when another process has the lock.
 */
export const lockFolder = (file: string, works = 'is writing to the log'): (() => void) => {
  const lock = join(dirname(file), 'lock.db');
  privateFile(lock);
  const db = openFile(lock, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    if (!isBusy(cause)) throw naming(lock, cause);
    throw new RequestError('unavailable', `Another process ${works} in ${dirname(file)}`, { cause });
  }
  return () => db.close();
};
