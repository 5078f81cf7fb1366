import type { StoredEvent } from '@automation-platform/event-log';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { breather } from './breather.ts';
import type { Answering } from './calls.ts';
import { badRequest, streamDeleted } from './faults.ts';
import { filterIn } from './filters.ts';
import { foreignState, isShown, ownState, type StreamState } from './foreignStream.ts';
import { streamIdentifier } from './identifiers.ts';
import { eventAnswer, sizeOf, streamIn } from './messages.ts';
import type { LogToServe } from './port.ts';

/** The log to read, and whether one of its streams is the platform's own. */
export type Readable = { readonly store: LogToServe; readonly own: (stream: string) => boolean };

/** True if ids are sent as two numbers instead of text. */
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
  store: LogToServe,
  after: number,
  types: readonly string[] | undefined,
): AsyncGenerator<readonly StoredEvent[]> {
  for await (const { events } of store.readAll(after, types)) yield events;
}

type Some = {
  /** The events after one; undefined: from the beginning. */
  readonly after: (last: StoredEvent | undefined) => AsyncIterable<StoredEvent>;
  readonly count: number;
  readonly passes: (event: StoredEvent) => boolean;
  readonly structured: boolean;
};

/** Sends the first `count` of the events that pass. Events that were read are given up while the caller does not keep up. */
const sendSome = async (
  { after, count, passes, structured }: Some,
  { send, room }: Answering<ReadResp>,
): Promise<void> => {
  let remaining = count;
  let last: StoredEvent | undefined;
  const breathe = breather();
  /** True: the caller does not keep up. */
  const sendOn = async (): Promise<boolean> => {
    for await (const event of after(last)) {
      await breathe();
      last = event;
      if (!passes(event)) continue;
      const isTaken = await send(eventAnswer(event, structured), sizeOf(event));
      if (--remaining < 1) return false;
      if (!isTaken) return true;
    }
    return false;
  };
  while (remaining > 0 && (await sendOn())) await room();
};

/** Reads one stream from a revision on, forwards or backwards. */
const readStream = async (
  readable: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.StreamOptions,
  answering: Answering<ReadResp>,
): Promise<void> => {
  const { signal, send } = answering;
  const stream = streamIn(from.getStreamIdentifier());
  const structured = wantsStructured(options);
  const revision = revisionIn(from);
  const state = await stateOf(readable, stream);
  if (state.last < 0 || state.deleted) {
    const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream));
    await send(new streams.ReadResp().setStreamNotFound(notFound));
    return;
  }
  const { store } = readable;
  // Events that are stored after the read has begun are not part of it.
  const passes = (event: StoredEvent): boolean => event.revision <= state.last && isShown(event, state);
  const after = async function* (last: StoredEvent | undefined): AsyncGenerator<StoredEvent> {
    const lists = backwards(options)
      ? store.readBack(stream, last ? last.revision - 1 : Math.min(revision, state.last))
      : store.read(stream, last ? last.revision + 1 : Math.max(revision, state.first));
    for await (const event of eventsOf(lists)) {
      signal.throwIfAborted();
      if (backwards(options) && (event.revision < state.first || event.position < state.since)) return;
      yield event;
    }
  };
  await sendSome({ after, count: Number(options.getCount()), passes, structured }, answering);
};

/** Reads the log: forwards from a position on, including the event there, or backwards from before a position. */
const readAll = async (
  { store }: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.AllOptions,
  answering: Answering<ReadResp>,
): Promise<void> => {
  const structured = wantsStructured(options);
  const filter = filterIn(options);
  const head = await store.head();
  const position = positionIn(from, head + 1);
  const after = (last: StoredEvent | undefined): AsyncGenerator<StoredEvent> =>
    eventsOf(
      backwards(options)
        ? store.readAllBack(last?.position ?? Math.min(position, head + 1))
        : inOrder(store, last?.position ?? Math.max(0, position - 1), filter?.types),
    );
  const passes = (event: StoredEvent): boolean => {
    answering.signal.throwIfAborted();
    return filter?.passes(event) ?? true;
  };
  await sendSome({ after, count: Number(options.getCount()), passes, structured }, answering);
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
