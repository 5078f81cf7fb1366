import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { identityStream, sumOf } from '@automation-platform/event-log';
import { identityEvent } from '../identity.ts';
import { placesInPast, placesOfReaders, setPlacesOfReaders } from '../readers.ts';
import { type Connection, connect, createTables, value } from '../sqlite/log.ts';
import { openSqliteStore } from '../sqlite/store.ts';

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
    const known = places ?? (await placesOfReaders(store));
    await setPlacesOfReaders(store, placesInPast(known, await store.head()));
  } finally {
    await store.close();
  }
};

// Checkpoints in a log that is being made from an export. They go before the log is put in its place.
const imported = 'stage-imported';
const done = 'stage-done';

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
    done: (): void => note(done),
    isDone: (): boolean => inLog(file, (db) => has(db, done)),
    /** Removes the events of a beginning that was cut short. */
    dropUnfinished: (): void => {
      if (!existsSync(file)) return;
      inLog(file, (db) => {
        if (!has(db, imported) || has(db, done)) return;
        const from = `(SELECT position FROM checkpoints WHERE name = '${imported}')`;
        db.exec(
          `BEGIN; DELETE FROM sums WHERE position > ${from}; DELETE FROM events WHERE position > ${from}; COMMIT`,
        );
      });
    },
    forget: (): void =>
      inLog(file, (db) => db.exec(`DELETE FROM checkpoints WHERE name IN ('${imported}', '${done}')`)),
  };
};
