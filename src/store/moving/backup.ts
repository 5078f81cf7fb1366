import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../folders.ts';
import type { StoredEvent } from '../port.ts';
import { connectToRead, openFile } from '../sqlite/log.ts';
import { noteOf } from '../sqlite/note.ts';
import { openSqliteReader } from '../sqlite/store.ts';
import { putInPlace } from './replaceLog.ts';

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

/** Checks every event of a log in a file. Throws where one is missing or is not as it was written. Gives their number. */
export const verifyFile = async (
  file: string,
  told: (position: number) => void,
  each: (event: StoredEvent) => void = () => undefined,
): Promise<number> => {
  const store = await openSqliteReader(file);
  try {
    let events = 0;
    for await (const batch of store.readAll(0)) {
      events += batch.events.length;
      batch.events.forEach(each);
      told(batch.position);
    }
    return events;
  } finally {
    await store.close();
  }
};

/** Whether a file is a database of SQLite with a log. The log may be damaged. */
export const holdsLog = (file: string): boolean => {
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

type Needs = { readonly file: string; readonly to: string; readonly told: (position: number) => void };

/**
 * Makes a backup of a log in a file. It appears complete and checked, or not at all: an earlier backup of that name
 * stays until then. Gives the number of events.
 */
export const backUp = async ({ file, to, told }: Needs): Promise<number> => {
  // It may be on a disk that is not mounted, so it is not made.
  if (!isFolder(dirname(to))) throw new Error(`There is no folder ${dirname(to)} for the backup`);
  if (existsSync(to) && !holdsLog(to)) throw new Error(`${to} is there and is no backup of a log`);
  // Only a service keeps a note beside its log. The log may be the one of this service, under another path.
  if (existsSync(noteOf(to))) throw new Error(`${to} is the log of a service, and no backup`);
  const fresh = `${to}.new`;
  try {
    copyOfMoment(file, fresh);
    const events = await verifyFile(fresh, told);
    putInPlace(fresh, to);
    return events;
  } finally {
    removeAll(fresh);
  }
};
