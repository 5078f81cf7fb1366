import { type Foreign, isForeign, unwrapForeign } from '@automation-platform/event-log';
import { isObject } from '@automation-platform/json';
import { ownCategories } from '../domain/all.ts';
import { unsoundIn } from '../domain/engine/strictJson.ts';
import { type ForeignSources, isReserved } from '../domain/sources.ts';
import { BadEvent, decode, type Metadata, type Recorded, splitStream, splitType } from './event.ts';
import type { StoredEvent } from './port.ts';

/** The metadata that events of all programs have. No account of the platform did what other programs store. */
type AnyMetadata = Pick<Metadata, 'at' | '$correlationId' | '$causationId'> &
  Partial<Omit<Metadata, 'actor'>> & { readonly actor: Metadata['actor'] | null };

/** An event that was read, whoever wrote it. */
export type AnyEvent = Omit<Recorded, 'metadata'> & { readonly metadata: AnyMetadata };

/**
 * The payload of another program's event: its JSON, else its bytes as base64. Throws `BadEvent` for a payload that no
 * request could have brought.
 */
const payloadOf = (event: StoredEvent, { data, contentType }: Foreign): unknown => {
  const bytes = Buffer.from(data);
  const text = contentType === 'application/json' ? bytes.toString() : '';
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    return bytes.toString('base64');
  }
  const unsound = unsoundIn(text);
  if (unsound !== undefined) throw new BadEvent(event, `has data that cannot be used: ${unsound}`);
  return payload;
};

/**
 * Parses an event of the log, of the platform or of another program. That of another program happened when the log took
 * it, and follows from nothing that the platform knows. Throws `BadEvent`.
 */
export const decodeAny = (event: StoredEvent): AnyEvent => {
  const foreign = unwrapForeign(event);
  if (!foreign) return decode(event);
  const { id, stream, revision, position, type } = event;
  const metadata = { at: foreign.created.toISOString(), actor: null, $correlationId: id, $causationId: id };
  return { id, stream, revision, position, ...splitType(type), data: payloadOf(event, foreign), metadata };
};

/** The parsed event; undefined if it cannot be read, or lacks what the platform always writes. */
export const completeIn = (stored: StoredEvent): AnyEvent | undefined => {
  try {
    const event = decodeAny(stored);
    const { at, actor } = event.metadata;
    const isComplete = typeof at === 'string' && typeof actor === 'object' && (actor !== null || isForeign(stored));
    return isComplete ? event : undefined;
  } catch {
    return undefined;
  }
};

/** When an event happened, of whatever program; undefined if it does not say. */
export const timeOf = (event: StoredEvent): string | undefined => {
  const foreign = unwrapForeign(event);
  if (foreign) return foreign.created.toISOString();
  try {
    const metadata: unknown = JSON.parse(event.metadata);
    return isObject(metadata) && typeof metadata.at === 'string' ? metadata.at : undefined;
  } catch {
    return undefined;
  }
};

type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/** True if a stream is the platform's own. Tools write to other streams. */
export const isOwnStream = (stream: string): boolean => ownCategories.has(splitStream(stream).category);

const longestName = 256;
const mostKnown = 10_000;

const isName = (name: string): boolean => name !== '' && name.length <= longestName;

/** True if a type has a source and a topic as published events have. */
const isPublishable = (type: string): boolean => {
  const { source, topic } = splitType(type);
  return type.includes(':') && isName(source) && isName(topic) && !isReserved(source);
};

/**
 * Makes the test for events of other programs that count like published ones: those in streams of their own, with a
 * source and a topic as published events have, if the source begins with one of `sources`.
 */
export const foreignEvents = (sources: ForeignSources) => {
  // There are few types and many events.
  const verdicts = new Map<string, boolean>();
  const counts = (type: string): boolean => {
    const before = verdicts.get(type);
    if (before !== undefined) return before;
    const { source } = splitType(type);
    const now = sources.some((begin) => source.startsWith(begin)) && isPublishable(type);
    if (verdicts.size < mostKnown) verdicts.set(type, now);
    return now;
  };
  return ({ stream, type }: Placed): boolean => !stream.startsWith('$') && !isOwnStream(stream) && counts(type);
};
