import '../../process/soundJson.ts';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { inWords, isForGood, isFull } from './errors.ts';
import { noteKeeper, noteOfEvent } from './note.ts';
import { element } from './reads.ts';
import { type AsLeft, openTransactions, type Transactions, type WriterOptions } from './transactions.ts';

/**
 * Appends in flat lists, which cross threads cheaply. `counts` says how many events each append has. `texts` has id,
 * type, data and metadata of each event. An append without events sets a checkpoint: `streams` has its name, `expected`
 * its position. A position below 0 removes it.
 */
export type Request = {
  readonly streams: string[];
  readonly expected: number[];
  readonly counts: number[];
  readonly texts: string[];
  /** About how many bytes the request adds to the WAL. */
  size: number;
};

/**
 * Two numbers per entry, in order: last revision and position (0 and 1 for a checkpoint). Position 0: the stream was
 * not at the expected revision but at this one. Position -1: another program was writing to the file, and nothing was
 * stored.
 */
export type Reply = readonly number[];

/** Why a writer ends. */
export type Failure = {
  readonly reason: string;
  /** A file could not grow, so another try at once would fail as well. */
  readonly full: boolean;
  /** Opening the log again cannot help. */
  readonly forGood: boolean;
  /** How many of the oldest entries without a reply may be stored. The rest are not. */
  readonly unsure: number;
};

/** The messages of the writer. After `failed` the writer ends. */
export type Told =
  | { readonly ready: { readonly head: number } }
  | { readonly settled: Reply }
  | { readonly failed: Failure }
  /** Why the note beside the log cannot be written; null when it can be written again. */
  | { readonly note: string | null };

/** `log`: the log's id. */
export type WriterData = WriterOptions & { readonly left: AsLeft; readonly log: string };

const pageSize = 4096;
const maxTransaction = 8 * 1024 * 1024;
const maxWal = 16 * 1024 * 1024;

const port = parentPort as MessagePort;
const data = workerData as WriterData;
const note = noteKeeper(data.file);
let db: Transactions | undefined;
let noteFails = false;
let walSize = 0;

const tell = (message: Told): void => port.postMessage(message);

/** Writes the note. An error is only reported, because a change is stored without the note, too. */
const takeNote = (db: Transactions): void => {
  try {
    const newest = db.newest();
    if (newest) note.write(noteOfEvent(data.log, newest));
    if (noteFails) tell({ note: null });
    noteFails = false;
  } catch (error) {
    if (!noteFails) tell({ note: inWords(error) });
    noteFails = true;
  }
};

/** Ends this thread. The main thread starts another one, which opens the log again. */
const fail = (error: unknown, unsure: number): void => {
  db?.close();
  note.close();
  tell({ failed: { reason: inWords(error), full: isFull(error), forGood: isForGood(error), unsure } });
  port.close();
};

const write = (db: Transactions, { streams, expected, counts, texts }: Request, reply: number[]): void => {
  let at = 0;
  for (const [n, stream] of streams.entries()) {
    const end = at + 4 * element(counts, n);
    if (end > at) {
      reply.push(...db.append(stream, element(expected, n), texts.slice(at, end)));
    } else {
      db.setCheckpoint(stream, element(expected, n));
      reply.push(0, 1);
    }
    at = end;
  }
};

/** Runs one transaction with the first request and those that have arrived since. */
const transact = (db: Transactions, first: Request): void => {
  let unsure = 0;
  try {
    if (!db.begin()) {
      tell({ settled: first.streams.flatMap(() => [0, -1]) });
      return;
    }
    const reply: number[] = [];
    let size = 2 * pageSize;
    for (let request: Request | undefined = first; request; ) {
      write(db, request, reply);
      size += request.size;
      request = size < maxTransaction ? (receiveMessageOnPort(port)?.message as Request | undefined) : undefined;
    }
    db.flush();
    unsure = reply.length / 2;
    db.commit();
    unsure = 0;
    takeNote(db);
    tell({ settled: reply });
    walSize += size;
    if (walSize <= maxWal) return;
    walSize = 0;
    db.checkpoint();
  } catch (error) {
    // When a file could not grow, the page that completes a commit was not written.
    fail(error, isFull(error) ? 0 : unsure);
  }
};

// If the checkpoint fails, the content of the WAL stays there.
const finish = (db: Transactions): void => {
  try {
    db.checkpoint();
  } catch {
    /* The next start moves the content into the file. */
  }
  db.close();
  note.close();
  port.close();
};

try {
  const opened = openTransactions(data, data.left);
  db = opened;
  takeNote(opened);
  // The main thread sends null when every request is answered and the log is closed.
  port.on('message', (request: Request | null) => (request ? transact(opened, request) : finish(opened)));
  tell({ ready: { head: opened.newest()?.position ?? 0 } });
} catch (error) {
  fail(error, 0);
}
