import type { AppendReq, BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import { isForeign, wrapForeign } from '../foreign.ts';
import { maxAppend, type NewEvent } from '../port.ts';
import { utf8 } from '../utf8.ts';
import { accessDenied, badRequest, missingMetadata, tooLarge } from './faults.ts';
import { isMetastream, metadataType } from './foreignStream.ts';
import { uuidIn } from './messages.ts';

/** An event as a caller sent it. */
export type Proposed = { readonly id: string; readonly type: string; readonly contentType: string; readonly data: Uint8Array; readonly metadata: Uint8Array };

const maxType = 1024;
// Control characters and halves of characters.
const broken = /[\p{Cc}\p{Cs}]/u;

const proposedIn = (message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): Proposed => {
  const about = message.getMetadataMap();
  const [type, contentType] = [about.get('type'), about.get('content-type')];
  const missing = [...(type ? [] : ['type']), ...(contentType ? [] : ['content-type'])];
  if (!type || !contentType) throw missingMetadata(missing);
  if (Buffer.byteLength(type) > maxType || broken.test(type)) throw badRequest(`An event's type has at most ${maxType} bytes and no control characters`);
  if (contentType.length > 256 || broken.test(contentType)) throw badRequest('A content type has at most 256 characters and no control characters');
  return { id: uuidIn(message.getId(), "The event's id"), type, contentType, data: message.getData_asU8(), metadata: message.getCustomMetadata_asU8() };
};

// What an event counts at least, so that many small ones are bounded too.
const leastSize = 64;

/** Gathers the events of one append, which may come in many messages. Once they are too many, none of them is kept. */
export const gathering = () => {
  const events: Proposed[] = [];
  let size = 0;
  let refused: unknown;
  return {
    /** Takes more events. What is wrong with them is said by `all`, so that the rest of the append can be passed over. */
    take(messages: readonly (AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage)[]): void {
      try {
        for (const message of messages) {
          if (refused) return;
          const event = proposedIn(message);
          size += Math.max(leastSize, event.data.length + event.metadata.length);
          if (size > maxAppend) throw tooLarge();
          events.push(event);
        }
      } catch (error) {
        refused = error;
        events.length = 0;
        size = 0;
      }
    },
    isRefused: () => refused !== undefined,
    /** Bytes that it holds. */
    size: () => size,
    /** All events; throws when one of them was no event, or they are too large together. */
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
    // Said below.
  }
  throw badRequest(`${what} must be JSON as JSON.stringify writes it`);
};

/** An event for one of the platform's own streams: JSON, as the log keeps it. */
export const ownEvent = ({ id, type, contentType, data, metadata }: Proposed): NewEvent => {
  if (type.startsWith('$')) throw accessDenied(`The type ${type} is the system's`);
  if (contentType !== 'application/json') throw badRequest('Events of the platform are application/json');
  const event = { id, type, data: jsonText(data, 'The data'), metadata: jsonText(metadata, 'The metadata') };
  if (!event.metadata.startsWith('{') || isForeign(event)) throw badRequest('The metadata is not that of an event of the platform');
  return event;
};

/** An event for any other stream, or for its metadata. */
export const foreignEvent = (stream: string, { id, type, contentType, data, metadata }: Proposed, created: Date): NewEvent => {
  if (type.startsWith('@platform/')) throw accessDenied(`The type ${type} is the platform's own`);
  if (isMetastream(stream) ? type !== metadataType : type.startsWith('$')) {
    throw accessDenied(isMetastream(stream) ? `${stream} takes only ${metadataType}` : `The type ${type} is the system's`);
  }
  if (isMetastream(stream)) checkStreamMetadata(data);
  return wrapForeign({ id, type, data, metadata, contentType, created });
};

const checkStreamMetadata = (data: Uint8Array): void => {
  let value: unknown;
  try { value = JSON.parse(utf8.decode(data)); } catch { /* Said below. */ }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('The metadata of a stream is a JSON object');
  // Taking it and not keeping to it would be a lie.
  if ('$acl' in value) throw badRequest('Streams have no $acl here: who may read and write is settled by the accounts of the platform');
};
