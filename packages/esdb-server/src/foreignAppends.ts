import { type Appended, type NewEvent, WrongRevision } from '@automation-platform/event-log';
import { LRUCache } from 'lru-cache';
import { wrongVersion } from './expected.ts';
import { type Expected, streamDeleted, unavailable } from './faults.ts';
import type { StreamState } from './foreignStream.ts';
import type { LogToServe } from './port.ts';

/** An append that waits for its turn. Its events are not too large for the log. */
export type Asked = { readonly expected: Expected; readonly events: readonly NewEvent[] };

// An append that expects no revision may be a repetition. It is found if it was stored at most this number of events ago.
const remembered = 256;
// For how many streams ids are kept in memory, and how many ids for each stream.
const keptIds = 1024;
const keptStreams = 64;

/** A stream as it will be when the appends decided so far are stored. */
type View = {
  readonly stream: string;
  readonly state: StreamState;
  last: number;
  /** The ids of the newest events, the newest last. */
  readonly ids: string[];
};

/** The revision after which the events go. If they are stored already, it is the revision before them. */
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
  const [first] = events;
  const start = first ? ids.lastIndexOf(first.id) : -1;
  if (start < 0) return last;
  if (events.some(({ id }, n) => ids[start + n] !== id)) throw wrongVersion('Append', stream, expected, last);
  return last - ids.length + start;
};

/**
 * Hands appends of one stream to the log in the order in which they came. Each begins at the revision where the one
 * before it ends. No append waits until the one before it is stored, so one commit of the log stores them all.
 */
export const foreignAppends = (store: LogToServe) => {
  // Events never change, so the ids of a stream at a revision stay the same.
  const views = new LRUCache<string, Pick<View, 'last' | 'ids'>>({ max: keptStreams });

  /** The ids of the newest events of a stream: `count`, or all if it has fewer. */
  const newestIds = async (stream: string, last: number, count: number): Promise<readonly string[]> => {
    const before = views.get(stream);
    if (before?.last === last && before.ids.length >= Math.min(count, last + 1)) return before.ids;
    return (await store.newest(stream, count)).map(({ id }) => id).reverse();
  };

  return async (stream: string, state: StreamState, all: readonly Asked[]): Promise<readonly Promise<Appended>[]> => {
    const longest = Math.max(...all.map(({ events }) => events.length));
    const ids = await newestIds(stream, state.last, remembered + longest);
    const view: View = { stream, state, last: state.last, ids: [...ids] };
    const outcomes = all.map(async (request) => {
      const place = placeOf(view, request);
      const isNew = place === view.last;
      if (isNew) {
        view.last += request.events.length;
        view.ids.push(...request.events.map(({ id }) => id));
      }
      try {
        return await store.append(stream, place, request.events);
      } catch (error) {
        if (isNew) views.delete(stream);
        if (!(error instanceof WrongRevision)) throw error;
        // An append before this one was not stored. This one expects any revision, so its caller did nothing wrong.
        if (isNew && request.expected === 'any') throw unavailable('An append before this one failed; send it again');
        throw wrongVersion('Append', stream, request.expected, error.actual);
      }
    });
    views.set(stream, { last: view.last, ids: view.ids.slice(-keptIds) });
    return outcomes;
  };
};
