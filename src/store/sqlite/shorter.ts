import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { hashOf } from '@automation-platform/event-log';
import type { Noted } from '@automation-platform/log-proof';
import { naming } from './errors.ts';
import { type Connection, connectToRead, logId } from './log.ts';
import { noteOf, readNote } from './note.ts';
import { type Reads, sqliteReads } from './reads.ts';

/** An event that a reader has seen in the log. Its hash may not be known. */
export type Seen = Pick<Noted, 'log' | 'position' | 'id'> &
  Partial<Noted> & {
    /** The reader that has seen the event, for messages. */
    readonly by: string;
    /** True if the event was certainly in the log. It is called only when the log lacks the event. */
    readonly sure: () => Promise<boolean>;
  };

/** How many events a log in a file has lost, and a sentence about the loss. */
export type Shorter = { readonly missing: number; readonly sentence: string };

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

/** True if the file of a log does not exist or is empty. */
export const isMissing = (file: string): boolean => sizeOf(file) === 0;

const place = ({ position, stream, revision }: Partial<Noted>): string =>
  `position ${position}${stream === undefined ? '' : ` (event ${revision} of stream ${stream})`}`;

const readNotes = (file: string): readonly Seen[] =>
  readNote(file).map((note) => ({ ...note, by: `its note ${basename(noteOf(file))}`, sure: async () => true }));

/** The loss when nothing is left of the log: all events up to the noted one. */
const nothingLeft = (file: string, what: string): Shorter | undefined => {
  const [seen] = readNotes(file);
  return seen && { missing: seen.position, sentence: `${file} ${what}, but ${seen.by} names ${place(seen)}` };
};

const compare = (snapshot: Seen, reads: Reads): Shorter | undefined => {
  const head = reads.head();
  const last = reads.at(head);
  const end = last ? `the log ends at ${place(last)}` : 'the log is empty';
  if (snapshot.position > head) {
    return { missing: snapshot.position - head, sentence: `${snapshot.by} names ${place(snapshot)}, but ${end}` };
  }
  const there = reads.at(snapshot.position);
  if (there?.id === snapshot.id && (snapshot.hash === undefined || snapshot.hash === hashOf(there))) return undefined;
  return {
    missing: head - snapshot.position + 1,
    sentence: `${snapshot.by} names another event at ${place(snapshot)}`,
  };
};

const ofThisLog = async (file: string, db: Connection, snapshots: readonly Seen[]): Promise<Shorter | undefined> => {
  const id = logId(db);
  if (id === undefined) return nothingLeft(file, 'holds no log');
  const reads = sqliteReads(db);
  for (const one of snapshots.filter(({ log }) => log === id)) {
    const shorter = compare(one, reads);
    if (shorter && (await one.sure())) return shorter;
  }
  return undefined;
};

/**
 * The events that the log in a file has lost. The note beside it, or a reader, names them. Undefined when the log has
 * lost nothing. This changes no file: to open an empty file for writing, for example, would remove its WAL.
 */
export const shorterThan = async (file: string, others: readonly Seen[]): Promise<Shorter | undefined> => {
  if (isMissing(file)) return nothingLeft(file, existsSync(file) ? 'is empty' : 'is gone');
  const places = [...readNotes(file), ...others];
  if (places.length === 0) return undefined;
  try {
    const db = connectToRead(file);
    try {
      return await ofThisLog(file, db, places);
    } finally {
      db.close();
    }
  } catch (error) {
    throw naming(file, error);
  }
};

/** Throws when the log in a file lacks events that were seen in it. The message says what to do. */
export const refuseShorter = async (file: string, others: readonly Seen[]): Promise<void> => {
  const shorter = await shorterThan(file, others);
  if (shorter) {
    throw new Error(
      `The event log has lost events: ${shorter.sentence}; ${shorter.missing} missing. ` +
        'Nothing was changed. Put back its files as they were, or restore a backup; ' +
        'to go on without what is missing, run: automation-platform log accept',
    );
  }
  if (isMissing(file) && sizeOf(`${file}-wal`) > 0) {
    const name = basename(file);
    const what = existsSync(file) ? 'empty' : 'gone';
    throw new Error(
      `${file} is ${what}, but ${name}-wal beside it holds a part of a log. ` +
        `Put back ${name}; to begin a new log, move ${name}-wal away`,
    );
  }
};
