import { hash } from 'node:crypto';
import { isForeign, partsStream } from '@automation-platform/event-log';
import { defined } from '../domain/engine/defined.ts';
import { derivedUuid } from './derivedIds.ts';
import {
  type Batch,
  type EventStore,
  maxAppend,
  maxEvent,
  type NewEvent,
  type StoredEvent,
  TamperedStream,
  WrongRevision,
} from './port.ts';

/** The data of an event in the log when the fact itself is stored in parts, in the stream `payload-<sha256>`. */
type Reference = { readonly $payload: { readonly sha256: string; readonly parts: number } };

const begin = '{"$payload":{"sha256":"';
// A quarter of an append's size is left to metadata and types.
const mostEvent = maxEvent * 0.75;
const mostAppend = maxAppend * 0.75;
// A UTF-16 unit has at most three bytes in UTF-8. A quote has two, because JSON escapes it.
const partUnits = 128 * 1024;

/** Splits a text into pieces without splitting a character. */
const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + partUnits, text.length);
    if (to < text.length && /[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
};

/** A text in parts, as the log stores it: the events of its stream, and the data that names it. */
type Parts = { readonly stream: string; readonly events: readonly NewEvent[]; readonly reference: Reference };

const partEvent = (type: string, sha256: string, part: number, text: string): NewEvent => ({
  // The same part of the same content has the same id, so that it is stored once.
  id: derivedUuid(`${sha256} ${part}`),
  type,
  data: JSON.stringify({ part, text }),
  metadata: '{}',
});

/** The parts of a text. Their stream has the hash of the text in its name. */
export const partsOf = (source: string, text: string): Parts => {
  const sha256 = hash('sha256', text, 'hex');
  const events = piecesOf(text).map((piece, part) => partEvent(`${source}:payloadPart`, sha256, part, piece));
  return { stream: `payload-${sha256}`, events, reference: { $payload: { sha256, parts: events.length } } };
};

/**
 * True if the events of a stream of parts are what its name says. Where a stop has cut the stream short, no event names
 * it, and its pieces have their full length.
 */
export const arePartsRight = (stream: string, events: readonly NewEvent[]): boolean => {
  const sha256 = partsStream.exec(stream)?.[1] ?? '';
  const pieces = events.map(pieceIn);
  const isRight = (event: NewEvent, part: number): boolean => {
    const { id, data, metadata } = partEvent(event.type, sha256, part, pieces[part] ?? '');
    return event.id === id && event.data === data && event.metadata === metadata;
  };
  const isCutShort = pieces.every((piece) => (piece?.length ?? 0) >= partUnits - 1);
  return events.every(isRight) && (isCutShort || hash('sha256', pieces.join(''), 'hex') === sha256);
};

/** The piece of a text in an event; undefined if there is none. */
const pieceIn = ({ data }: Pick<NewEvent, 'data'>): string | undefined => {
  try {
    const { text } = JSON.parse(data) as { readonly text?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
};

/** Stores a text in parts. Parts that no event names are harmless. */
const keep = async (store: EventStore, source: string, text: string): Promise<Reference> => {
  const { stream, events, reference } = partsOf(source, text);
  for (const [part, event] of events.entries()) {
    await store.append(stream, part - 1, [event]).catch((error: unknown) => {
      // Another process stores the same content and is ahead.
      if (!(error instanceof WrongRevision && error.actual >= part)) throw error;
    });
  }
  // The stream may have existed before, and another program may have cut it. Then this read throws.
  await stored(store, reference.$payload);
  return reference;
};

/** The stream with the data of an event, if the data is stored in parts. */
export const partsNamedBy = (event: StoredEvent): string | undefined => {
  const reference = isSlim(event) ? referenceIn(event) : undefined;
  return reference && `payload-${reference.sha256}`;
};

/**
 * True if some data must be stored in parts: the events are too large for one append, or the data of one looks like a
 * reference.
 */
export const goesInParts = (events: readonly NewEvent[]): boolean => events.some(isSlim) || isTooLarge(events);

const isTooLarge = (events: readonly NewEvent[]): boolean => {
  // A UTF-16 unit has at most three bytes. Mostly this limit is enough, and no bytes need be counted.
  if (events.reduce((sum, { data }) => sum + 3 * data.length, 0) <= mostEvent) return false;
  const sizes = events.map(({ data }) => Buffer.byteLength(data));
  return sizes.some((size) => size > mostEvent) || sizes.reduce((sum, size) => sum + size, 0) > mostAppend;
};

/**
 * Returns the data of one append for the log. A fact that is too large, alone or together with the rest, is first
 * stored in parts, and the event gets a reference to it. A fact that looks like a reference is stored in parts as well,
 * so that every reference in the log is the platform's own.
 */
export const slimmed = async (
  store: EventStore,
  source: string,
  facts: readonly unknown[],
): Promise<readonly unknown[]> => {
  const sized = facts.map((fact) => JSON.stringify(fact)).map((text) => ({ text, size: Buffer.byteLength(text) }));
  const slim = [...facts];
  let total = sized.reduce((sum, { size }) => sum + size, 0);
  const largestFirst = [...sized.entries()].sort(([, a], [, b]) => b.size - a.size);
  for (const [i, { text, size }] of largestFirst) {
    if (size <= mostEvent && total <= mostAppend && !text.startsWith(begin)) continue;
    slim[i] = await keep(store, source, text);
    total -= size;
  }
  return slim;
};

/** True if data is a reference, or looks like one. */
const isSlim = ({ data }: Pick<NewEvent, 'data'>): boolean => data.startsWith(begin);

const sha256Form = /^[0-9a-f]{64}$/;

const referenceIn = ({ data }: StoredEvent): Reference['$payload'] | undefined => {
  try {
    const { $payload } = JSON.parse(data) as Reference;
    return sha256Form.test($payload.sha256) ? $payload : undefined;
  } catch {
    return undefined;
  }
};

/** Joins the parts to the whole text; undefined if it does not match the reference. */
const assembled = ({ sha256, parts }: Reference['$payload'], events: readonly StoredEvent[]): string | undefined => {
  const text = events.slice(0, parts).map(pieceIn).join('');
  return hash('sha256', text, 'hex') === sha256 ? text : undefined;
};

const stored = async (store: EventStore, { sha256, parts }: Reference['$payload']): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  for await (const events of store.read(`payload-${sha256}`)) {
    found.push(...events);
    // Programs with access to the log may have made the stream longer.
    if (found.length >= parts) break;
  }
  return found;
};

/**
 * The store for readers: every event has its whole data. An event whose parts are missing or damaged has the reason in
 * `incomplete`, so that readers still get all other events. Appends pass unchanged. `mayHaveParts`: whether the
 * platform wrote an event. Only then a reference counts, because events of other programs may contain anything.
 */
export const withPayloads = <S extends EventStore>(store: S, mayHaveParts: (event: StoredEvent) => boolean): S => {
  const isChunked = (event: StoredEvent): boolean => isSlim(event) && !isForeign(event) && mayHaveParts(event);
  const whole = async (event: StoredEvent): Promise<StoredEvent> => {
    if (!isChunked(event)) return event;
    const reference = referenceIn(event);
    if (!reference) return { ...event, incomplete: 'names its content in no way that is known' };
    const pieces = await stored(store, reference).catch((error: unknown) => {
      if (!(error instanceof TamperedStream)) throw error;
      return [];
    });
    const data = assembled(reference, pieces);
    if (data === undefined)
      return { ...event, incomplete: `has content in payload-${reference.sha256} that is missing or damaged` };
    return { ...event, data };
  };
  const all = (events: readonly StoredEvent[]) => (events.some(isChunked) ? Promise.all(events.map(whole)) : events);
  const batches = async function* (source: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of source) yield { ...batch, events: await all(batch.events) };
  };
  const { readCategory } = store;
  const ofCategory: EventStore['readCategory'] =
    readCategory &&
    async function* (category, until) {
      for await (const events of readCategory(category, until)) yield await all(events);
    };
  return {
    ...store,
    ...defined({ readCategory: ofCategory }),
    read: async function* (stream, from) {
      for await (const events of store.read(stream, from)) yield await all(events);
    },
    readAll: (after, filter) => batches(store.readAll(after, filter)),
    follow: (after, filter, signal) => batches(store.follow(after, filter, signal)),
    at: async (position) => {
      const event = await store.at(position);
      return event && whole(event);
    },
  };
};
