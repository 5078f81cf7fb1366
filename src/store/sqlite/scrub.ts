import { setTimeout as pause } from 'node:timers/promises';
import { checker } from '../integrity.ts';
import type { StoredEvent } from '../port.ts';
import type { Connection } from './log.ts';
import { columns, keptIn, type Row, toEvent } from './reads.ts';

/** Findings of the check of stored events in the background. */
export type Scrubbed = {
  /** How far the current pass is; 0 between two passes. */
  readonly position: number;
  /** Passes over the whole log since the start, and when the last one ended (UTC, ISO 8601). */
  readonly passes: number;
  readonly ended: string | null;
  /** The damaged events by position, with the reasons: those of the last whole pass and of the current pass. */
  readonly damaged: ReadonlyMap<number, string>;
};

/** At most `rows` events every `everyMs` milliseconds, and a rest of `restMs` milliseconds between two passes. */
export type Pace = { readonly rows: number; readonly everyMs: number; readonly restMs: number };

const day = 24 * 60 * 60 * 1000;
const usualPace: Pace = { rows: 100, everyMs: 50, restMs: day };

const mostBytes = 256 * 1024;
const rememberedStreams = 10_000;
const mostReasons = 100;

type Needs = {
  readonly db: Connection;
  /** Position of the newest durable event. */
  readonly head: () => number;
  readonly pace?: Pace | undefined;
};

/**
 * Checks every stored event again and again, in chunks that do not hold up the event loop. Each event must be as it was
 * written, and the index must find it. So a flipped bit on the disk is found before the event is needed.
 */
export const scrubber = ({ db, head, pace = usualPace }: Needs) => {
  const select = db.prepare(`
    SELECT ${columns} FROM (
      SELECT *, sum(octet_length(data) + octet_length(metadata)) OVER (ORDER BY position) AS total
      FROM (SELECT * FROM events WHERE position > ?1 ORDER BY position LIMIT ?2)
    ) WHERE total <= ${mostBytes} OR position = (SELECT min(position) FROM events WHERE position > ?1)`);
  const inIndex = db.prepare(
    'SELECT position FROM events INDEXED BY events_by_stream WHERE stream = ? AND revision = ?',
  );
  const check = checker(keptIn(db), rememberedStreams);
  const stopping = new AbortController();
  let damaged = new Map<number, string>();
  let before: ReadonlyMap<number, string> = new Map();
  let position = 0;
  let passes = 0;
  let ended: string | null = null;

  const found = (at: number, reason: string): void => {
    if (damaged.size < mostReasons) damaged.set(at, reason);
  };

  const checkIndex = ({ stream, revision, position: at }: StoredEvent): void => {
    const [indexed] = (inIndex.get(stream, revision) as [number] | undefined) ?? [];
    if (indexed !== at) found(at, `the index does not find event ${revision} of stream ${stream}`);
  };

  /** Checks the next events up to a position. Returns the position of the last one. */
  const step = (until: number): number => {
    const rows = Math.min(pace.rows, until - position);
    check.from(position);
    let last = position;
    for (const event of (select.all(position, rows) as Row[]).map(toEvent)) {
      if (event.position > until) break;
      const reason = check.next(event);
      if (reason !== undefined) found(event.position, reason);
      checkIndex(event);
      last = event.position;
    }
    if (last > position) return last;
    found(position + 1, `there is no event at position ${position + 1}`);
    return position + rows;
  };

  const pass = async (): Promise<void> => {
    const until = head();
    while (position < until) {
      await pause(pace.everyMs, undefined, { ref: false, signal: stopping.signal });
      try {
        position = step(until);
      } catch (error) {
        found(position + 1, (error as Error).message);
        position = Math.min(until, position + pace.rows);
      }
    }
    passes++;
    ended = new Date().toISOString();
    before = damaged;
    damaged = new Map();
    position = 0;
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass();
      await pause(pace.restMs, undefined, { ref: false, signal: stopping.signal });
    }
  };
  // The loop ends only when `stop` aborts a pause.
  void run().catch(() => undefined);

  return {
    scrubbed: (): Scrubbed => ({ position, passes, ended, damaged: new Map([...before, ...damaged]) }),
    stop: (): void => stopping.abort(),
  };
};
