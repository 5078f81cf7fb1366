import { randomUUID } from 'node:crypto';
import { identityEvent, identityStream } from '../identity.ts';
import { sumOf } from '../integrity.ts';
import { placesInPast, placesOfReaders, setPlacesOfReaders } from '../readers.ts';
import { connect, createTables } from '../sqlite/log.ts';
import { openSqliteStore } from '../sqlite/store.ts';

/**
 * Gives the log in a file a new id. So read models, followers and notes of the log that it is a copy of do not go on
 * with it.
 */
export const renewId = (file: string): void => {
  const id = randomUUID();
  const db = connect(file);
  try {
    // A backup by an earlier version may have no sums.
    createTables(db, file);
    db.exec('BEGIN IMMEDIATE');
    db.prepare('UPDATE log SET id = ?').run(id);
    const first = db
      .prepare('SELECT position, metadata FROM events WHERE stream = ? AND revision = 0')
      .get(identityStream) as [position: number, metadata: string] | undefined;
    if (first) {
      const [position, metadata] = first;
      const event = { ...identityEvent(id), metadata };
      db.prepare('UPDATE events SET id = ?, type = ?, data = ? WHERE position = ?').run(
        event.id,
        event.type,
        event.data,
        position,
      );
      const sum = sumOf({ stream: identityStream, revision: 0, ...event });
      db.prepare('INSERT OR REPLACE INTO sums (position, sum) VALUES (?, ?)').run(position, sum);
    }
    db.exec('COMMIT');
  } finally {
    db.close();
  }
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
