import type { Resource } from '../domain/engine/resource.ts';
import { type AnyEvent, completeIn } from '../store/anyEvent.ts';
import { type Recorded, splitStream, splitType } from '../store/event.ts';
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
  { id, position, revision, source, topic, metadata, stream, data }: AnyEvent,
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
  const event = completeIn(stored);
  const resource = resourceOf(stored);
  if (!event) return incomplete(stored, resource);
  const { data, ...facts } = inWords(event, resource);
  const { operation = null, requestId = null } = event.metadata;
  const { correlation = null, causation = null } = facts;
  return { ...facts, correlation, causation, operation, requestId, data };
};

/** An event that is damaged, or lacks what the platform always writes. */
const incomplete = ({ id, position, revision, type }: StoredEvent, resource: AuditEvent['resource']): AuditEvent => ({
  id,
  position,
  ...splitType(type),
  at: null,
  actor: null,
  resource,
  revision,
  correlation: null,
  causation: null,
  operation: null,
  requestId: null,
  data: null,
});
