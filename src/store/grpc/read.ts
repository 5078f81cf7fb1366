import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from '../port.ts';
import type { SqliteStore } from '../sqlite.ts';
import { streamIdentifier } from '../streamIdentifier.ts';
import { breather } from './breather.ts';
import type { Answering } from './calls.ts';
import { badRequest, streamDeleted } from './faults.ts';
import { filterIn } from './filters.ts';
import { foreignState, isShown, ownState, type StreamState } from './foreignStream.ts';
import { eventAnswer, streamIn } from './messages.ts';

/** The log to read, and whether one of its streams is the platform's own. */
export type Readable = { readonly store: SqliteStore; readonly own: (stream: string) => boolean };

/** Whether ids are sent as two numbers instead of text. */
export const wantsStructured = (options: ReadReq.Options): boolean => options.getUuidOption()?.hasString() !== true;

/** State of any stream. Throws when it was deleted for ever. */
export const stateOf = async ({ store, own }: Readable, stream: string): Promise<StreamState> => {
  const state = await (own(stream) ? ownState(store, stream) : foreignState(store, stream, Date.now()));
  if (state.tombstoned) throw streamDeleted(stream.replace(/^\$\$/, ''));
  return state;
};

/** The position to read from: `head` for the end, and for positions that JavaScript cannot hold exactly. */
export const positionIn = (options: ReadReq.Options.AllOptions, head: number): number => {
  if (options.hasStart()) return 0;
  const position = options.getPosition();
  if (!position && !options.hasEnd()) throw badRequest('The position to read from is missing');
  const number = position ? Number(position.getCommitPosition()) : Infinity;
  return number > Number.MAX_SAFE_INTEGER ? head : number;
};

/** The revision to read from: 0 for the start, Infinity for the end. */
export const revisionIn = (options: ReadReq.Options.StreamOptions): number => {
  if (options.hasStart()) return 0;
  if (options.hasEnd()) return Infinity;
  if (!options.hasRevision()) throw badRequest('The revision to read from is missing');
  return Number(options.getRevision());
};

const backwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;

async function* eventsOf(lists: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<StoredEvent> {
  for await (const list of lists) yield* list;
}

async function* inOrder(
  store: SqliteStore,
  after: number,
  types: readonly string[] | undefined,
): AsyncGenerator<readonly StoredEvent[]> {
  for await (const { events } of store.readAll(after, types)) yield events;
}

/** Sends the first `count` of the events that pass. */
const sendSome = async (
  events: AsyncIterable<StoredEvent>,
  count: number,
  passes: (event: StoredEvent) => boolean,
  send: (event: StoredEvent) => Promise<void>,
): Promise<void> => {
  let left = count;
  const breathe = breather();
  if (left < 1) return;
  for await (const event of events) {
    await breathe();
    if (!passes(event)) continue;
    await send(event);
    if (--left < 1) return;
  }
};

/** Reads one stream from a revision on, forwards or backwards. */
const readStream = async (
  readable: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.StreamOptions,
  { signal, send }: Answering<ReadResp>,
): Promise<void> => {
  const stream = streamIn(from.getStreamIdentifier());
  const structured = wantsStructured(options);
  const revision = revisionIn(from);
  const state = await stateOf(readable, stream);
  if (state.last < 0 || state.deleted) {
    return send(
      new streams.ReadResp().setStreamNotFound(
        new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream)),
      ),
    );
  }
  const { store } = readable;
  // Events that are stored after the read has begun are not part of it.
  const passes = (event: StoredEvent): boolean => event.revision <= state.last && isShown(event, state);
  const lists = backwards(options)
    ? store.readBack(stream, Math.min(revision, state.last))
    : store.read(stream, Math.max(revision, state.first));
  const shown = async function* (): AsyncGenerator<StoredEvent> {
    for await (const event of eventsOf(lists)) {
      signal.throwIfAborted();
      if (backwards(options) && (event.revision < state.first || event.position < state.since)) return;
      yield event;
    }
  };
  await sendSome(shown(), Number(options.getCount()), passes, (event) => send(eventAnswer(event, structured)));
};

/** Reads the log: forwards from a position on, including the event there, or backwards from before a position. */
const readAll = async (
  { store }: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.AllOptions,
  { signal, send }: Answering<ReadResp>,
): Promise<void> => {
  const structured = wantsStructured(options);
  const filter = filterIn(options);
  const head = await store.head();
  const position = positionIn(from, head + 1);
  const lists = backwards(options)
    ? store.readAllBack(Math.min(position, head + 1))
    : inOrder(store, Math.max(0, position - 1), filter?.types);
  const passes = (event: StoredEvent): boolean => {
    signal.throwIfAborted();
    return filter?.passes(event) ?? true;
  };
  await sendSome(eventsOf(lists), Number(options.getCount()), passes, (event) => send(eventAnswer(event, structured)));
};

/** Reads a stream or the log, without a subscription. */
export const read = (readable: Readable, options: ReadReq.Options, answering: Answering<ReadResp>): Promise<void> => {
  const [stream, all] = [options.getStream(), options.getAll()];
  if (!options.hasCount()) throw badRequest('How many events are wanted is missing');
  if (stream) {
    if (options.hasFilter()) throw badRequest('Only the whole log can be filtered');
    return readStream(readable, options, stream, answering);
  }
  if (!all) throw badRequest('Neither a stream nor the log is named');
  return readAll(readable, options, all, answering);
};
