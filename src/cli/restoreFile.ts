import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { makeFolder } from '../store/folders.ts';
import { copyOfMoment, holdsLog, verifyFile } from '../store/moving/backup.ts';
import { bringBack, renewId } from '../store/moving/bringBack.ts';
import { replaceLog } from '../store/moving/replaceLog.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { unfitEvents } from '../store/unfit.ts';
import { fileOfLog } from './backupFile.ts';
import { beginSchedules } from './beginSchedules.ts';
import { progressLine, type Terminal } from './progress.ts';

/**
 * Puts a backup in the place of the log that the settings name. The backup is checked first. It brings back a past:
 * nothing of it fires. The service must be stopped; if it is not, an Error is thrown.
 */
export const restoreFile = async (config: Config, name: string, output: Terminal = process.stderr): Promise<void> => {
  const file = fileOfLog(config, 'restore');
  const from = resolve(name);
  if (!existsSync(from)) throw new Error(`There is no file ${from}`);
  if (!holdsLog(from)) throw new Error(`${from} is no backup of a log, or it is damaged; an export is for import`);
  if (existsSync(file) && realpathSync(from) === realpathSync(file)) throw new Error('The backup is the log itself');
  makeFolder(dirname(file));
  const unlock = lockFolder(file);
  const folder = join(dirname(file), 'restoring');
  const fresh = join(folder, 'events.db');
  const progress = progressLine(output);
  const unfit = unfitEvents();
  try {
    await rm(folder, { recursive: true, force: true });
    copyOfMoment(from, fresh);
    const events = await verifyFile(fresh, (position) => progress.show(() => `${position} events checked`), unfit.add);
    progress.end();
    renewId(fresh);
    await bringBack(fresh);
    await beginSchedules(fresh, Date.now());
    const kept = replaceLog(fresh, file);
    for (const line of [`${events} events restored from ${from}`, ...unfit.lines()]) output.write(`${line}\n`);
    if (kept !== undefined) output.write(`The log that was there is ${kept}; remove it when you need it no more\n`);
  } finally {
    progress.end();
    await rm(folder, { recursive: true, force: true });
    unlock();
  }
};
