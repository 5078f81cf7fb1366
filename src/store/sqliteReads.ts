import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'libsql';
import { Refusal } from '../domain/refusal.ts';
import type { Batch, Filter, StoredEvent } from './port.ts';
import { value, type Connection } from './sqliteLog.ts';

type Statement = Database.Statement<unknown[]>;
type Row = [position: number, stream: string, revision: number, id: string, type: string, data: string, metadata: string];

// A chunk must not hold up the event loop for more than some milliseconds: so many rows, fewer when they are long, and
// with a filter out of so many positions.
const maxRows = 512;
const maxBytes = 2 * 1024 * 1024;
const maxScanned = 2048;

const select = (where: string, order: string): string => {
  const size = 'octet_length(data) + octet_length(metadata)';
  const rows = `FROM events WHERE ${where} ORDER BY ${order} LIMIT ${maxRows}`;
  const total = `SELECT sum(size) FROM (SELECT ${size} AS size ${rows})`;
  const fitting = `SELECT count(*) FROM (SELECT sum(${size}) OVER (ORDER BY ${order}) AS total ${rows}) WHERE total <= ${maxBytes}`;
  return `SELECT position, stream, revision, id, type, data, metadata FROM events WHERE ${where} ORDER BY ${order}
    LIMIT CASE WHEN (${total}) <= ${maxBytes} THEN ${maxRows} ELSE max(1, (${fitting})) END`;
};

/** An event without its content. */
export type Heading = Pick<StoredEvent, 'revision' | 'position' | 'id' | 'type'>;

const toEvent = ([position, stream, revision, id, type, data, metadata]: Row): StoredEvent =>
  ({ stream, revision, position, id, type, data, metadata });

const events = (statement: Statement, ...values: unknown[]): StoredEvent[] => (statement.all(...values) as Row[]).map(toEvent);

/** Reads of the log through a connection, in the calling thread; after `close` they throw `Refusal('unavailable')`. */
export const sqliteReads = (db: Connection) => {
  const inStream = db.prepare(select('stream = ?1 AND revision >= ?2', 'revision')).raw();
  const inLog = db.prepare(select('position > ?1 AND position <= ?2', 'position')).raw();
  const inStreamBack = db.prepare(select('stream = ?1 AND revision <= ?2', 'revision DESC')).raw();
  const inLogBack = db.prepare(select('position < ?1', 'position DESC')).raw();
  const newestIn = db.prepare('SELECT revision, position, id, type FROM events WHERE stream = ? ORDER BY revision DESC LIMIT ?').raw();
  const lastRevision = db.prepare('SELECT max(revision) FROM events WHERE stream = ?').raw();
  const lastPosition = db.prepare('SELECT max(position) FROM events').raw();
  const atPosition = db.prepare('SELECT position, stream, revision, id, type, data, metadata FROM events WHERE position = ?').raw();
  const ofName = db.prepare('SELECT position FROM checkpoints WHERE name = ?').raw();
  let closed = false;

  const open = (): void => {
    if (closed) throw new Refusal('unavailable', 'The log is closed');
  };
  const first = (statement: Statement, ...values: unknown[]): number | null | undefined => {
    open();
    return (statement.get(...values) as [number | null] | undefined)?.[0];
  };
  const head = (): number => first(lastPosition) ?? 0;

  /** The next events after a position, up to another: as many as one turn of the event loop may take. */
  const chunks = (filter: Filter | undefined): ((after: number, until: number) => Batch) => {
    const statement = filter
      ? db.prepare(select(`position > ?1 AND position <= ?2 AND (${filter.map((_, n) => `instr(type, ?${n + 3}) = 1`).join(' OR ') || 0})`, 'position')).raw()
      : inLog;
    return (after, until) => {
      open();
      const end = Math.min(until, after + (filter ? maxScanned : maxRows));
      const found = events(statement, after, end, ...(filter ?? []));
      return { events: found, position: found.at(-1)?.position ?? end };
    };
  };

  return {
    id: value(db, 'SELECT id FROM log') as string,
    head,
    chunks,
    at(position: number): StoredEvent | undefined {
      open();
      return events(atPosition, position)[0];
    },
    checkpoint: (name: string): number => first(ofName, name) ?? 0,
    async *read(stream: string, from = 0): AsyncGenerator<readonly StoredEvent[]> {
      const last = first(lastRevision, stream) ?? -1;
      for (let next = from; next <= last; ) {
        open();
        const found = events(inStream, stream, next);
        yield found;
        next += found.length;
        if (next <= last) await nextTurn();
      }
    },
    readAll(after: number, filter?: Filter): AsyncGenerator<Batch> {
      const until = head();
      const chunk = chunks(filter);
      return (async function* () {
        for (let position = after; position < until; ) {
          const batch = chunk(position, until);
          yield batch;
          position = batch.position;
          if (position < until) await nextTurn();
        }
      })();
    },
    /** A stream's newest events without their content, the newest first. */
    newest(stream: string, count: number): readonly Heading[] {
      open();
      return (newestIn.all(stream, count) as [number, number, string, string][]).map(([revision, position, id, type]) => ({ revision, position, id, type }));
    },
    /** A stream's events from a revision down, some at a time. */
    async *readBack(stream: string, from: number): AsyncGenerator<readonly StoredEvent[]> {
      for (let next = from; next >= 0; ) {
        open();
        const found = events(inStreamBack, stream, next);
        if (found.length === 0) return;
        yield found;
        next = found.at(-1)!.revision - 1;
        if (next >= 0) await nextTurn();
      }
    },
    /** Everything before a position, the newest first, some at a time. */
    async *readAllBack(before: number): AsyncGenerator<readonly StoredEvent[]> {
      for (let next = before; next > 1; ) {
        open();
        const found = events(inLogBack, next);
        if (found.length === 0) return;
        yield found;
        next = found.at(-1)!.position;
        if (next > 1) await nextTurn();
      }
    },
    closed: () => closed,
    close(): void {
      closed = true;
      db.close();
    },
  };
};

export type Reads = ReturnType<typeof sqliteReads>;
