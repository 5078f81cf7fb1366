import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { inserter } from './sqliteInsert.ts';
import { connect, value } from './sqliteLog.ts';

/**
 * Appends in flat lists, which cross threads cheaply. `counts` says how many events each append has, `texts` holds id,
 * type, data and metadata of each event. An entry without events sets the checkpoint named `streams` to `expected`.
 */
export type Request = {
  readonly streams: string[];
  readonly expected: number[];
  readonly counts: number[];
  readonly texts: string[];
  /** Bytes that this adds to the WAL, about. */
  size: number;
};

/**
 * Two numbers per entry, in order: last revision and position (0 and 1 for a checkpoint). Position 0: the stream was not
 * at the expected revision but at this one. Position -1: another program was writing to the file, nothing was done.
 */
export type Reply = readonly number[];

const pageSize = 4096;
const maxTransaction = 8 * 1024 * 1024;
const maxWal = 16 * 1024 * 1024;

/** `patienceMs`: how long an append waits while another program writes to the file. */
export type WriterOptions = { readonly file: string; readonly patienceMs?: number };

const port = parentPort as MessagePort;
const { file, patienceMs } = workerData as WriterOptions;
const db = connect(file, patienceMs);
const insert = inserter(db);
const lastRevision = db.prepare('SELECT max(revision) FROM events WHERE stream = ?').raw();
const stored = db.prepare('SELECT position FROM events WHERE stream = ? AND revision = ? AND id = ?').raw();
const setCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoints (name, position) VALUES (?, ?)');

// There is no other writer, so what is known of a stream stays true.
const revisions = new LRUCache<string, number>({ max: 65_536 });
let position = (value(db, 'SELECT max(position) FROM events') as number | null) ?? 0;
let walSize = 0;

const revisionOf = (stream: string): number =>
  revisions.get(stream) ?? (lastRevision.get(stream) as [number | null])[0] ?? -1;

/** Position of the last event when the stream has events of these ids after the expected revision, else 0. */
const repeated = (stream: string, expected: number, ids: readonly string[]): number => {
  insert.flush();
  const positions = ids.map((id, n) => (stored.get(stream, expected + 1 + n, id) as [number] | undefined)?.[0] ?? 0);
  return positions.includes(0) ? 0 : positions.at(-1)!;
};

const append = (stream: string, expected: number, texts: readonly string[]): [revision: number, position: number] => {
  let revision = revisionOf(stream);
  if (revision !== expected) {
    const last = repeated(stream, expected, texts.filter((_, at) => at % 4 === 0));
    return last ? [expected + texts.length / 4, last] : [revision, 0];
  }
  for (let at = 0; at < texts.length; at += 4) {
    insert.add(++position, stream, ++revision, texts[at]!, texts[at + 1]!, texts[at + 2]!, texts[at + 3]!);
  }
  revisions.set(stream, revision);
  return [revision, position];
};

const write = ({ streams, expected, counts, texts }: Request, reply: number[]): void => {
  let at = 0;
  for (const [n, stream] of streams.entries()) {
    const end = at + 4 * counts[n]!;
    if (end > at) {
      reply.push(...append(stream, expected[n]!, texts.slice(at, end)));
    } else {
      setCheckpoint.run(stream, expected[n]!);
      reply.push(0, 1);
    }
    at = end;
  }
};

/** False when another program kept the write lock for longer than the connection waits. */
const begin = (): boolean => {
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
};

// Not left to SQLite's automatic checkpoint: that passes over I/O errors, and it comes so often that a page which
// changes again and again is copied again and again.
const checkpoint = (): void => {
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  walSize = 0;
};

/** One transaction with the first request and all that have come in meanwhile. What it throws ends this thread. */
const commit = (first: Request): void => {
  if (!begin()) return port.postMessage(first.streams.flatMap(() => [0, -1]));
  const reply: number[] = [];
  let size = 2 * pageSize;
  for (let request: Request | undefined = first; request; ) {
    write(request, reply);
    size += request.size;
    request = size < maxTransaction ? (receiveMessageOnPort(port)?.message as Request | undefined) : undefined;
  }
  insert.flush();
  db.exec('COMMIT');
  port.postMessage(reply);
  walSize += size;
  if (walSize > maxWal) checkpoint();
};

const finish = (): void => {
  checkpoint();
  db.close();
  port.close();
};

// Null is sent when all is answered.
const take = (request: Request | null): void => {
  try {
    if (request) commit(request);
    else finish();
  } catch (error) {
    // The driver's own errors lose their message between threads.
    const { message, code } = error as { message: string; code?: string };
    throw new Error(code ? `${message} (${code})` : message);
  }
};

db.exec('PRAGMA wal_autocheckpoint = 0');
port.on('message', take);
port.postMessage('ready');
