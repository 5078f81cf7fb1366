import { randomUUID } from 'node:crypto';
import { mutex } from '@automation-platform/concurrency';
import {
  type Appended,
  metadataType,
  metastreamOf,
  type NewEvent,
  tombstoneType,
  WrongRevision,
  wrapForeign,
} from '@automation-platform/event-log';
import { wrongVersion } from './expected.ts';
import { type Expected, Fault, streamDeleted } from './faults.ts';
import { type Asked, foreignAppends } from './foreignAppends.ts';
import { foreignState, type StreamState } from './foreignStream.ts';
import type { LogToServe } from './port.ts';

// How many appends begin together at most. One call may have this number under way.
const mostAtOnce = 256;
// The metadata by which EventStoreDB marks a deleted stream. It is a text, because the number is too large for
// JavaScript.
const everything = '{"$tb":9223372036854775807}';

const bytes = (text: string): Uint8Array => Buffer.from(text);

const systemEvent = (type: string, data: string, now: Date): NewEvent =>
  wrapForeign({
    id: randomUUID(),
    type,
    data: bytes(data),
    metadata: bytes(''),
    contentType: data === '' ? 'application/octet-stream' : 'application/json',
    created: now,
  });

/** An append that waits in the line of its stream. It gets an outcome when it begins. */
type Waiting = Asked & { outcome?: Promise<Appended> | undefined };

/**
 * Throws unless a stream is in the state that a delete expects. A stream that never existed cannot be deleted, except
 * for ever.
 */
const checkDelete = (
  stream: string,
  expected: Expected,
  { last, deleted, metadata }: StreamState,
  forEver: boolean,
): void => {
  const wasNever = last < 0 && metadata === undefined;
  const wrong = (): Fault => wrongVersion('Delete', stream, expected, last);
  if (expected === 'stream_exists' && deleted) throw streamDeleted(stream);
  if (wasNever && (!forEver || expected === 'stream_exists')) throw wrong();
  if (expected === 'no_stream' && last >= 0 && !deleted) throw wrong();
  if (typeof expected === 'number' && expected !== last) throw wrong();
};

/**
 * Writes to streams that are not the platform's own, by the rules of EventStoreDB. Writes to one stream run one after
 * the other.
 */
export const foreignWrites = (store: LogToServe, now = () => new Date()) => {
  const exclusively = mutex();
  const appendInOrder = foreignAppends(store);
  const lines = new Map<string, Waiting[]>();

  const stateOf = async (stream: string): Promise<StreamState> => {
    const state = await foreignState(store, stream, now().getTime());
    if (state.tombstoned) throw streamDeleted(stream.replace(/^\$\$/, ''));
    return state;
  };

  /**
   * Marks in the metadata that a stream is back after a delete, and begins after the deleted events. The log shows the
   * stream correctly without this mark, too.
   */
  const comeBack = async (stream: string, { last, metadata, metadataRevision }: StreamState): Promise<void> => {
    const event = systemEvent(metadataType, JSON.stringify({ ...metadata, $tb: last + 1 }), now());
    await store.append(metastreamOf(stream), metadataRevision, [event]).catch((error: unknown) => {
      // Another client has stored newer metadata since.
      if (!(error instanceof WrongRevision)) throw error;
    });
  };

  /**
   * The first append after a delete. If it expects no stream, it may repeat an append from before the delete, so that
   * case is tried first.
   */
  const appendAgain = async (stream: string, state: StreamState, request: Asked): Promise<Appended> => {
    const attempt = async (expected: Expected): Promise<Appended> => {
      const [outcome] = await appendInOrder(stream, state, [{ ...request, expected }]);
      // One append has one outcome.
      return outcome!;
    };
    const appended = await attempt(request.expected).catch((error: unknown) => {
      if (request.expected === 'no_stream' && error instanceof Fault && error.wrong) return attempt(state.last);
      throw error;
    });
    if (appended.revision > state.last) await comeBack(stream, state);
    return appended;
  };

  /**
   * Begins the next appends that wait for a stream, and waits until they have ended. At least one append must be
   * waiting. Throws when none could begin.
   */
  const appendNext = async (stream: string, line: Waiting[]): Promise<void> => {
    const state = await stateOf(stream);
    const next = line.slice(0, state.deleted ? 1 : mostAtOnce);
    const [first] = next;
    const outcomes =
      state.deleted && first ? [appendAgain(stream, state, first)] : await appendInOrder(stream, state, next);
    for (const [n, waiting] of next.entries()) waiting.outcome = outcomes[n];
    line.splice(0, next.length);
    await Promise.allSettled(outcomes);
  };

  /** The outcome of `mine`. Either it is the first in line, or it has begun together with an append before it. */
  const appended = async (stream: string, line: Waiting[], mine: Waiting): Promise<Appended> => {
    try {
      if (!mine.outcome) await appendNext(stream, line);
    } catch (error) {
      line.shift();
      throw error;
    } finally {
      if (line.length === 0) lines.delete(stream);
    }
    // `mine` was the first in line, so `appendNext` has begun it.
    return mine.outcome!;
  };

  const remove = async (stream: string, expected: Expected): Promise<Appended> => {
    checkDelete(stream, expected, await stateOf(stream), false);
    const metastream = metastreamOf(stream);
    const [newest] = await store.newest(metastream, 1);
    return store.append(metastream, newest?.revision ?? -1, [systemEvent(metadataType, everything, now())]);
  };

  const end = async (stream: string, expected: Expected): Promise<Appended> => {
    const state = await stateOf(stream);
    checkDelete(stream, expected, state, true);
    return store.append(stream, state.last, [systemEvent(tombstoneType, '', now())]);
  };

  // Writes to a stream and to its metadata wait in the same line.
  const lockedStream = (stream: string): string => stream.replace(/^\$\$/, '');

  return {
    /** Appends that arrive while earlier ones are being stored wait, and one commit then stores them together. */
    append: (stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> => {
      const line = lines.get(stream) ?? [];
      const mine: Waiting = { expected, events };
      lines.set(stream, line);
      line.push(mine);
      return exclusively(lockedStream(stream), () => appended(stream, line, mine));
    },
    /** Deletes the stream: its events are hidden, and it can be written again. */
    remove: (stream: string, expected: Expected) => exclusively(lockedStream(stream), () => remove(stream, expected)),
    /** Deletes the stream for ever. */
    end: (stream: string, expected: Expected) => exclusively(lockedStream(stream), () => end(stream, expected)),
  };
};

export type ForeignWrites = ReturnType<typeof foreignWrites>;
