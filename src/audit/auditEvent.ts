import type { Resource } from '../domain/engine/resource.ts';
import { decode, type Recorded, splitStream, splitType } from '../store/event.ts';
import { unwrapForeign } from '../store/foreign.ts';
import type { StoredEvent } from '../store/port.ts';
import { masked } from './hiddenSecrets.ts';
import { resourceOf } from './resourceOf.ts';

/** An event as audits show it. Members that an event of another program lacks are null. */
export type AuditEvent = {
  readonly id: string;
  readonly position: number;
  readonly source: string;
  readonly topic: string;
  /** UTC, ISO 8601 with milliseconds. */
  readonly at: string | null;
  readonly actor: Recorded['metadata']['actor'] | null;
  /** Null if the stream is no resource's. */
  readonly resource: Resource | null;
  readonly revision: number;
  readonly correlation: string | null;
  readonly causation: string | null;
  readonly operation: string | null;
  readonly requestId: string | null;
  /** Secrets are masked. Null if the data cannot be read. */
  readonly data: unknown;
};

/** The event as everybody sees it: in the stream of events, and in audits. Its secrets are masked. */
export const inWords = (
  { id, position, revision, source, topic, metadata, stream, data }: Recorded,
  resource: Resource | null,
) => ({
  id,
  position,
  source,
  topic,
  at: metadata.at,
  actor: metadata.actor,
  resource,
  revision,
  correlation: metadata.$correlationId,
  causation: metadata.$causationId,
  data: masked(splitStream(stream).category, data),
});

/** The event in the words of audits. It never throws: what cannot be read is null. */
export const auditEvent = (stored: StoredEvent): AuditEvent => {
  const event = recordedIn(stored);
  if (!event) return ofOthers(stored);
  const { data, ...facts } = inWords(event, resourceOf(stored));
  const { operation = null, requestId = null } = event.metadata;
  const { correlation = null, causation = null } = facts;
  return { ...facts, correlation, causation, operation, requestId, data };
};

/** The parsed event; undefined if it lacks what the platform always writes. */
const recordedIn = (stored: StoredEvent): Recorded | undefined => {
  try {
    const event = decode(stored);
    const { at, actor } = event.metadata;
    return typeof at === 'string' && typeof actor === 'object' && actor !== null ? event : undefined;
  } catch {
    return undefined;
  }
};

/** An event of another program, or one that is damaged. */
const ofOthers = (stored: StoredEvent): AuditEvent => {
  const { id, position, revision, type } = stored;
  const foreign = unwrapForeign(stored);
  return {
    id,
    position,
    ...splitType(type),
    at: null,
    actor: null,
    resource: resourceOf(stored),
    revision,
    correlation: null,
    causation: null,
    operation: null,
    requestId: null,
    data: foreign ? parsed(Buffer.from(foreign.data).toString()) : null,
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
