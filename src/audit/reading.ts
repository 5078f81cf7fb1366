import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Moment, momentOf } from '../domain/engine/moments.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import { newestWith, type Range, type Term } from '../store/auditIndex/found.ts';
import { firstPossible, positionAt } from '../store/auditIndex/times.ts';
import type { EventStore, LogReads, StoredEvent } from '../store/port.ts';

/** The sources of audits: the log, the index beside it, and who sees an event. */
export type AuditSources = {
  readonly log: LogReads & Pick<EventStore, 'at'>;
  readonly index: Pick<AuditIndex, 'read'>;
  readonly sees: (event: StoredEvent) => Promise<boolean>;
  /** How many positions one request looks at; 50,000 by default. */
  readonly mostLooked?: number;
};

// Positions that are looked up in one turn of the event loop, and events that are read at once.
const inOneTurn = 512;
const atOnce = 32;

/**
 * Reads the events with a term of each list in a part of the log, the newest first, until `take` returns false, or enough has been
 * looked at. Resolves to the position before which nothing was looked at; undefined if nothing is left.
 */
export const readNewest = async (
  { log, index, mostLooked = 50_000 }: Pick<AuditSources, 'log' | 'index' | 'mostLooked'>,
  terms: readonly (readonly Term[])[],
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

const malformed = (): RequestError =>
  new RequestError('invalid', 'cursor must be one that an answer has given', { path: 'cursor' });

/** The number in a cursor: of a position or a revision. Throws `invalid`. */
export const positionIn = (cursor: string): number => {
  if (!/^\d{1,15}$/.test(cursor)) throw malformed();
  return Number(cursor);
};

/** A place within an event: its position, and a number of things in it. */
export const placeIn = (cursor: string): { readonly position: number; readonly index: number } => {
  const [, position, index] = /^(\d{1,15})\.(\d{1,4})$/.exec(cursor) ?? [];
  if (position === undefined || index === undefined) throw malformed();
  return { position: Number(position), index: Number(index) };
};

type Sources = Pick<AuditSources, 'log' | 'index'>;

/** The moment that a text says: a position, or a time. Throws `invalid` and names the parameter. */
export const momentIn = (text: string, parameter: string): Moment => {
  const moment = momentOf(text);
  if (moment) return moment;
  throw new RequestError('invalid', `${parameter} must be a position, or a time such as 2026-01-31T09:00:00Z`, {
    path: parameter,
  });
};

/** The position up to which the log is meant. Throws `invalid` if the position is beyond the end of the log. */
export const positionOf = async ({ log, index }: Sources, text: string, parameter: string): Promise<number> => {
  const moment = momentIn(text, parameter);
  const head = await log.head();
  if ('time' in moment) return index.read(head, (db) => positionAt(db, log, moment.time));
  if (moment.position <= head) return moment.position;
  throw new RequestError('invalid', `The log ends at position ${head}`, { path: parameter });
};

/** Events between two moments, both included; a side that is undefined has no end. */
export type Between = { readonly since?: string | undefined; readonly until?: string | undefined };

/** The part of the log that holds all events between two moments. Until its times are known, other events may be in it. */
export const rangeOf = async ({ log, index }: Sources, { since, until }: Between): Promise<Range> => {
  const [from, to] = [since && momentIn(since, 'since'), until && momentIn(until, 'until')];
  const head = await log.head();
  return index.read(head, async (db) => {
    let [after, before] = [0, Infinity];
    if (from) after = 'time' in from ? firstPossible(db, from.time) - 1 : from.position - 1;
    if (to) before = 1 + ('time' in to ? await positionAt(db, log, to.time) : to.position);
    return { after, before: Math.min(before, head + 1) };
  });
};

/** Makes the test whether a time is between two moments. Positions do not matter here. */
export const isBetween = ({ since, until }: Between): ((first: string | null, last?: string | null) => boolean) => {
  const timeOf = (text: string | undefined): number | undefined => {
    const moment = text === undefined ? undefined : momentOf(text);
    return moment && 'time' in moment ? moment.time : undefined;
  };
  const [from, to] = [timeOf(since), timeOf(until)];
  return (first, last = first) => {
    if (from === undefined && to === undefined) return true;
    if (first === null || last === null) return false;
    return (from === undefined || Date.parse(last) >= from) && (to === undefined || Date.parse(first) <= to);
  };
};
