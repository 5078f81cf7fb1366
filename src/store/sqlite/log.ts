import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { RequestError } from '../../domain/engine/requestError.ts';
import { makeFolder } from '../folders.ts';
import { isBusy, NotAsLeft, naming } from './errors.ts';

export type Connection = DatabaseSyncInstance;

/** Opens a file without settings of its own. Rows come as arrays of columns. */
export const openFile = (
  file: string,
  options: { readonly timeout: number; readonly readOnly?: boolean },
): Connection => new DatabaseSync(file, { ...options, returnArrays: true });

/**
 * The version of the file. Programs refuse a version that they do not know, so every change of the format raises it.
 * 1: earlier versions of the program wrote it. 0.1.0 wrote no sums, not even into a file that has some.
 * 2: every event without a link has a sum, but for those from before version 2.
 */
const version = 2;

const schema = `
  CREATE TABLE IF NOT EXISTS log (id TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
  CREATE TABLE IF NOT EXISTS sums (position INTEGER PRIMARY KEY, sum TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** First column of the first row, or undefined without rows. */
export const value = (db: Connection, sql: string): unknown => (db.prepare(sql).get() as unknown[] | undefined)?.[0];

/** Makes the file and its folder (0700) if they are missing, and lets only the owner open the file. */
export const privateFile = (file: string): void => {
  makeFolder(dirname(file));
  try {
    // A file that exists must not be opened: closing it would drop the locks that SQLite holds on it in this process.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
};

/**
 * Opens a log for durable writes: WAL, and an fsync in every commit. Throws when SQLite does not grant both, or when the
 * file has parts that no log has. A statement fails as busy when another program holds the write lock for longer than `patienceMs`.
 */
export const connect = (file: string, patienceMs = 5000): Connection => {
  const db = openFile(file, { timeout: patienceMs });
  try {
    refuseForeignParts(db, file, schema);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const journal = value(db, 'PRAGMA journal_mode');
    const synchronous = value(db, 'PRAGMA synchronous');
    if (journal === 'wal' && synchronous === 2) return db;
    throw new Error(`${file} cannot be written durably: journal_mode is ${journal}, synchronous is ${synchronous}`);
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Opens a log for reading only. Throws when the file has parts that no log has. */
export const connectToRead = (file: string): Connection => {
  const db = openFile(file, { timeout: 5000, readOnly: true });
  try {
    refuseForeignParts(db, file, schema);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

const hasLog = (db: Connection): boolean => value(db, "SELECT 1 FROM sqlite_schema WHERE name = 'log'") !== undefined;

/** The version of the log in a file; undefined when the file holds no log. */
const versionIn = (db: Connection): number | undefined =>
  hasLog(db) ? (value(db, 'SELECT version FROM log') as number | undefined) : undefined;

/** Throws when the file is no log, or of a version that this program does not know. */
export const checkVersion = (db: Connection, file: string): void => {
  const found = versionIn(db);
  if (found === undefined) throw new Error(`${file} is no log`);
  if (found < 1 || found > version)
    throw new Error(`${file} is a log of version ${found}; this program reads versions up to ${version}`);
};

/** True if every event without a link has a sum, but for those up to the position that is the sum at 0. */
export const isSummed = (db: Connection): boolean => versionIn(db) === version;

/** The id of the log in a file, or undefined when the file holds no log. */
export const logId = (db: Connection): string | undefined =>
  hasLog(db) ? (value(db, 'SELECT id FROM log') as string | undefined) : undefined;

/**
 * Makes the tables, and the id, unless they are there. Raises a file of an earlier version to this one, and returns true
 * then. Throws, and changes nothing, when the file is of a later version.
 */
export const createTables = (db: Connection, file: string): boolean => {
  db.exec('BEGIN IMMEDIATE');
  try {
    const isThere = hasLog(db);
    if (isThere) checkVersion(db, file);
    const isEarlier = isThere && !isSummed(db);
    db.exec(schema);
    // No event has position 0. The sum at 0 is a position: every event after it without a link has a sum.
    if (isEarlier) db.exec(`DELETE FROM sums WHERE position = 0; UPDATE log SET version = ${version}`);
    db.exec('INSERT OR IGNORE INTO sums SELECT 0, coalesce(max(position), 0) FROM events');
    if (!isThere) db.prepare('INSERT INTO log VALUES (?, ?)').run(randomUUID(), version);
    db.exec('COMMIT');
    return isEarlier;
  } catch (error) {
    // On a full disk SQLite has ended the transaction by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

const checkedEvents = 1000;

/** Throws when an event is missing among the newest of a log. Positions and revisions have no gaps. */
export const checkOrder = (db: Connection, file: string): void => {
  const gap = db
    .prepare(`SELECT position, stream, revision FROM events AS e
    WHERE position > (SELECT max(position) FROM events) - ${checkedEvents} AND (
      (position > 1 AND NOT EXISTS (SELECT 1 FROM events WHERE position = e.position - 1)) OR
      (revision > 0 AND NOT EXISTS (
        SELECT 1 FROM events WHERE stream = e.stream AND revision = e.revision - 1 AND position < e.position)))
    LIMIT 1`)
    .get() as [position: number, stream: string, revision: number] | undefined;
  if (!gap) return;
  const [position, stream, revision] = gap;
  const place = `position ${position} (event ${revision} of stream ${stream})`;
  throw new Error(`${file} is damaged: what comes before ${place} is missing; restore a backup`);
};

type Database = Pick<DatabaseSyncInstance, 'prepare'>;

// ANALYZE of any client of SQLite makes these. They hold numbers only.
const statistics = [
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
];

/** A statement as one line, without the words that SQLite does not keep. */
const plain = (sql: string): string => sql.replace(' IF NOT EXISTS', '').replace(/\s+/g, ' ').trim();

const statementsIn = (schema: string): readonly string[] =>
  schema
    .split(';')
    .map(plain)
    .filter((sql) => sql !== '');

type Row = [type: string, name: string, sql: string | null];

// The index of a primary key has no statement.
const rowsIn = (db: Database): readonly Row[] =>
  db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index' OR sql IS NOT NULL")
    .all() as unknown as Row[];

/**
 * The parts of a file that its schema does not have, by type and name. A trigger would run inside the service; a view or
 * another table in the place of a known one would answer for it.
 */
const foreignParts = (db: Database, schema: string): readonly string[] => {
  const statements = new Set([...statementsIn(schema), ...statistics]);
  return rowsIn(db)
    .filter(([, , sql]) => !statements.has(plain(sql ?? '')))
    .map(([type, name]) => `${type} ${JSON.stringify(name)}`);
};

/** True if a file has all that its schema has, and nothing else. */
export const hasSchema = (db: Database, schema: string): boolean => {
  const found = new Set(rowsIn(db).map(([, , sql]) => plain(sql ?? '')));
  return statementsIn(schema).every((sql) => found.has(sql)) && foreignParts(db, schema).length === 0;
};

/** Throws when a file has more than its schema, or other tables under the names of its own. */
const refuseForeignParts = (db: Database, file: string, schema: string): void => {
  const parts = foreignParts(db, schema);
  if (parts.length === 0) return;
  throw new NotAsLeft(
    `${file} has parts that no log of this program has: ${parts.join(', ')}. Nothing was changed; ` +
      'see "Foreign parts in the file" in docs/operations.md',
  );
};

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
