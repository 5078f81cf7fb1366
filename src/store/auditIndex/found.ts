import { hash } from 'node:crypto';
import { resourceText, streamsAbout } from '../../domain/engine/resource.ts';
import { type Metadata, splitStream, splitType } from '../event.ts';
import type { StoredEvent } from '../port.ts';
import type { Connection } from '../sqlite/log.ts';
import type { Indexed, Indexer } from './indexer.ts';

/** What events can be found by. `request` is the id of a request or of a correlation, which mostly are the same. */
export type FoundBy = 'actor' | 'resource' | 'source' | 'topic' | 'operation' | 'request';

/** A number that stands for a value in the index. Two values may share one: whoever reads the event checks it. */
export type Term = number;

/** The term that all events have that anybody may see. */
const everything: Term = 0;

// Accounts, topics and operations are few, and most events have the same ones.
const known = new Map<string, Term>();
const mostKnown = 10_000;

const termOfText = (text: string): Term => hash('sha256', text, 'buffer').readUIntBE(0, 6);

export const termOf = (by: FoundBy, value: string): Term => {
  const text = `${by} ${value}`;
  if (by === 'request' || by === 'resource') return termOfText(text);
  const term = known.get(text) ?? termOfText(text);
  if (known.size < mostKnown) known.set(text, term);
  return term;
};

/** Nobody may see the events of these: names, turns, logins, parts of large events, and notes of the log itself. */
export const hiddenCategories = ['checkpoint', 'log', 'login', 'name', 'parkedReaction', 'payload', 'secret', 'series'];

const termsOf = ({ stream, type }: StoredEvent, metadata: Metadata | undefined): ReadonlySet<Term> => {
  const { category, id } = splitStream(stream);
  const resource = resourceText({ kind: streamsAbout[category] ?? category, id });
  const { source, topic } = splitType(type);
  const terms = new Set([everything, termOf('resource', resource), termOf('source', source), termOf('topic', topic)]);
  const add = (by: FoundBy, value: unknown): void => {
    if (typeof value === 'string' && value !== '') terms.add(termOf(by, value));
  };
  add('actor', metadata?.actor?.id);
  add('operation', metadata?.operation);
  add('request', metadata?.requestId);
  if (metadata?.$correlationId !== metadata?.requestId) add('request', metadata?.$correlationId);
  return terms;
};

const rowsAtOnce = 64;

/** Which events have which actor, resource, source, topic, operation, request and correlation. */
export const found: Indexer = {
  schema: `CREATE TABLE found (
    term INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (term, position)
  ) STRICT, WITHOUT ROWID; -- with sources, without ${hiddenCategories.join(', ')}`,
  writer: (db) => {
    const statement = (rows: number) =>
      db.prepare(`INSERT OR IGNORE INTO found VALUES ${Array(rows).fill('(?, ?)').join(', ')}`);
    const one = statement(1);
    const many = statement(rowsAtOnce);
    return (events: readonly Indexed[]) => {
      const rows: [term: Term, position: number][] = [];
      for (const { event, metadata } of events) {
        if (hiddenCategories.includes(splitStream(event.stream).category)) continue;
        for (const term of termsOf(event, metadata)) rows.push([term, event.position]);
      }
      // In the order of the table, one row is beside the other.
      rows.sort(([a, before], [b, after]) => a - b || before - after);
      const whole = rows.length - (rows.length % rowsAtOnce);
      for (let at = 0; at < whole; at += rowsAtOnce) many.run(...rows.slice(at, at + rowsAtOnce).flat());
      for (const row of rows.slice(whole)) one.run(...row);
    };
  },
};

/** A part of the log: after a position, and before another. */
export type Range = { readonly after: number; readonly before: number };

/** Positions of events, and how far the index was looked at for them. */
export type Positions = {
  /** In descending order. */
  readonly positions: readonly number[];
  /** How many positions were looked at. */
  readonly looked: number;
  /** What is before this position has not been looked at; undefined: nothing is left. */
  readonly rest: number | undefined;
};

/**
 * The newest events in a part of the log that have all the terms. At most `most` events of the first term are looked
 * at, so that the time does not depend on how long the log is.
 */
export const newestWith = (
  db: Connection,
  [first = everything, ...others]: readonly Term[],
  { after, before }: Range,
  most: number,
): Positions => {
  const rows = db
    .prepare(
      'SELECT position FROM found WHERE term = ? AND position > ? AND position < ? ORDER BY position DESC LIMIT ?',
    )
    .all(first, after, before, most) as [position: number][];
  const has = db.prepare('SELECT 1 FROM found WHERE term = ? AND position = ?');
  const positions = rows
    .map(([position]) => position)
    .filter((position) => others.every((term) => has.get(term, position) !== undefined));
  return { positions, looked: rows.length, rest: rows.length < most ? undefined : rows.at(-1)?.[0] };
};
