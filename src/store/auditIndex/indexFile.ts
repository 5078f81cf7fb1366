import { rmSync } from 'node:fs';
import type { EventStore } from '../port.ts';
import { isFull } from '../sqlite/errors.ts';
import { type Connection, hasSchema, openFile, privateFile } from '../sqlite/log.ts';
import type { Indexer } from './indexer.ts';

/** How far the index has come: a position, and the id of the event there; '' at the beginning. */
type Reached = { readonly position: number; readonly event: string };

export type IndexFile = {
  readonly db: Connection;
  /** Undefined if the index was made from another log. */
  readonly lastPlace: () => Reached | undefined;
  /** Notes how far the index has come; within the transaction of what it has taken in. */
  readonly setReached: (to: Reached) => void;
};

const patienceMs = 5000;

/** Removes the index. Nothing is lost: it is made anew from the log. */
export const removeIndex = (file: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
};

export const openIndexToRead = (file: string): Connection => openFile(file, { timeout: patienceMs, readOnly: true });

const connect = (file: string): Connection => {
  privateFile(file);
  const db = openFile(file, { timeout: patienceMs });
  try {
    // After a power cut the file is whole, and may lack its newest rows. They are read from the log again.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    // Rows of an event lie all over the file. With a small cache, pages would be written and read again and again.
    db.exec('PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 10000');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

const madeFrom = (db: Connection, log: string): IndexFile => {
  const get = db.prepare('SELECT position, event FROM reached WHERE log = ?');
  const set = db.prepare('UPDATE reached SET position = ?, event = ?');
  return {
    db,
    lastPlace: () => {
      const row = get.get(log) as [position: number, event: string] | undefined;
      return row && { position: row[0], event: row[1] };
    },
    setReached: ({ position, event }) => void set.run(position, event),
  };
};

/** True if the log goes on from where the index has come. An event may be missing that EventStoreDB has dropped. */
const goesOn = async (log: EventStore, { position, event }: Reached): Promise<boolean> => {
  const there = event === '' ? undefined : await log.at(position);
  return there ? there.id === event : position <= (await log.head());
};

const reachedTable = 'CREATE TABLE reached (log TEXT, position INTEGER, event TEXT) STRICT;';

/** Makes all tables anew, and removes everything else. */
const makeAnew = (db: Connection, schema: string, log: string): void => {
  db.exec('BEGIN IMMEDIATE');
  // Triggers and views go first, so that none runs.
  const parts = db.prepare(`SELECT type, name FROM sqlite_schema
    WHERE type IN ('trigger', 'view', 'table') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type = 'table', type`);
  for (const [type, name] of parts.all() as [string, string][])
    db.exec(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`);
  db.exec(schema);
  db.prepare("INSERT INTO reached VALUES (?, 0, '')").run(log);
  db.exec('COMMIT');
};

const withSchema = (file: string, schema: string, log: string): Connection => {
  const db = connect(file);
  try {
    if (!hasSchema(db, schema)) makeAnew(db, schema, log);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/**
 * Opens the index for writing. It is made anew if it is missing or damaged, if its tables differ from today's or it has more
 * than them, or if it was made from another log.
 */
export const openIndex = async (file: string, log: EventStore, indexers: readonly Indexer[]): Promise<IndexFile> => {
  const schema = [reachedTable, ...indexers.map((one) => one.schema)].join('\n');
  let db: Connection;
  try {
    db = withSchema(file, schema, log.id);
  } catch (error) {
    // On a full disk the index is whole as far as it goes.
    if (isFull(error)) throw error;
    removeIndex(file);
    db = withSchema(file, schema, log.id);
  }
  const index = madeFrom(db, log.id);
  const lastPlace = index.lastPlace();
  if (lastPlace === undefined || !(await goesOn(log, lastPlace))) makeAnew(db, schema, log.id);
  return index;
};
