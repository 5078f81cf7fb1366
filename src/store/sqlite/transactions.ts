import { statSync } from 'node:fs';
import { lruCache } from '@automation-platform/concurrency';
import { hashIn, sumOf } from '@automation-platform/event-log';
import type { StoredEvent } from '../port.ts';
import { isBusy, NotAsLeft } from './errors.ts';
import { type Connection, connect, value } from './log.ts';
import { columns, element, type Row, toEvent } from './reads.ts';

/** `patienceMs`: how long an append waits while another program writes to the file. */
export type WriterOptions = { readonly file: string; readonly patienceMs?: number };

/** The state that the log must have whenever it is opened to write. */
export type AsLeft = {
  /** The file, as `inodeOf` identifies it. */
  readonly inode: string;
  /** The newest event that was acknowledged, if one was. */
  readonly acknowledged: Pick<StoredEvent, 'position' | 'id'> | undefined;
};

const frameSize = 4096 + 24;
const longestWal = 32 * 1024 * 1024;
const readersPatienceMs = 200;

/** Identifies a file, so that another file in its place is noticed. Throws when there is no file. */
export const inodeOf = (file: string): string => {
  const { dev, ino } = statSync(file);
  return `${dev} ${ino}`;
};

/**
 * Opens a connection for the log's only writer. After an error it must not be used again, because nobody knows what a
 * failed fsync has left on the disk. Opening makes a commit. This proves that commits succeed, and it overrules the
 * remains of a failed commit in the WAL. Throws `NotAsLeft` when the file is another one, or lacks an acknowledged
 * event.
 */
export const openTransactions = ({ file, patienceMs = 5000 }: WriterOptions, { inode, acknowledged }: AsLeft) => {
  if (inodeOf(file) !== inode) throw new NotAsLeft(`${file} is not the file that was opened`);
  const db = connect(file, patienceMs);

  const close = (): void => {
    // The driver keeps a closed connection alive while it has statements. An open transaction would then keep the write
    // lock.
    try {
      db.exec('ROLLBACK');
    } catch {
      /* There was no transaction. */
    }
    db.close();
  };

  /**
   * Moves the content of the WAL into the file. Waits a little for readers who keep SQLite from writing the WAL from
   * its start again.
   */
  const checkpoint = (): void => {
    const [, frames] = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as [
      busy: number,
      frames: number,
      moved: number,
    ];
    if (frames * frameSize <= longestWal) return;
    db.exec(`PRAGMA busy_timeout = ${readersPatienceMs}; PRAGMA wal_checkpoint(RESTART)`);
    db.exec(`PRAGMA busy_timeout = ${patienceMs}`);
  };

  try {
    // SQLite's own checkpoints are off. They ignore I/O errors, and they come so often that a page which changes often
    // is copied often. A WAL that grew because of readers is cut when SQLite writes it from its start again.
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${longestWal}`);
    db.exec(`PRAGMA user_version = ${((value(db, 'PRAGMA user_version') as number) + 1) % 2 ** 31}`);
    checkpoint();
    if (
      acknowledged &&
      value(db, `SELECT id FROM events WHERE position = ${acknowledged.position}`) !== acknowledged.id
    )
      throw new NotAsLeft(`The log lacks the event at position ${acknowledged.position}, which was acknowledged`);
  } catch (error) {
    close();
    throw error;
  }

  const insert = inserter(db);
  const lastRevision = db.prepare('SELECT max(revision) FROM events WHERE stream = ?');
  const stored = db.prepare('SELECT position FROM events WHERE stream = ? AND revision = ? AND id = ?');
  const setCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoints (name, position) VALUES (?, ?)');
  const removeCheckpoint = db.prepare('DELETE FROM checkpoints WHERE name = ?');
  // There is no other writer, so a known revision stays true.
  const revisions = lruCache<number>(65_536);
  const last = db.prepare(`SELECT ${columns} FROM events ORDER BY position DESC LIMIT 1`).get();
  let newest = last && toEvent(last as Row);
  let position = newest?.position ?? 0;

  const revisionOf = (stream: string): number =>
    revisions.get(stream) ?? (lastRevision.get(stream) as [number | null])[0] ?? -1;

  /** Position of the last event when the stream has events of these ids after the expected revision, else 0. */
  const repeated = (stream: string, expected: number, ids: readonly string[]): number => {
    insert.flush();
    const positions = ids.map((id, n) => (stored.get(stream, expected + 1 + n, id) as [number] | undefined)?.[0] ?? 0);
    return positions.includes(0) ? 0 : (positions.at(-1) ?? 0);
  };

  return {
    /** The log's last event, including the events of a transaction under way. */
    newest: (): StoredEvent | undefined => newest,
    /** False when another program kept the write lock for longer than the connection waits. */
    begin(): boolean {
      try {
        db.exec('BEGIN IMMEDIATE');
        return true;
      } catch (error) {
        if (isBusy(error)) return false;
        throw error;
      }
    },
    /**
     * `texts`: id, type, data and metadata of each event. Returns the last revision and position. If the stream is at
     * another revision, returns that revision and position 0.
     */
    append(stream: string, expected: number, texts: readonly string[]): [revision: number, position: number] {
      let revision = revisionOf(stream);
      if (revision !== expected) {
        const ids = texts.filter((_, at) => at % 4 === 0);
        const last = repeated(stream, expected, ids);
        return last ? [expected + texts.length / 4, last] : [revision, 0];
      }
      for (let at = 0; at < texts.length; at += 4) {
        position++;
        revision++;
        insert.add(
          position,
          stream,
          revision,
          element(texts, at),
          element(texts, at + 1),
          element(texts, at + 2),
          element(texts, at + 3),
        );
      }
      const [id, type, data, metadata] = texts.slice(-4) as [string, string, string, string];
      newest = { position, stream, revision, id, type, data, metadata };
      revisions.set(stream, revision);
      return [revision, position];
    },
    /** Sets a checkpoint, or removes it at a position below 0. */
    setCheckpoint(name: string, at: number): void {
      if (at < 0) removeCheckpoint.run(name);
      else setCheckpoint.run(name, at);
    },
    flush: insert.flush,
    commit: (): void => db.exec('COMMIT'),
    checkpoint,
    close,
  };
};

export type Transactions = ReturnType<typeof openTransactions>;

const width = 7;
const rowsAtOnce = 16;

/**
 * Inserts events, 16 with one statement, which halves the time for a row. They are in the table after `flush`. An event
 * without a link gets a sum.
 */
export const inserter = (db: Connection) => {
  const statement = (rows: number) =>
    db.prepare(`INSERT INTO events (${columns}) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?, ?)').join(', ')}`);
  const one = statement(1);
  const many = statement(rowsAtOnce);
  const addSum = db.prepare('INSERT OR REPLACE INTO sums (position, sum) VALUES (?, ?)');
  let values: (string | number)[] = [];
  return {
    add(...row: Row): void {
      const event = toEvent(row);
      if (hashIn(event.metadata) === undefined) addSum.run(event.position, sumOf(event));
      values.push(...row);
      if (values.length < rowsAtOnce * width) return;
      many.run(...values);
      values = [];
    },
    flush(): void {
      for (let at = 0; at < values.length; at += width) one.run(...values.slice(at, at + width));
      values = [];
    },
  };
};
