import { type Foreign, isForeign, unwrapForeign } from '@automation-platform/event-log';
import { isObject } from '@automation-platform/json';
import { unsoundIn } from '../domain/engine/strictJson.ts';
import { BadEvent, decode, type Metadata, type Recorded, splitType } from './event.ts';
import type { StoredEvent } from './port.ts';

/** What the metadata of events of all programs say. No account of the platform did what others store. */
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
