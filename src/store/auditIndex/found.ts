import { hash } from 'node:crypto';
import { resourceText, streamsAbout } from '../../domain/engine/resource.ts';
import { splitStream, splitType } from '../event.ts';
import type { Connection } from '../sqlite/log.ts';
import type { Indexed, Indexer } from './indexer.ts';

/** The terms by which events can be found. `request` is the id of a request or of a correlation, which mostly are the same. */
export type FoundBy = 'actor' | 'resource' | 'source' | 'topic' | 'operation' | 'request';

/** A number that stands for a value in the index. Two values may share one: whoever reads the event checks it. */
export type Term = number;

/** The term that all events have that anybody may see. */
const everything: Term = 0;

// Accounts, topics and operations are few, and most events have the same ones.
const cachedTerms = new Map<string, Term>();
const mostKnown = 10_000;

const termOfText = (text: string): Term => hash('sha256', text, 'buffer').readUIntBE(0, 6);

export const termOf = (by: FoundBy, value: string): Term => {
  const text = `${by} ${value}`;
  if (by === 'request' || by === 'resource') return termOfText(text);
  const term = cachedTerms.get(text) ?? termOfText(text);
  if (cachedTerms.size < mostKnown) cachedTerms.set(text, term);
  return term;
};

/** Nobody may see the events of these: names, turns, logins, parts of large events, and notes of the log itself. */
export const hiddenCategories = [
  'checkpoint',
  'deviceTurn',
  'inventorySync',
  'log',
  'login',
  'name',
  'parkedReaction',
  'payload',
  'secret',
  'series',
];

/** Calls `add` with each term of an event; with some perhaps twice. */
const addTerms = ({ event: { stream, type }, metadata }: Indexed, add: (term: Term) => void): void => {
  const { category, id } = splitStream(stream);
  const { source, topic } = splitType(type);
  const addText = (by: FoundBy, value: unknown): void => {
    if (typeof value === 'string' && value !== '') add(termOf(by, value));
  };
  add(everything);
  add(termOf('resource', resourceText({ kind: streamsAbout[category] ?? category, id })));
  add(termOf('source', source));
  add(termOf('topic', topic));
  addText('actor', metadata?.actor?.id);
  addText('operation', metadata?.operation);
  addText('request', metadata?.requestId);
  if (metadata?.$correlationId !== metadata?.requestId) addText('request', metadata?.$correlationId);
};

const mostInRow = 512;

type Row = [last: number, distances: string];

/** The row of ascending positions: the last one, and the distances from each to the one before, the last first. */
const rowOf = (positions: readonly number[]): Row => {
  const distances: number[] = [];
  for (let at = positions.length - 1; at > 0; at--) distances.push(positions[at]! - positions[at - 1]!);
  return [positions.at(-1) ?? 0, distances.join()];
};

/** The positions of a row in descending order. */
const positionsIn = ([last, distances]: Row): readonly number[] => {
  let position = last;
  const others = distances === '' ? [] : distances.split(',');
  return [
    last,
    ...others.map((distance) => {
      position -= Number(distance);
      return position;
    }),
  ];
};

/**
 * Which events have which actor, resource, source, topic, operation, request and correlation. Events that are indexed together share a
 * row for each of their terms, since most of them have the same ones.
 */
export const found: Indexer = {
  // The comment is a part of the statement: another list makes the index anew.
  schema: `CREATE TABLE found ( -- with sources, without ${hiddenCategories.join(', ')}
    term INTEGER NOT NULL, last INTEGER NOT NULL, distances TEXT NOT NULL, PRIMARY KEY (term, last)
  ) STRICT, WITHOUT ROWID;`,
  writer: (db) => {
    const put = db.prepare('INSERT INTO found VALUES (?, ?, ?)');
    const positionsOf = new Map<Term, number[]>();
    return {
      begin: () => positionsOf.clear(),
      take: (one) => {
        const { stream, position } = one.event;
        if (hiddenCategories.includes(splitStream(stream).category)) return;
        addTerms(one, (term) => {
          const positions = positionsOf.get(term);
          if (!positions) positionsOf.set(term, [position]);
          else if (positions.at(-1) !== position) positions.push(position);
        });
      },
      write: () => {
        // In the order of the table, one row is beside the other.
        for (const term of Float64Array.from(positionsOf.keys()).sort()) {
          const positions = positionsOf.get(term)!; // the term is a key
          for (let at = 0; at < positions.length; at += mostInRow)
            put.run(term, ...rowOf(positions.slice(at, at + mostInRow)));
        }
      },
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
  /** Events before this position have not been looked at; undefined: none are left. */
  readonly rest: number | undefined;
};

/** Finds rows of a term: the first one that ends at a position or after it, and the newest one that ends before it. */
const rowFinder = (db: Connection) => {
  const row = 'SELECT last, distances FROM found WHERE term = ? AND last';
  const around = db.prepare(`${row} >= ? ORDER BY last LIMIT 1`);
  const before = db.prepare(`${row} < ? ORDER BY last DESC LIMIT 1`);
  return {
    around: (term: Term, position: number) => around.get(term, position) as Row | undefined,
    before: (term: Term, position: number) => before.get(term, position) as Row | undefined,
  };
};

type Rows = ReturnType<typeof rowFinder>;

/** Positions with a term before a position, in descending order. */
function* positionsBefore(rows: Rows, term: Term, position: number): Generator<number> {
  const first = rows.around(term, position);
  if (first) yield* positionsIn(first).filter((one) => one < position);
  for (let row = rows.before(term, position); row; row = rows.before(term, row[0])) yield* positionsIn(row);
}

/** Positions with one of the terms before a position, in descending order. */
function* positionsWithAny(rows: Rows, terms: readonly Term[], position: number): Generator<number> {
  const all = terms.map((term) => positionsBefore(rows, term, position));
  const heads = all.map((one) => one.next().value ?? -Infinity);
  for (let newest = Math.max(...heads); newest >= 0; newest = Math.max(...heads)) {
    yield newest;
    for (const [n, head] of heads.entries()) if (head === newest) heads[n] = all[n]?.next().value ?? -Infinity;
  }
}

/** A function that says if the event at a position has a term. */
const hasTerm = ({ around }: Rows, term: Term): ((position: number) => boolean) => {
  let [first, last, positions] = [Infinity, -Infinity, new Set<number>()];
  return (position) => {
    if (position < first || position > last) {
      const row = around(term, position);
      const found = row ? positionsIn(row) : [];
      [first, last, positions] = [Math.min(position, ...found.slice(-1)), row?.[0] ?? position, new Set(found)];
    }
    return positions.has(position);
  };
};

/**
 * The newest events in a part of the log that have a term of each list. At most `most` events of the first list are looked
 * at, so that the time does not depend on how long the log is.
 */
export const newestWith = (
  db: Connection,
  [first = [everything], ...others]: readonly (readonly Term[])[],
  { after, before }: Range,
  most: number,
): Positions => {
  const rows = rowFinder(db);
  const looked: number[] = [];
  for (const position of positionsWithAny(rows, first, before)) {
    if (position <= after || looked.length === most) break;
    looked.push(position);
  }
  const tests = others.map((terms) => terms.map((term) => hasTerm(rows, term)));
  const positions = looked.filter((position) => tests.every((any) => any.some((has) => has(position))));
  return { positions, looked: looked.length, rest: looked.length < most ? undefined : looked.at(-1) };
};
