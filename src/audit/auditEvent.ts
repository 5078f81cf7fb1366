import { isObject } from '@automation-platform/json';
import { aggregates } from '../domain/all.ts';
import type { Aggregate } from '../domain/engine/core.ts';
import { type Resource, streamsAbout } from '../domain/engine/resource.ts';
import { isSealed, type Sealed } from '../domain/engine/sealed.ts';
import { isSecretOfDocument, mask, maskNamed, maskSecrets } from '../domain/engine/secretFields.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { type AnyEvent, completeIn } from '../store/anyEvent.ts';
import { type Recorded, splitStream, splitType } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';

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

// Earlier versions stored secrets of these in clear.
const inClear = new Set(['plan', 'prebuilt', 'template', 'tree']);

/** Data of an event, or a document, with its secrets masked. `kind` is the category of the stream. */
export const masked = (kind: string, value: unknown): unknown => {
  const hidden = maskSecrets(value);
  return inClear.has(kind) ? maskNamed(hidden, isSecretOfDocument) : hidden;
};

const begin = '\u0000secret ';

/**
 * Data of an event with a text in the place of each secret. Two texts are the same if the secrets are. Documents are
 * made of such data to see which secrets have changed: documents themselves may hold only masks.
 */
export const withTokens = (kind: string, value: unknown): unknown => {
  const inside = (value: unknown): unknown => {
    if (isSealed(value)) return tokenOf(value);
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        typeof member === 'string' && member !== '' && inClear.has(kind) && isSecretOfDocument(name, value)
          ? begin + member
          : inside(member),
      ]),
    );
  };
  return inside(value);
};

const tokenOf = ({ tag }: Sealed): string => begin + tag;

/** The value with masks in the place of those texts. */
export const withoutTokens = (value: unknown): unknown => {
  if (typeof value === 'string') return value.startsWith(begin) ? mask : value;
  if (Array.isArray(value)) return value.map(withoutTokens);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutTokens(member)]));
};

const kinds: ReadonlyMap<string, Aggregate> = new Map(aggregates.map((each) => [each.category, each]));

/** Categories of which nobody gets events as a stream: how the platform works inside. The log's own are not known. */
export const forNobody: readonly string[] = aggregates.flatMap(({ category, internal }) => (internal ? category : []));

/** The kinds of resources that events can be of. */
export const resourceKinds: ReadonlySet<string> = new Set(
  [...kinds.keys()].filter((kind) => !forNobody.includes(kind) && !Object.hasOwn(streamsAbout, kind)),
);

/** The resource of an event; null if the stream is no resource's. */
export const resourceOf = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): Resource | null => {
  const { category, id } = splitStream(stream);
  if (forNobody.includes(category) || !isOfCategory(category, type)) return null;
  return { kind: streamsAbout[category] ?? category, id };
};

/**
 * True if the platform writes events of this type to streams of this category. Other programs may write to a log as well, and
 * what they wrote to a stream of the platform is not the platform's.
 */
const isOfCategory = (category: string, type: string): boolean => {
  if (category === publishedEvent.category) return !type.startsWith('@platform/');
  const area = (kinds.get(category) ?? kinds.get(streamsAbout[category] ?? ''))?.area;
  return area !== undefined && type.startsWith(`@platform/${area}:`);
};
