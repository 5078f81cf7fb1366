import {
  isForeign,
  isMetastream,
  maxAppend,
  metadataType,
  type NewEvent,
  tombstoneType,
  wrapForeign,
} from '@automation-platform/event-log';
import type { AppendReq, BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import { badRequest, type Fault, missingMetadata, tooLarge } from './faults.ts';
import { uuidIn } from './messages.ts';
import { utf8 } from './utf8.ts';

/** An event as a caller sent it. */
export type Proposed = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

const maxType = 1024;
// Control characters and halves of surrogate pairs.
const broken = /[\p{Cc}\p{Cs}]/u;

const proposedIn = (message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): Proposed => {
  const about = message.getMetadataMap();
  const [type, contentType] = [about.get('type'), about.get('content-type')];
  const missing = [...(type ? [] : ['type']), ...(contentType ? [] : ['content-type'])];
  if (!type || !contentType) throw missingMetadata(missing);
  if (Buffer.byteLength(type) > maxType || broken.test(type))
    throw badRequest(`An event's type has at most ${maxType} bytes and no control characters`);
  if (contentType.length > 256 || broken.test(contentType))
    throw badRequest('A content type has at most 256 characters and no control characters');
  return {
    id: uuidIn(message.getId(), "The event's id"),
    type,
    contentType,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

// Every event counts as at least this number of bytes, which limits the number of small events.
const leastSize = 64;

/**
 * Collects the events of one append, which may come in many messages. Once they are too large together, none of them is
 * kept.
 */
export const gathering = () => {
  const events: Proposed[] = [];
  let size = 0;
  let refused: unknown;
  return {
    /**
     * Adds events. It never throws: `all` throws the first fault, so that the messages that follow can still be read.
     */
    take(messages: readonly (AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage)[]): void {
      try {
        for (const message of messages) {
          if (refused) return;
          const event = proposedIn(message);
          size += Math.max(leastSize, event.data.length + event.metadata.length);
          if (size > maxAppend) throw tooLarge(maxAppend);
          events.push(event);
        }
      } catch (error) {
        refused = error;
        events.length = 0;
        size = 0;
      }
    },
    isRefused: () => refused !== undefined,
    /** The number of bytes of the collected events. */
    size: () => size,
    /** All events. Throws when one is invalid, when they are too large together, or when there are none. */
    all(): readonly Proposed[] {
      if (refused) throw refused;
      if (events.length === 0) throw badRequest('An append stores at least one event');
      return events;
    },
  };
};

export type Gathering = ReturnType<typeof gathering>;

const jsonText = (bytes: Uint8Array, what: string): string => {
  try {
    const text = utf8.decode(bytes);
    if (JSON.stringify(JSON.parse(text)) === text) return text;
  } catch {
    // The error is thrown below.
  }
  throw badRequest(`${what} must be JSON as JSON.stringify writes it`);
};

/** Checks an event for one of the platform's own streams. It must be JSON as the log keeps it. */
export const ownEvent = ({ id, type, contentType, data, metadata }: Proposed): NewEvent => {
  if (type.startsWith('$')) throw systemType(type);
  if (contentType !== 'application/json') throw badRequest('Events of the platform are application/json');
  const event = { id, type, data: jsonText(data, 'The data'), metadata: jsonText(metadata, 'The metadata') };
  if (!event.metadata.startsWith('{') || isForeign(event))
    throw badRequest('The metadata is not that of an event of the platform');
  return event;
};

// No caller may append these types, so the error is not about rights. It is a bad request, because clients show the
// text of no other error.
const systemTypes: Readonly<Record<string, string>> = {
  '$>': 'Events of the type $> are links to other events, and this log keeps none: write the event itself',
  [metadataType]:
    'Events of the type $metadata are the metadata of a stream: they go to the stream of its name after $$',
  [tombstoneType]: 'Events of the type $streamDeleted end a stream: they are not appended, tombstone the stream',
};

const systemType = (type: string): Fault =>
  badRequest(
    (Object.hasOwn(systemTypes, type) && systemTypes[type]) || `${type} begins with $: such types are the system's`,
  );

/** Checks and wraps an event for a foreign stream, or for its metadata. */
export const foreignEvent = (
  stream: string,
  { id, type, contentType, data, metadata }: Proposed,
  created: Date,
): NewEvent => {
  if (isMetastream(stream)) {
    if (type !== metadataType)
      throw badRequest(`${stream} has the metadata of a stream: it takes events of the type ${metadataType} alone`);
    checkStreamMetadata(data);
  } else if (type.startsWith('$')) {
    throw systemType(type);
  }
  return wrapForeign({ id, type, data, metadata, contentType, created });
};

// The settings that the log obeys, and the least value of each.
const limits = { $maxAge: 1, $maxCount: 1, $tb: 0 };

const checkStreamMetadata = (data: Uint8Array): void => {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(data));
  } catch {
    /* The error is thrown below. */
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('The metadata of a stream is a JSON object');
  const metadata = value as Readonly<Record<string, unknown>>;
  // The log has no access lists. To accept one and not obey it would deceive the caller.
  if ('$acl' in metadata) {
    throw badRequest(
      '$acl is the access list of a stream, which this log does not have: accounts of the platform and their roles say who reads and writes',
    );
  }
  for (const [name, least] of Object.entries(limits)) {
    const limit = metadata[name];
    if (limit === undefined || (typeof limit === 'number' && Number.isInteger(limit) && limit >= least)) continue;
    throw badRequest(`${name} in the metadata of a stream is a whole number from ${least} on`);
  }
};
