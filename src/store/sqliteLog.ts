import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

export type Connection = Database.Database;

const version = 1;

const schema = `
  CREATE TABLE IF NOT EXISTS log (id TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
  CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** First column of the first row, undefined when there is none. */
export const value = (db: Connection, sql: string): unknown => (db.prepare(sql).raw().get() as unknown[] | undefined)?.[0];

/** Sees to it that the file exists, and its folder (0700), and that only its owner may open it. */
export const privateFile = (file: string): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    // A file that exists must not be opened: closing it would drop the locks that SQLite holds on it in this process.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
};

/**
 * Opens a file for durable writes: WAL, and an fsync in every commit; throws when it does not get them. A statement
 * fails as busy when another program holds the write lock for longer than `patienceMs`.
 */
export const connect = (file: string, patienceMs = 5000): Connection => {
  const db = new Database(file, { timeout: patienceMs });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const journal = value(db, 'PRAGMA journal_mode');
  const synchronous = value(db, 'PRAGMA synchronous');
  if (journal !== 'wal' || synchronous !== 2) {
    throw new Error(`${file} cannot be written durably: journal_mode is ${journal}, synchronous is ${synchronous}`);
  }
  return db;
};

/** Opens a file so that nothing can be written to it. */
export const connectToRead = (file: string): Connection => {
  const db = new Database(file, { timeout: 5000 });
  db.exec('PRAGMA query_only = 1');
  return db;
};

/** Throws when the file is not a log of the version that this program writes. */
export const checkVersion = (db: Connection, file: string): void => {
  const found = value(db, "SELECT 1 FROM sqlite_schema WHERE name = 'log'") && value(db, 'SELECT version FROM log');
  if (found !== version) throw new Error(`${file} is ${found ? `a log of version ${found}` : 'no log'}; this program needs version ${version}`);
};

/** Makes the tables, and the id, unless they are there. */
export const createTables = (db: Connection): void => {
  const id = `INSERT INTO log SELECT '${randomUUID()}', ${version} WHERE NOT EXISTS (SELECT 1 FROM log)`;
  db.transaction(() => db.exec(schema + id)).immediate();
};
