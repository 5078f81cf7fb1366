import { randomUUID } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { identityStream, sumOf } from '@automation-platform/event-log';
import { identityEvent } from '../identity.ts';
import { placesInPast, placesOfReaders, setPlacesOfReaders } from '../readers.ts';
import { type Connection, connect, connectToRead, createTables, logId, openFile, value } from '../sqlite/log.ts';
import { noteKeeper, noteOf, noteOfEvent } from '../sqlite/note.ts';
import { sqliteReads } from '../sqlite/reads.ts';
import { openSqliteStore } from '../sqlite/store.ts';

const synced = (path: string): void => {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

/** Puts a finished file in the place of another in one step, durably. */
export const putInPlace = (fresh: string, file: string): void => {
  synced(fresh);
  renameSync(fresh, file);
  synced(dirname(file));
};

/**
 * Moves what the WAL of a log holds into its file, and removes the WAL. It must not lie beside a new file. Statements are
 * not prepared here: the driver would keep the connection, and so the WAL, until they are collected.
 */
const emptyWal = (file: string): void => {
  const db = openFile(file, { timeout: 5000 });
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
  if (sizeOf(`${file}-wal`) > 0) throw new Error(`${file} is in use`);
};

/** True if two names are of the same file, as after a stop between the two steps of a replacement. */
const isSame = (one: string, other: string): boolean => {
  if (!existsSync(one) || !existsSync(other)) return false;
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
};

/** The name under which a log stays that another one replaces. Logs that were replaced before keep their names. */
const nameToKeep = (file: string): string => {
  const first = `${file}.replaced`;
  let name = first;
  for (let n = 2; existsSync(name) && !isSame(name, file); n++) name = `${first}-${n}`;
  return name;
};

/**
 * Keeps the log that is about to be replaced. Where SQLite cannot open the log, its WAL is kept beside it: such a log may
 * be damaged, which may be why it is replaced. Gives the name of the kept file; undefined if there was no log.
 */
const keepReplaced = (file: string): string | undefined => {
  const backupName = nameToKeep(file);
  const [wal, keptWal] = [`${file}-wal`, `${backupName}-wal`];
  // SQLite may remove a WAL that it cannot read, so this comes first.
  if (sizeOf(wal) > 0) copyFileSync(wal, keptWal);
  const isThere = sizeOf(file) > 0;
  if (isThere) {
    try {
      emptyWal(file);
      rmSync(keptWal, { force: true });
    } catch {
      // Log and WAL are kept as they are.
    }
    if (!existsSync(backupName)) linkSync(file, backupName);
  }
  for (const name of [wal, `${file}-shm`]) rmSync(name, { force: true });
  return isThere ? backupName : undefined;
};

/** Writes the note of a log anew, for the log that is in the file now. */
const renewNote = (file: string): void => {
  rmSync(noteOf(file), { force: true });
  const db = connectToRead(file);
  try {
    const reads = sqliteReads(db);
    const last = reads.at(reads.head());
    const note = noteKeeper(file);
    if (last) note.write(noteOfEvent(reads.id, last));
    note.close();
  } finally {
    db.close();
  }
};

/**
 * Puts a log in the place of another in one step. Nobody may have either of them open. The other one stays under
 * another name, which is returned; undefined if there was none.
 */
export const replaceLog = (fresh: string, file: string): string | undefined => {
  emptyWal(fresh);
  const backup = keepReplaced(file);
  putInPlace(fresh, file);
  renewNote(file);
  return backup;
};

/** The id of the log in a file and how many events it has; undefined if the file holds no log. */
export const logAt = (file: string): { readonly id: string; readonly events: number } | undefined => {
  if (sizeOf(file) === 0) return undefined;
  // For writing too: where the making of a log was cut short, SQLite puts the file right first.
  const db = openFile(file, { timeout: 5000 });
  try {
    const id = logId(db);
    if (id === undefined) return undefined;
    return { id, events: sqliteReads(db).head() };
  } finally {
    db.close();
  }
};

/** Works in the file of a log that nobody has open. A file of an earlier version becomes one of this version. */
const inLog = <T>(file: string, work: (db: Connection) => T): T => {
  const db = connect(file);
  try {
    createTables(db, file);
    return work(db);
  } finally {
    db.close();
  }
};

/**
 * Gives the log in a file a new id. So read models, followers and notes of the log that it is a copy of do not go on
 * with it.
 */
export const renewId = (file: string): void => {
  const id = randomUUID();
  inLog(file, (db) => {
    db.exec('BEGIN IMMEDIATE');
    db.prepare('UPDATE log SET id = ?').run(id);
    const first = db
      .prepare('SELECT position, metadata FROM events WHERE stream = ? AND revision = 0')
      .get(identityStream) as [position: number, metadata: string] | undefined;
    if (first) {
      const [position, metadata] = first;
      const event = { ...identityEvent(id), metadata };
      const change = db.prepare('UPDATE events SET id = ?, type = ?, data = ? WHERE position = ?');
      change.run(event.id, event.type, event.data, position);
      const sum = sumOf({ stream: identityStream, revision: 0, ...event });
      db.prepare('INSERT OR REPLACE INTO sums (position, sum) VALUES (?, ?)').run(position, sum);
    }
    db.exec('COMMIT');
  });
};

/**
 * Makes a log in a file, which nobody has open, one that brings back a past: nothing of it fires. `places` are those of
 * its readers, where the file does not have them itself.
 */
export const bringBack = async (file: string, places?: ReadonlyMap<string, number>): Promise<void> => {
  const store = await openSqliteStore({ file });
  try {
    const readerPlaces = places ?? (await placesOfReaders(store));
    await setPlacesOfReaders(store, placesInPast(readerPlaces, await store.head()));
  } finally {
    await store.close();
  }
};

// Checkpoints in a log that is being made from an export. They go before the log is put in its place.
const imported = 'stage-imported';
const stageDone = 'stage-done';

/** How far the making of a log has come, kept in the log itself. So a later run goes on, and adds nothing twice. */
export const stages = (file: string) => {
  const note = (name: string): void =>
    inLog(file, (db) =>
      db.exec(`INSERT OR REPLACE INTO checkpoints SELECT '${name}', coalesce(max(position), 0) FROM events`),
    );
  const has = (db: Connection, name: string): boolean =>
    value(db, `SELECT 1 FROM checkpoints WHERE name = '${name}'`) !== undefined;

  return {
    /** All events of the export are there. */
    imported: (): void => note(imported),
    /** The events that begin the past anew are there too. */
    done: (): void => note(stageDone),
    isDone: (): boolean => inLog(file, (db) => has(db, stageDone)),
    /** Removes the events of a beginning that was cut short. */
    dropUnfinished: (): void => {
      if (!existsSync(file)) return;
      inLog(file, (db) => {
        if (!has(db, imported) || has(db, stageDone)) return;
        const from = `(SELECT position FROM checkpoints WHERE name = '${imported}')`;
        db.exec(
          `BEGIN; DELETE FROM sums WHERE position > ${from}; DELETE FROM events WHERE position > ${from}; COMMIT`,
        );
      });
    },
    forget: (): void =>
      inLog(file, (db) => db.exec(`DELETE FROM checkpoints WHERE name IN ('${imported}', '${stageDone}')`)),
  };
};
