import { statSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { StoredEvent } from './port.ts';
import { isBusy, NotAsLeft } from './sqliteErrors.ts';
import { inserter } from './sqliteInsert.ts';
import { connect, value } from './sqliteLog.ts';
import { columns, type Row, toEvent } from './sqliteRows.ts';

/** `patienceMs`: how long an append waits while another program writes to the file. */
export type WriterOptions = { readonly file: string; readonly patienceMs?: number };

/** What must be true of the log whenever it is opened to write. */
export type AsLeft = {
  /** Which file it is, as `inodeOf` says. */
  readonly inode: string;
  /** The newest event that was acknowledged, if one was. */
  readonly acknowledged: Pick<StoredEvent, 'position' | 'id'> | undefined;
};

const frameSize = 4096 + 24;
const longestWal = 32 * 1024 * 1024;
const readersPatienceMs = 200;

/** Tells a file from another that has taken its place. Throws when there is none. */
export const inodeOf = (file: string): string => {
  const { dev, ino } = statSync(file);
  return `${dev} ${ino}`;
};

/**
 * A connection for the log's only writer, and what it knows of the log. After an error it must not be used again: what
 * a failed fsync has left on the disk is not known. Opening proves that a commit goes through, which also puts an end
 * to what a failed commit may have left in the WAL. Throws `NotAsLeft` when the log lacks what was acknowledged.
 */
export const openTransactions = ({ file, patienceMs = 5000 }: WriterOptions, { inode, acknowledged }: AsLeft) => {
  if (inodeOf(file) !== inode) throw new NotAsLeft(`${file} is not the file that was opened`);
  const db = connect(file, patienceMs);

  const close = (): void => {
    // The driver keeps a closed connection alive while it has statements: its transaction would hold the write lock.
    try {
      db.exec('ROLLBACK');
    } catch {
      /* There was none. */
    }
    db.close();
  };

  /**
   * Moves what is in the WAL into the file. Where readers keep it from being begun anew, it waits for them a little.
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
    // Checkpoints are not left to SQLite: its own pass over I/O errors, and come so often that a page which changes
    // again and again is copied again and again. A WAL that readers have let grow is cut when it is begun anew.
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
  // There is no other writer, so what is known of a stream stays true.
  const revisions = new LRUCache<string, number>({ max: 65_536 });
  const last = db.prepare(`SELECT ${columns} FROM events ORDER BY position DESC LIMIT 1`).get();
  let newest = last && toEvent(last as Row);
  let position = newest?.position ?? 0;

  const revisionOf = (stream: string): number =>
    revisions.get(stream) ?? (lastRevision.get(stream) as [number | null])[0] ?? -1;

  /** Position of the last event when the stream has events of these ids after the expected revision, else 0. */
  const repeated = (stream: string, expected: number, ids: readonly string[]): number => {
    insert.flush();
    const positions = ids.map((id, n) => (stored.get(stream, expected + 1 + n, id) as [number] | undefined)?.[0] ?? 0);
    return positions.includes(0) ? 0 : positions.at(-1)!;
  };

  return {
    /** The log's last event, also one of a transaction under way. */
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
     * `texts`: id, type, data and metadata of each event. Gives the last revision and position; position 0:
     * WrongRevision.
     */
    append(stream: string, expected: number, texts: readonly string[]): [revision: number, position: number] {
      let revision = revisionOf(stream);
      if (revision !== expected) {
        const last = repeated(
          stream,
          expected,
          texts.filter((_, at) => at % 4 === 0),
        );
        return last ? [expected + texts.length / 4, last] : [revision, 0];
      }
      for (let at = 0; at < texts.length; at += 4) {
        insert.add(++position, stream, ++revision, texts[at]!, texts[at + 1]!, texts[at + 2]!, texts[at + 3]!);
      }
      const [id, type, data, metadata] = texts.slice(-4) as [string, string, string, string];
      newest = { position, stream, revision, id, type, data, metadata };
      revisions.set(stream, revision);
      return [revision, position];
    },
    setCheckpoint(name: string, at: number): void {
      setCheckpoint.run(name, at);
    },
    flush: insert.flush,
    commit: (): void => db.exec('COMMIT'),
    checkpoint,
    close,
  };
};

export type Transactions = ReturnType<typeof openTransactions>;
