import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { Filter } from '../port.ts';
import { streamIdentifier } from './events.ts';

const { Options } = streams.ReadReq;
const { ReadDirection, FilterOptions } = Options;

/**
 * The events to read: those whose type begins with one of these prefixes, all but the server's own (`clients`), or all.
 */
type Which = Filter | 'clients' | 'everything';

// How many events EventStoreDB searches in one step. A subscription gets a checkpoint after each step.
const window = 1024;

const filterOf = (which: Filter | 'clients'): ReadReq.Options.FilterOptions => {
  const types = new FilterOptions.Expression();
  if (which === 'clients') types.setRegex('^[^$]');
  else types.setPrefixList([...which]);
  return new FilterOptions().setEventType(types).setMax(window).setCheckpointintervalmultiplier(1);
};

const options = (which: Which): ReadReq.Options => {
  const requestOptions = new Options().setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));
  return which === 'everything'
    ? requestOptions.setNoFilter(new shared.Empty())
    : requestOptions.setFilter(filterOf(which));
};

const request = (options: ReadReq.Options, count: number | undefined, backwards: boolean): ReadReq =>
  new streams.ReadReq().setOptions(
    options
      .setCount(String(count ?? Number.MAX_SAFE_INTEGER))
      .setReadDirection(backwards ? ReadDirection.BACKWARDS : ReadDirection.FORWARDS),
  );

const allFrom = (position: number): ReadReq.Options.AllOptions =>
  position === 0
    ? new Options.AllOptions().setStart(new shared.Empty())
    : new Options.AllOptions().setPosition(
        new Options.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
      );

const streamOptions = (stream: string) => new Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream));

/** Reads a stream from a revision on. The last answer has the revision of the stream's last event. */
export const readOfStream = (stream: string, from: number): ReadReq =>
  request(
    options('everything')
      .setStream(streamOptions(stream).setRevision(String(from)))
      .setControlOption(new Options.ControlOption().setCompatibility(1)),
    undefined,
    false,
  );

/** Reads the newest event of a stream. */
export const newestOfStream = (stream: string): ReadReq =>
  request(options('everything').setStream(streamOptions(stream).setEnd(new shared.Empty())), 1, true);

/** Reads the log from a position on, including the event there. */
export const readOfAll = (position: number, which: Which, count?: number): ReadReq =>
  request(options(which).setAll(allFrom(position)), count, false);

/** Reads the log backwards: from its end, or from before a position. */
export const newestOfAll = (which: Which, count = 1, before?: number): ReadReq =>
  request(
    options(which).setAll(before === undefined ? new Options.AllOptions().setEnd(new shared.Empty()) : allFrom(before)),
    count,
    true,
  );

/** Subscribes to the log after a position, without the server's own events. */
export const subscriptionToAll = (position: number): ReadReq =>
  new streams.ReadReq().setOptions(
    options('clients').setAll(allFrom(position)).setSubscription(new Options.SubscriptionOptions()),
  );
