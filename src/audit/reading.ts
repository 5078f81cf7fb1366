import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import { newestWith, type Range, type Term } from '../store/auditIndex/found.ts';
import type { EventStore, LogReads, StoredEvent } from '../store/port.ts';

/** What audits read: the log, the index beside it, and who sees an event. */
export type AuditSources = {
  readonly log: LogReads & Pick<EventStore, 'at'>;
  readonly index: Pick<AuditIndex, 'read'>;
  readonly sees: (event: StoredEvent) => Promise<boolean>;
};

/** How many positions one request looks at. */
const mostLooked = 50_000;
// So many positions are looked up in one turn of the event loop, and so many events are read at once.
const inOneTurn = 512;
const atOnce = 32;

/**
 * Reads the events with all terms in a part of the log, the newest first, until `take` returns false, or enough has been
 * looked at. Resolves to the position before which nothing was looked at; undefined if nothing is left.
 */
export const readNewest = async (
  { log, index }: Pick<AuditSources, 'log' | 'index'>,
  terms: readonly Term[],
  range: Range,
  take: (event: StoredEvent) => Promise<boolean> | boolean,
): Promise<number | undefined> => {
  const head = await log.head();
  let { before } = range;
  for (let looked = 0; looked < mostLooked; ) {
    const part = { after: range.after, before };
    const found = await index.read(head, (db) => newestWith(db, terms, part, inOneTurn));
    for (let i = 0; i < found.positions.length; i += atOnce) {
      const events = await Promise.all(found.positions.slice(i, i + atOnce).map((position) => log.at(position)));
      for (const event of events) if (event && !(await take(event))) return event.position;
    }
    if (found.rest === undefined) return undefined;
    before = found.rest;
    looked += found.looked;
    await nextTurn();
  }
  return before;
};
