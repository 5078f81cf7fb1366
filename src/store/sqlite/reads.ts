import { setImmediate as nextTurn } from 'node:timers/promises';
import { lruCache } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import { checker, DamagedLog, type Kept } from '../integrity.ts';
import { arePartsRight } from '../payloads.ts';
import type { Batch, Filter, StoredEvent } from '../port.ts';
import { reading } from './errors.ts';
import { type Connection, isSummed, logId, value } from './log.ts';

// A chunk must not hold up the event loop for more than some milliseconds. So it has a limited number of rows, fewer
// when they are long. With a filter it searches a limited number of positions.
const maxRows = 512;
const maxBytes = 2 * 1024 * 1024;
const maxScanned = 2048;

// For this number of streams, the newest event is kept in memory while links are checked. For another stream it is looked up.
const checkedStreams = 200_000;

type Chunks = (after: number, until: number) => Batch;

const select = (where: string, order: string): string => {
  const size = 'octet_length(data) + octet_length(metadata)';
  const rows = `FROM events WHERE ${where} ORDER BY ${order} LIMIT ${maxRows}`;
  const total = `SELECT sum(size) FROM (SELECT ${size} AS size ${rows})`;
  const fitting = `SELECT count(*) FROM (SELECT sum(${size}) OVER (ORDER BY ${order}) AS total ${rows}) WHERE total <= ${maxBytes}`;
  return `SELECT ${columns} FROM events WHERE ${where} ORDER BY ${order}
    LIMIT CASE WHEN (${total}) <= ${maxBytes} THEN ${maxRows} ELSE max(1, (${fitting})) END`;
};

/** An event without its content. */
export type Heading = Pick<StoredEvent, 'revision' | 'position' | 'id' | 'type'>;

type Query = (...values: unknown[]) => unknown[];

const events = (query: Query, ...values: unknown[]): StoredEvent[] => (query(...values) as Row[]).map(toEvent);

/** Judges streams of content in parts. The judgement of the last one is kept, because their events lie side by side. */
const partsJudge = (db: Connection): Kept['arePartsRight'] => {
  const ofStream = db.prepare(`SELECT ${columns} FROM events WHERE stream = ? ORDER BY revision`);
  let last = { stream: '', isRight: false };
  return (stream) => {
    if (last.stream === stream) return last.isRight;
    const parts = (ofStream.all(stream) as Row[]).map(toEvent);
    last = { stream, isRight: arePartsRight(stream, parts) };
    return last.isRight;
  };
};

/** The look-ups of a check of events, through a connection. */
export const keptIn = (db: Connection): Kept => {
  const inStream = db.prepare('SELECT position, metadata FROM events WHERE stream = ? AND revision = ?');
  // A log that an earlier version made, and that is open for reading only, may have no such table.
  const hasSums = value(db, "SELECT 1 FROM sqlite_schema WHERE name = 'sums'") === 1;
  const sum = hasSums ? db.prepare('SELECT sum FROM sums WHERE position = ?') : undefined;
  const sumAt = (position: number): string | undefined => (sum?.get(position) as [string] | undefined)?.[0];
  return {
    find: (stream, revision) => {
      const row = inStream.get(stream, revision) as [position: number, metadata: string] | undefined;
      return row && { position: row[0], metadata: row[1] };
    },
    sumAt,
    sumsSince: isSummed(db) ? Number(sumAt(0) ?? 0) : Infinity,
    arePartsRight: partsJudge(db),
  };
};

/** Functions that read events in their order, one chunk at a time. */
const chunksOf = (db: Connection, query: (sql: string) => Query): ((filter: Filter | undefined) => Chunks) => {
  const inLog = query(select('position > ?1 AND position <= ?2', 'position'));
  const storedState = reading(() => keptIn(db));

  /** The next events of a filter after a position, up to another: as many as one turn of the event loop may take. */
  const filtered = (filter: Filter): Chunks => {
    const passes = filter.map((_, n) => `instr(type, ?${n + 3}) = 1`).join(' OR ') || 0;
    const rows = query(select(`position > ?1 AND position <= ?2 AND (${passes})`, 'position'));
    return (after, until) => {
      const end = Math.min(until, after + maxScanned);
      const found = events(rows, after, end, ...filter);
      return { events: found, position: found.at(-1)?.position ?? end };
    };
  };

  /** The next events of all types, each checked. Throws `DamagedLog` where an event is not as it was written. */
  const checked = (): Chunks => {
    const check = checker(storedState, checkedStreams);
    return (after, until) => {
      const end = Math.min(until, after + maxRows);
      const found = events(inLog, after, end);
      const position = found.at(-1)?.position ?? end;
      check.from(after);
      for (const event of found) {
        const wrong = reading(() => check.next(event));
        if (wrong !== undefined) throw new DamagedLog(event.position, wrong);
      }
      const missing = check.end(position);
      if (missing !== undefined) throw new DamagedLog(position, missing);
      return { events: found, position };
    };
  };

  // With a filter nothing is checked, because a check needs every event.
  return (filter) => (filter ? filtered(filter) : checked());
};

/**
 * Reads of the log through a connection, in the calling thread. They throw `RequestError('unavailable')` after `close`,
 * and when the file cannot be read. `ends`: where the only process that writes to the file notes its appends.
 */
export const sqliteReads = (db: Connection, ends?: StreamEnds) => {
  let closed = false;
  const open = (): void => {
    if (closed) throw new RequestError('unavailable', 'The log is closed');
  };
  /**
   * Returns a function that reads all rows of a query. Every statement runs here, so that its errors are translated in
   * one place.
   */
  const query = (sql: string): Query => {
    const statement = reading(() => db.prepare(sql));
    return (...values) => {
      open();
      return reading(() => statement.all(...values));
    };
  };

  const inStream = query(select('stream = ?1 AND revision >= ?2', 'revision'));
  // It is read in threads of their own, so a chunk may be large: each event has a size that an append may have.
  const ofCategory = query(`SELECT ${columns} FROM events
    WHERE (stream, revision) > (?1, ?2) AND stream < ?3 AND position <= ?4
    ORDER BY stream, revision LIMIT ${maxRows / 4}`);
  const inStreamBack = query(select('stream = ?1 AND revision <= ?2', 'revision DESC'));
  const inLogBack = query(select('position < ?1', 'position DESC'));
  const newestIn = query(
    'SELECT revision, position, id, type FROM events WHERE stream = ? ORDER BY revision DESC LIMIT ?',
  );
  const lastRevision = query('SELECT max(revision) FROM events WHERE stream = ?');
  const lastPosition = query('SELECT max(position) FROM events');
  const atPosition = query(`SELECT ${columns} FROM events WHERE position = ?`);
  const atPlace = query('SELECT position FROM events WHERE stream = ? AND revision = ? AND id = ?');
  const ofName = query('SELECT position FROM checkpoints WHERE name = ?');
  const ofReader = query('SELECT name, position FROM checkpoints WHERE instr(name, ?) = 1 ORDER BY name');

  const first = (rows: Query, ...values: unknown[]): number | null | undefined =>
    (rows(...values) as [number | null][])[0]?.[0];
  const head = (): number => first(lastPosition) ?? 0;

  const chunks = chunksOf(db, query);

  return {
    // Every caller has checked that the file holds a log.
    id: logId(db)!,
    head,
    chunks,
    /** Throws `DamagedLog` when the newest event is not as it was written. */
    checkHead(): void {
      const last = head();
      if (last > 0) chunks(undefined)(last - 1, last);
    },
    at(position: number): StoredEvent | undefined {
      return events(atPosition, position)[0];
    },
    /** Position of the event at a revision of a stream, if it has that id. */
    find: (stream: string, revision: number, id: string): number | undefined =>
      first(atPlace, stream, revision, id) ?? undefined,
    checkpoint: (name: string): number | undefined => first(ofName, name) ?? undefined,
    checkpointsOf: (reader: string): ReadonlyMap<string, number> =>
      new Map(ofReader(`${reader}:`) as [name: string, position: number][]),
    async *read(stream: string, from = 0): AsyncGenerator<readonly StoredEvent[]> {
      open();
      if (ends?.isBefore(stream, from)) return;
      const last = first(lastRevision, stream) ?? -1;
      ends?.set(stream, last);
      for (let next = from; next <= last; ) {
        const found = events(inStream, stream, next);
        yield found;
        next += found.length;
        if (next <= last) await nextTurn();
      }
    },
    /** The events of all streams of a category up to a position, stream by stream, some at a time. */
    async *readCategory(category: string, until: number): AsyncGenerator<readonly StoredEvent[]> {
      // A dot is the character after the dash.
      const [first, end] = [`${category}-`, `${category}.`];
      for (let [stream, revision] = [first, -1]; ; ) {
        const found = events(ofCategory, stream, revision, end, until);
        const last = found.at(-1);
        if (!last) return;
        yield found;
        stream = last.stream;
        revision = last.revision;
        await nextTurn();
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
      return (newestIn(stream, count) as [number, number, string, string][]).map(([revision, position, id, type]) => ({
        revision,
        position,
        id,
        type,
      }));
    },
    /** A stream's events from a revision down, some at a time. */
    async *readBack(stream: string, from: number): AsyncGenerator<readonly StoredEvent[]> {
      for (let next = from; next >= 0; ) {
        const found = events(inStreamBack, stream, next);
        const lowest = found.at(-1);
        if (!lowest) return;
        yield found;
        next = lowest.revision - 1;
        if (next >= 0) await nextTurn();
      }
    },
    /** Everything before a position, the newest first, some at a time. */
    async *readAllBack(before: number): AsyncGenerator<readonly StoredEvent[]> {
      for (let next = before; next > 1; ) {
        const found = events(inLogBack, next);
        const lowest = found.at(-1);
        if (!lowest) return;
        yield found;
        next = lowest.position;
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

/** The columns of an event, in the order of a `Row`. */
export const columns = 'position, stream, revision, id, type, data, metadata';

export type Row = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** An element of a flat list. Throws when the list is too short. Events cross threads as such lists. */
export const element = <T>(list: readonly T[], at: number): T => {
  const found = list[at];
  if (found === undefined) throw new Error(`A list of ${list.length} has no element ${at}`);
  return found;
};

export const toEvent = ([position, stream, revision, id, type, data, metadata]: Row): StoredEvent => ({
  stream,
  revision,
  position,
  id,
  type,
  data,
  metadata,
});

const keptStreams = 50_000;

/**
 * The revisions at which streams end, as far as they are known. Most commands ask whether a stream that they know has
 * grown: they need not read the file for that.
 */
export const streamEnds = () => {
  const ends = lruCache<number>(keptStreams);
  return {
    /** True if the stream is known to have no event from this revision on. */
    isBefore: (stream: string, revision: number): boolean => {
      const end = ends.get(stream);
      return end !== undefined && end < revision;
    },
    /** The stream ends here, as the file says, or as the writer has acknowledged. */
    set: (stream: string, revision: number): void => void ends.set(stream, revision),
    /** The file may have other events than those that are known. */
    clear: (): void => ends.clear(),
  };
};

export type StreamEnds = ReturnType<typeof streamEnds>;
