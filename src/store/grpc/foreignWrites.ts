import { randomUUID } from 'node:crypto';
import { wrapForeign } from '../foreign.ts';
import { type Appended, type NewEvent, WrongRevision } from '../port.ts';
import type { SqliteStore } from '../sqlite.ts';
import { turns } from '../turns.ts';
import { type Expected, wrongVersion } from './expected.ts';
import { streamDeleted } from './faults.ts';
import { foreignState, metadataType, metastreamOf, type StreamState, tombstoneType } from './foreignStream.ts';

// How far back a repeated append is recognised when it expects no revision.
const remembered = 256;
// As EventStoreDB marks a deleted stream; too large for a number of JavaScript.
const everything = '{"$tb":9223372036854775807}';

const bytes = (text: string): Uint8Array => Buffer.from(text);

const systemEvent = (type: string, data: string, now: Date): NewEvent =>
  wrapForeign({ id: randomUUID(), type, data: bytes(data), metadata: bytes(''), contentType: data === '' ? 'application/octet-stream' : 'application/json', created: now });

/** Where the events lie when the stream's newest have them all, in this order; undefined when it has not even the first. */
const repeated = async (store: SqliteStore, stream: string, ids: readonly string[]): Promise<Appended | 'differently' | undefined> => {
  const newest = (await store.newest(stream, remembered + ids.length)).toReversed();
  const start = newest.findLastIndex(({ id }) => id === ids[0]);
  if (start < 0) return undefined;
  const last = newest[start + ids.length - 1];
  return last && ids.every((id, n) => newest[start + n]!.id === id) ? { revision: last.revision, position: last.position } : 'differently';
};

/** Throws unless a stream is where a delete expects it. */
const checkExpected = (stream: string, expected: Expected, { last, deleted, metadata }: StreamState): void => {
  const isThere = last >= 0 || metadata !== undefined;
  const fits = expected === 'any' || (expected === 'stream_exists' ? isThere : expected === 'no_stream' ? last < 0 || deleted : expected === last);
  if (!fits) throw wrongVersion(stream, expected, last);
};

/** Writes to streams that are not the platform's own, by the rules of EventStoreDB; one stream's one after the other. */
export const foreignWrites = (store: SqliteStore, now = () => new Date()) => {
  const inTurn = turns();

  const stateOf = async (stream: string): Promise<StreamState> => {
    const state = await foreignState(store, stream, now().getTime());
    if (state.tombstoned) throw streamDeleted(stream.replace(/^\$\$/, ''));
    return state;
  };

  /** A stream that comes back after a delete begins after what was deleted. The log without it says the same. */
  const comeBack = async (stream: string, { last, metadata, metadataRevision }: StreamState): Promise<void> => {
    const event = systemEvent(metadataType, JSON.stringify({ ...metadata, $tb: last + 1 }), now());
    await store.append(metastreamOf(stream), metadataRevision, [event]).catch((error: unknown) => {
      // Somebody else has since said something newer.
      if (!(error instanceof WrongRevision)) throw error;
    });
  };

  const append = async (stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> => {
    const state = await stateOf(stream);
    const wrong = () => wrongVersion(stream, expected, state.last);
    const store1 = async (revision: number): Promise<Appended> => {
      const appended = await store.append(stream, revision, events);
      if (state.deleted) await comeBack(stream, state);
      return appended;
    };
    if (expected === 'any' || expected === 'stream_exists') {
      if (expected === 'stream_exists' && state.last < 0 && state.metadata === undefined) throw wrong();
      const before = await repeated(store, stream, events.map(({ id }) => id));
      if (before === 'differently') throw wrong();
      return before ?? store1(state.last);
    }
    const revision = expected === 'no_stream' ? -1 : expected;
    if (revision > state.last) throw wrong();
    if (revision === state.last) return store1(revision);
    try {
      return await store.append(stream, revision, events);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      if (expected === 'no_stream' && state.deleted) return store1(state.last);
      throw wrong();
    }
  };

  const remove = async (stream: string, expected: Expected): Promise<Appended> => {
    checkExpected(stream, expected, await stateOf(stream));
    const metastream = metastreamOf(stream);
    const [newest] = await store.newest(metastream, 1);
    return store.append(metastream, newest?.revision ?? -1, [systemEvent(metadataType, everything, now())]);
  };

  const end = async (stream: string, expected: Expected): Promise<Appended> => {
    const state = await stateOf(stream);
    checkExpected(stream, expected, state);
    return store.append(stream, state.last, [systemEvent(tombstoneType, '', now())]);
  };

  // A stream and its metadata are written in one line.
  const turnOf = (stream: string): string => stream.replace(/^\$\$/, '');

  return {
    append: (stream: string, expected: Expected, events: readonly NewEvent[]) => inTurn(turnOf(stream), () => append(stream, expected, events)),
    /** Deletes: what is there is hidden, the stream can be written again. */
    remove: (stream: string, expected: Expected) => inTurn(turnOf(stream), () => remove(stream, expected)),
    /** Ends the stream for ever. */
    end: (stream: string, expected: Expected) => inTurn(turnOf(stream), () => end(stream, expected)),
  };
};

export type ForeignWrites = ReturnType<typeof foreignWrites>;
