import { LRUCache } from 'lru-cache';
import { Refusal } from '../../domain/engine/refusal.ts';
import { type Appended, type NewEvent, WrongRevision } from '../port.ts';
import type { SqliteStore } from '../sqlite.ts';
import { wrongVersion } from './expected.ts';
import type { Expected } from './faults.ts';
import { streamDeleted } from './faults.ts';
import type { StreamState } from './foreignStream.ts';

/** An append that waits for its turn; its events are not too large for the log. */
export type Asked = { readonly expected: Expected; readonly events: readonly NewEvent[] };

// How many events ago a repeated append may have been stored when it expects no revision.
const remembered = 256;
// How many ids are kept in memory, and of how many streams.
const keptIds = 1024;
const keptStreams = 64;

/** A stream as it will be once what was decided so far is stored. */
type View = {
  readonly stream: string;
  readonly state: StreamState;
  last: number;
  /** The ids of the newest events, the newest last. */
  readonly ids: string[];
};

/** The revision after which the events go; for events that were stored before, the one after which they lie. */
const placeOf = ({ stream, state, last, ids }: View, { expected, events }: Asked): number => {
  if (typeof expected === 'number' || expected === 'no_stream') {
    const revision = expected === 'no_stream' ? -1 : expected;
    if (revision > last) throw wrongVersion('Append', stream, expected, last);
    return revision;
  }
  if (expected === 'stream_exists') {
    if (state.deleted) throw streamDeleted(stream);
    if (last < 0 && state.metadata === undefined) throw wrongVersion('Append', stream, expected, last);
  }
  const start = ids.lastIndexOf(events[0]!.id);
  if (start < 0) return last;
  if (events.some(({ id }, n) => ids[start + n] !== id)) throw wrongVersion('Append', stream, expected, last);
  return last - ids.length + start;
};

/**
 * Hands appends of one stream to the log in the order of asking, each at the revision where the one before it ends.
 * None waits until the one before it is stored, so one commit of the log stores them all.
 */
export const foreignAppends = (store: SqliteStore) => {
  // Events never change, so what is known of a stream at a revision stays true.
  const known = new LRUCache<string, Pick<View, 'last' | 'ids'>>({ max: keptStreams });

  /** The ids of the newest events of a stream: so many, or all. */
  const newestIds = async (stream: string, last: number, count: number): Promise<readonly string[]> => {
    const before = known.get(stream);
    if (before?.last === last && before.ids.length >= Math.min(count, last + 1)) return before.ids;
    return (await store.newest(stream, count)).map(({ id }) => id).reverse();
  };

  return async (stream: string, state: StreamState, all: readonly Asked[]): Promise<readonly Promise<Appended>[]> => {
    const longest = Math.max(...all.map(({ events }) => events.length));
    const ids = await newestIds(stream, state.last, remembered + longest);
    const view: View = { stream, state, last: state.last, ids: [...ids] };
    const outcomes = all.map(async (asked) => {
      const place = placeOf(view, asked);
      const isNew = place === view.last;
      if (isNew) {
        view.last += asked.events.length;
        view.ids.push(...asked.events.map(({ id }) => id));
      }
      try {
        return await store.append(stream, place, asked.events);
      } catch (error) {
        if (isNew) known.delete(stream);
        if (!(error instanceof WrongRevision)) throw error;
        // One before it was not stored, and what it expects cannot be wrong.
        if (isNew && asked.expected === 'any')
          throw new Refusal('unavailable', 'An append before this one failed; send it again');
        throw wrongVersion('Append', stream, asked.expected, error.actual);
      }
    });
    known.set(stream, { last: view.last, ids: view.ids.slice(-keptIds) });
    return outcomes;
  };
};
