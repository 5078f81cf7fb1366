import { randomUUID } from 'node:crypto';
import { type StoredEvent, tombstoneType } from '@automation-platform/event-log';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { breather } from './breather.ts';
import type { Answering } from './calls.ts';
import { badRequest, streamDeleted, unavailable } from './faults.ts';
import { filterIn } from './filters.ts';
import { isShown } from './foreignStream.ts';
import { eventAnswer, sizeOf, streamIn } from './messages.ts';
import { positionIn, type Readable, revisionIn, stateOf, wantsStructured } from './read.ts';

const confirmation = (): ReadResp =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID()),
  );
const caughtUp = (): ReadResp => new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
const checkpoint = (position: number): ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

/**
 * The whole log after a position. With a filter, the subscriber also gets checkpoints: after a number of positions, and
 * when it has reached the end. Every event up to a checkpoint was sent before it.
 */
const toAll = async (
  { store }: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.AllOptions,
  { signal, send, room }: Answering<ReadResp>,
): Promise<void> => {
  const structured = wantsStructured(options);
  const filter = filterIn(options);
  if (filter && filter.checkpointInterval < 1) throw badRequest('The interval of checkpoints must be positive');
  const interval = filter?.checkpointInterval ?? Infinity;
  const start = positionIn(from, await store.head());
  await send(confirmation());
  let lastPosition = start;
  /** False: the subscriber does not keep up. */
  const passed = async (position: number, least: number): Promise<boolean> => {
    if (!filter || position - lastPosition < least) return true;
    lastPosition = position;
    return send(checkpoint(position));
  };
  const breathe = breather();
  let after = start;
  let live = false;
  const tellCaughtUp = async (): Promise<void> => {
    if (live || after < (await store.head())) return;
    live = true;
    await passed(after, 1);
    await send(caughtUp());
  };
  /** Sends events. True: the subscriber does not keep up. */
  const follow = async (): Promise<boolean> => {
    await tellCaughtUp();
    for await (const { events, position } of store.follow(after, filter?.types, signal)) {
      for (const event of events) {
        await breathe();
        const isTaken = !(filter?.passes(event) ?? true) || (await send(eventAnswer(event, structured), sizeOf(event)));
        after = event.position;
        if (!isTaken || !(await passed(after, interval))) return true;
      }
      after = position;
      if (!(await passed(position, interval))) return true;
      await tellCaughtUp();
    }
    return false;
  };
  while (await follow()) await room();
};

/** One stream after a revision. */
const toStream = async (
  readable: Readable,
  options: ReadReq.Options,
  from: ReadReq.Options.StreamOptions,
  { signal, send, room }: Answering<ReadResp>,
): Promise<void> => {
  const { store } = readable;
  const stream = streamIn(from.getStreamIdentifier());
  const structured = wantsStructured(options);
  const revision = revisionIn(from);
  // An event that is stored while the stream is read may come again from the log. Its revision shows whether it was
  // sent.
  const head = await store.head();
  const state = await stateOf(readable, stream);
  let next = from.hasRevision() ? revision + 1 : 0;
  if (revision === Infinity) next = state.last + 1;
  await send(confirmation());
  /** False: the subscriber does not keep up. */
  const deliver = async (event: StoredEvent): Promise<boolean> => {
    if (event.type === tombstoneType && !readable.own(stream)) throw streamDeleted(stream);
    next = event.revision + 1;
    return send(eventAnswer(event, structured), sizeOf(event));
  };
  const readStored = async (): Promise<boolean> => {
    for await (const events of store.read(stream, Math.max(next, state.first)))
      for (const event of events)
        if ((event.revision > state.last || isShown(event, state)) && !(await deliver(event))) return true;
    return false;
  };
  let after = head;
  const follow = async (): Promise<boolean> => {
    for await (const { events, position } of store.follow(after, undefined, signal)) {
      for (const event of events) {
        after = event.position;
        if (event.stream === stream && event.revision >= next && !(await deliver(event))) return true;
      }
      after = position;
    }
    return false;
  };
  while (await readStored()) await room();
  await send(caughtUp());
  while (await follow()) await room();
};

/** Read with subscription: the stored events, then the new ones, until the caller or the server ends the call. */
export const subscribe = async (
  readable: Readable,
  options: ReadReq.Options,
  subscriber: Answering<ReadResp>,
): Promise<void> => {
  await delivering(readable, options, subscriber);
  subscriber.signal.throwIfAborted();
  throw unavailable('The log is closed');
};

const delivering = (readable: Readable, options: ReadReq.Options, subscriber: Answering<ReadResp>): Promise<void> => {
  const [stream, all] = [options.getStream(), options.getAll()];
  if (options.getReadDirection() !== streams.ReadReq.Options.ReadDirection.FORWARDS)
    throw badRequest('Subscriptions go forwards');
  if (stream) {
    if (options.hasFilter()) throw badRequest('Only the whole log can be filtered');
    return toStream(readable, options, stream, subscriber);
  }
  if (!all) throw badRequest('Neither a stream nor the log is named');
  return toAll(readable, options, all, subscriber);
};
