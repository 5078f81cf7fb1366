import { link, withHash } from '@automation-platform/event-log';
import type { Event, Via } from '../domain/engine/core.ts';
import type { NewEvent, StoredEvent } from './port.ts';

/** Metadata of an event. The names `$correlationId` and `$causationId` come from EventStoreDB. */
export type Metadata = {
  readonly $correlationId: string;
  readonly $causationId: string;
  /** UTC, ISO 8601 with milliseconds. Documents, schedules and reads as of a time use it. */
  readonly at: string;
  readonly actor: {
    readonly id: string;
    readonly username: string;
    readonly provenance: string;
    /** How the caller has shown who they are. Absent: nobody called, or the event is older than this member. */
    readonly via?: Via;
    /** The id of the token that was sent. */
    readonly token?: string;
  };
  /** The operation (route or reaction) that caused the event. */
  readonly operation: string;
  readonly requestId: string;
  readonly traceparent?: string;
  /** `request` is a keyed digest of the request body. */
  readonly idempotency?: { readonly key: string; readonly request: string };
  /** How many triggers stand between a published event and what people and other systems did; absent: 0. */
  readonly depth?: number;
  readonly schemaVersion: number;
  /** Links the event to its predecessor in the stream; see `link`. */
  readonly hash: string;
};

/** One of the platform's own events, parsed. */
export type Recorded<Data = unknown> = Omit<StoredEvent, 'type' | 'data' | 'metadata' | 'incomplete'> & {
  readonly source: string;
  readonly topic: string;
  readonly data: Data;
  readonly metadata: Metadata;
};

const parts = new Map<string, { source: string; topic: string }>();

/** Source and topic of an event type, split at the last colon. */
export const splitType = (type: string): { readonly source: string; readonly topic: string } => {
  const typeParts = parts.get(type);
  if (typeParts) return typeParts;
  const colon = type.lastIndexOf(':');
  const split = { source: type.slice(0, colon), topic: type.slice(colon + 1) };
  if (parts.size < 10_000) parts.set(type, split);
  return split;
};

// Many ask about the stream of one event, one after the other.
let lastStream = '';
let lastSplit: { readonly category: string; readonly id: string } = { category: '', id: '' };

/** The category and id of a stream name, split at the first dash. Foreign streams may have no category: ''. */
export const splitStream = (stream: string): { readonly category: string; readonly id: string } => {
  if (stream === lastStream) return lastSplit;
  const dash = stream.indexOf('-');
  lastSplit = { category: dash < 0 ? '' : stream.slice(0, dash), id: stream.slice(dash + 1) };
  lastStream = stream;
  return lastSplit;
};

/** An event of the log that cannot be read. The message quotes nothing of its content. */
export class BadEvent extends Error {
  constructor({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>, reason: string) {
    super(`Event ${revision} of ${stream} ${reason}`);
    this.name = 'BadEvent';
  }
}

const parsed = (event: StoredEvent, part: 'data' | 'metadata'): unknown => {
  try {
    return JSON.parse(event[part]);
  } catch {
    throw new BadEvent(event, `has ${part} that is no JSON`);
  }
};

/** The events that were parsed last, by position: each follower of the log parses the same ones. */
const parsedLast: { readonly event: StoredEvent; readonly recorded: Recorded }[] = [];
const mostParsed = 128;
const longestParsed = 4096;

/** Parses an event of the log. Throws `BadEvent`. */
export const decode = (event: StoredEvent): Recorded => {
  const place = event.position % mostParsed;
  const lastParsed = parsedLast[place];
  if (lastParsed?.event === event) return lastParsed.recorded;
  const recorded = parse(event);
  if (event.data.length + event.metadata.length <= longestParsed) parsedLast[place] = { event, recorded };
  return recorded;
};

const parse = (event: StoredEvent): Recorded => {
  const { type, id, stream, revision, position, incomplete } = event;
  if (incomplete !== undefined) throw new BadEvent(event, incomplete);
  const { source, topic } = splitType(type);
  const data = parsed(event, 'data');
  // Published events may have any data.
  if (type.startsWith('@platform/') && (typeof data !== 'object' || data === null || Array.isArray(data)))
    throw new BadEvent(event, 'has data that is no object');
  const metadata = parsed(event, 'metadata');
  if (typeof metadata !== 'object' || metadata === null) throw new BadEvent(event, 'has metadata that is no object');
  return { id, stream, revision, position, source, topic, data, metadata: metadata as Metadata };
};

/** The parts of an event that can always be read. `data` is undefined when the event cannot be parsed. */
export type EventNotice = Omit<Recorded, 'metadata'>;

/** Parses as much of an event as can be read. Never throws. */
export const noticeOf = (event: StoredEvent): EventNotice => {
  try {
    return decode(event);
  } catch {
    const { type, id, stream, revision, position } = event;
    return { id, stream, revision, position, ...splitType(type), data: undefined };
  }
};

/** The place of an event in the log, its id, and the source that writes it. */
type Place = { readonly stream: string; readonly revision: number; readonly id: string; readonly source: string };

/**
 * Makes events with the same metadata as the log stores them. `previous` is the hash of the event's predecessor (`''` for the
 * first event of a stream).
 */
export const encoder = (about: Omit<Metadata, 'hash'>) => {
  const open = JSON.stringify(about);
  return (
    { stream, revision, id, source }: Place,
    event: Event,
    previous: string,
  ): NewEvent & { readonly hash: string } => {
    const type = `${source}:${event.topic}`;
    const data = JSON.stringify(event.data);
    const hashed = link({ stream, revision, id, type, data, metadata: open }, previous);
    return { id, type, data, metadata: withHash(open, hashed), hash: hashed };
  };
};

/** The same for one event. */
export const encode = (place: Place, event: Event, about: Omit<Metadata, 'hash'>, previous: string) =>
  encoder(about)(place, event, previous);
