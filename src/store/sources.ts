import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { digestStream, isLine, type Source } from '@automation-platform/log-proof';
import type { EventStore, StoredEvent } from './port.ts';
import { naming } from './sqlite/errors.ts';
import { type Connection, checkVersion, connectToRead, logId } from './sqlite/log.ts';
import { readNote } from './sqlite/note.ts';
import { columns, keptIn, type Row, toEvent } from './sqlite/reads.ts';

// The events that are read at once. One may have half a megabyte.
const rowsAtOnce = 128;

/** Opens a connection that reads a log. */
const openToVerify = (file: string): Connection => {
  if (!existsSync(file)) throw new Error(`There is no log at ${file}`);
  let db: Connection | undefined;
  try {
    db = connectToRead(file);
    checkVersion(db, file);
    return db;
  } catch (error) {
    db?.close();
    throw naming(file, error);
  }
};

/** The log in a file, which may be in use. */
export const fileSource = (file: string): Source => {
  // The note is read before the log: it must not be newer than what is read.
  const [noted] = readNote(file);
  const db = openToVerify(file);
  const head = (db.prepare('SELECT coalesce(max(position), 0) FROM events').get() as [number])[0];
  const { find, sumAt, arePartsRight } = keptIn(db);
  const some = db.prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ${rowsAtOnce}`);
  const one = db.prepare(`SELECT ${columns} FROM events WHERE position = ?`);
  const ofStream = db.prepare(`SELECT ${columns} FROM events WHERE stream = ? AND position <= ? ORDER BY revision`);
  const id = logId(db);
  return {
    id,
    head,
    lookUps: { dense: true, find, sumAt, arePartsRight },
    noted: noted?.log === id ? noted : undefined,
    findings: [],
    signed: undefined,
    proofs: async () => (ofStream.all(digestStream, head) as Row[]).map(toEvent),
    at: async (position) => {
      const row = one.get(position) as Row | undefined;
      return row && toEvent(row);
    },
    events: async function* () {
      for (let after = 0; after < head; ) {
        const events = (some.all(after) as Row[]).map(toEvent).filter(({ position }) => position <= head);
        const last = events.at(-1);
        if (!last) return;
        yield events;
        // Signals are heard between two chunks.
        await nextTurn();
        after = last.position;
      }
    },
    close: async () => db.close(),
  };
};

/** A log that another program serves. Its positions have gaps. */
export const storeSource = async (store: EventStore): Promise<Source> => {
  const head = await store.head();
  const upToHead = (events: readonly StoredEvent[]) => events.filter(({ position }) => position <= head);
  return {
    id: store.id,
    head,
    lookUps: { dense: false },
    noted: undefined,
    findings: [],
    signed: undefined,
    proofs: async () => {
      const found: StoredEvent[] = [];
      for await (const events of store.read(digestStream)) found.push(...upToHead(events));
      return found;
    },
    at: (position) => store.at(position),
    events: async function* () {
      for await (const { events } of store.readAll(0)) {
        // A scavenge removes old checkpoints. Like all that no digest covers, they say nothing about resources.
        const lines = upToHead(events).filter(isLine);
        if (lines.length > 0) yield lines;
      }
    },
    close: () => store.close(),
  };
};
