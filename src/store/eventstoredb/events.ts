import { textsOf, wrapForeign } from '@automation-platform/event-log';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { isOwnStream } from '../anyEvent.ts';
import type { Filter, StoredEvent } from '../port.ts';
import type { Told } from './answer.ts';
import { Unreadable } from './errors.ts';

const own = '@';

const toNumber = (value: string | undefined, what: string, exact: boolean): number => {
  const number = Number(value ?? 0);
  if (exact && !Number.isSafeInteger(number)) throw new Unreadable(`EventStoreDB's ${what} ${value} is beyond 2^53`);
  return number;
};

/** A position of the port: the commit position. Throws `Unreadable` beyond 2^53. */
export const toPosition = (commit: string): number => toNumber(commit, 'position', true);

/** The revision in an answer. Throws `Unreadable` beyond 2^53. */
export const toRevision = (revision: string): number => toNumber(revision, 'revision', true);

/**
 * True if readers of the whole log get an event. With a filter, its type must begin with one of the prefixes. The
 * server's own events (type or stream with `$`) are left out.
 */
export const passes = ({ type, stream }: Pick<Told, 'type' | 'stream'>, filter: Filter | undefined): boolean =>
  !type.startsWith('$') &&
  !stream.startsWith('$') &&
  (filter === undefined || filter.some((prefix) => type.startsWith(prefix)));

/**
 * False for a foreign event whose revision or position is beyond 2^53. It is left out, because the platform does not
 * need it. The platform's own events are never left out: `toStoredEvent` throws instead.
 */
export const isCountable = ({ type, revision, position }: Told): boolean =>
  type.startsWith(own) || [revision, position].every((text) => Number.isSafeInteger(Number(text)));

/**
 * Data and metadata as all kinds of logs have them. Events that other programs store under names of the platform keep their
 * texts, as do the server's own.
 */
const contentOf = ({ id, type, stream, contentType, created, data, metadata }: Told) => {
  if (type.startsWith(own) || type.startsWith('$') || isOwnStream(stream))
    return textsOf({ type, contentType, data, metadata });
  const time = new Date(Number(BigInt(created) / 10_000n));
  return wrapForeign({ id, type, data, metadata, contentType, created: time });
};

/**
 * Converts an event of EventStoreDB. Numbers of the server's own events may be inexact. For other events, an inexact
 * number throws `Unreadable`.
 */
export const toStoredEvent = (recorded: Told): StoredEvent => {
  const { id, type, stream, revision, position } = recorded;
  const exact = !type.startsWith('$');
  const at = toNumber(position, 'position', exact);
  // An event without a position has 0 here. Only an event of EventStoreDB's own can really be at 0.
  if (at === 0 && exact)
    throw new Unreadable(
      'EventStoreDB gives no positions with the events of a stream: version 22.10 or later is needed',
    );
  return { ...contentOf(recorded), id, type, stream, revision: toNumber(revision, 'revision', exact), position: at };
};

/** The name of a stream as a message of EventStoreDB's protocol. */
export const streamIdentifier = (stream: string): StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream));

/** The text of an id, which a message has as text or as two signed numbers; '' without one. */
export const uuidText = (uuid: UUID | undefined): string => {
  const structured = uuid?.getStructured();
  if (!structured) return uuid?.getString().toLowerCase() ?? '';
  return [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
    .map((bits) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};
