import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { Filter } from './port.ts';

const { Options } = streams.ReadReq;
const { ReadDirection, FilterOptions } = Options;

// The events that are looked at before EventStoreDB says how far it has come.
const window = 32;
// Without prefixes nearly all pass but the server's own, which come in thousands when projections are switched on.
const wideWindow = 1024;

const types = (filter: Filter | undefined) => {
  const expression = new FilterOptions.Expression();
  if (filter) expression.setPrefixList([...filter]);
  else expression.setRegex('^[^$]');
  return new FilterOptions().setEventType(expression).setMax(filter ? window : wideWindow).setCheckpointintervalmultiplier(1);
};

/** `unfiltered`: the server's own events too. */
type Which = { readonly filter?: Filter | undefined; readonly unfiltered?: boolean };

const options = ({ filter, unfiltered = true }: Which): ReadReq.Options => {
  const made = new Options().setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));
  return unfiltered ? made.setNoFilter(new shared.Empty()) : made.setFilter(types(filter));
};

const request = (made: ReadReq.Options, count: number | undefined, backwards: boolean): ReadReq =>
  new streams.ReadReq().setOptions(made.setCount(String(count ?? Number.MAX_SAFE_INTEGER)).setReadDirection(backwards ? ReadDirection.BACKWARDS : ReadDirection.FORWARDS));

const allFrom = (position: number): ReadReq.Options.AllOptions => (position === 0 ? new Options.AllOptions().setStart(new shared.Empty())
  : new Options.AllOptions().setPosition(new Options.Position().setCommitPosition(String(position)).setPreparePosition(String(position))));

const streamOptions = (stream: string) => new Options.StreamOptions().setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));

/** A stream from a revision on; at the end comes the revision of its last event. */
export const readOfStream = (stream: string, from: number): ReadReq =>
  request(options({}).setStream(streamOptions(stream).setRevision(String(from))).setControlOption(new Options.ControlOption().setCompatibility(1)), undefined, false);

/** The newest event of a stream. */
export const newestOfStream = (stream: string): ReadReq => request(options({}).setStream(streamOptions(stream).setEnd(new shared.Empty())), 1, true);

/** The log from a position on, the event there included. */
export const readOfAll = (position: number, which: Which, count?: number): ReadReq => request(options(which).setAll(allFrom(position)), count, false);

/** The newest events of the log, or those before a position, backwards. */
export const newestOfAll = (which: Which, count = 1, before?: number): ReadReq =>
  request(options(which).setAll(before === undefined ? new Options.AllOptions().setEnd(new shared.Empty()) : allFrom(before)), count, true);

/** What comes in the log after a position. */
export const subscriptionToAll = (position: number, filter: Filter | undefined): ReadReq =>
  new streams.ReadReq().setOptions(options({ filter, unfiltered: false }).setAll(allFrom(position)).setSubscription(new Options.SubscriptionOptions()));
