import { chmodSync, existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../folders.ts';
import type { StoredEvent } from '../port.ts';
import { connectToRead, lockFolder, openFile } from '../sqlite/log.ts';
import { noteOf } from '../sqlite/note.ts';
import { openSqliteReader } from '../sqlite/store.ts';
import { unfitEvents } from './content.ts';
import { bringBack, putInPlace, renewId, replaceLog } from './replaceLog.ts';

/** Removes a file of SQLite, and what SQLite has laid beside it. */
const removeAll = (file: string): void => {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(name, { force: true });
};

/** Copies a log as it is at one moment, also while a service writes to it. The copy is one file without a WAL. */
export const copyOfMoment = (file: string, to: string): void => {
  removeAll(to);
  makeFolder(dirname(to));
  const db = connectToRead(file);
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
  chmodSync(to, 0o600);
};

/** Gets the position up to which events were checked. */
type Told = (position: number) => void;

/** Checks every event of a log in a file. Throws where one is missing or is not as it was written. Gives their number. */
export const verifyFile = async (
  file: string,
  report: Told,
  each: (event: StoredEvent) => void = () => undefined,
): Promise<number> => {
  const store = await openSqliteReader(file);
  try {
    let events = 0;
    for await (const batch of store.readAll(0)) {
      events += batch.events.length;
      batch.events.forEach(each);
      report(batch.position);
    }
    return events;
  } finally {
    await store.close();
  }
};

/** True if a file is a database of SQLite with a log. The log may be damaged. */
const holdsLog = (file: string): boolean => {
  if (!statSync(file).isFile()) return false;
  const db = openFile(file, { timeout: 0, readOnly: true });
  try {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log'").get() !== undefined;
  } catch {
    return false;
  } finally {
    db.close();
  }
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

type Backup = { readonly file: string; readonly to: string; readonly report: Told };

/**
 * Makes a backup of a log in a file, also while a service writes to it. The backup appears complete and checked, or not
 * at all: an earlier one of that name stays until then. Returns the number of events.
 */
export const backUp = async ({ file, to, report }: Backup): Promise<number> => {
  if (!existsSync(file)) throw new Error(`There is no log at ${file}`);
  if (to === resolve(file)) throw new Error('The backup cannot be the log itself');
  // It may be on a disk that is not mounted, so it is not made.
  if (!isFolder(dirname(to))) throw new Error(`There is no folder ${dirname(to)} for the backup`);
  if (existsSync(to) && !holdsLog(to)) throw new Error(`${to} is there and is no backup of a log`);
  // Only a service keeps a note beside its log. The log may be the one of this service, under another path.
  if (existsSync(noteOf(to))) throw new Error(`${to} is the log of a service, and no backup`);
  const fresh = `${to}.new`;
  try {
    copyOfMoment(file, fresh);
    const events = await verifyFile(fresh, report);
    putInPlace(fresh, to);
    return events;
  } finally {
    removeAll(fresh);
  }
};

type Restoring = {
  /** The backup. */
  readonly from: string;
  readonly file: string;
  /** Begins the schedules in the log of a file at this time. */
  readonly beginSchedules: (file: string) => Promise<void>;
  readonly report: Told;
};

/** How many events were restored, a line about those that do not fit, and the name of the log that was there. */
type Restored = { readonly events: number; readonly unfit: readonly string[]; readonly kept: string | undefined };

/**
 * Puts a backup in the place of a log, after every event was checked. It brings back a past: nothing of it fires. Throws
 * an Error if a service uses the log.
 */
export const restore = async ({ from, file, beginSchedules, report }: Restoring): Promise<Restored> => {
  if (!existsSync(from)) throw new Error(`There is no file ${from}`);
  if (!holdsLog(from)) throw new Error(`${from} is no backup of a log, or it is damaged; an export is for import`);
  if (existsSync(file) && realpathSync(from) === realpathSync(file)) throw new Error('The backup is the log itself');
  makeFolder(dirname(file));
  const unlock = lockFolder(file);
  const folder = join(dirname(file), 'restoring');
  const fresh = join(folder, 'events.db');
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    clear();
    copyOfMoment(from, fresh);
    const unfit = unfitEvents();
    const events = await verifyFile(fresh, report, unfit.add);
    renewId(fresh);
    await bringBack(fresh);
    await beginSchedules(fresh);
    return { events, unfit: unfit.lines(), kept: replaceLog(fresh, file) };
  } finally {
    clear();
    unlock();
  }
};
