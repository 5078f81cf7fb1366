import { type Counted, type DeniedRequest, denied } from '../domain/authorization/requestRecords.ts';
import { resourceText } from '../domain/engine/resource.ts';
import { type FoundBy, type Term, termOf } from '../store/auditIndex/found.ts';
import { decode, splitStream } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { type AuditEvent, auditEvent } from './auditEvent.ts';
import {
  type AuditSources,
  type Between,
  isBetween,
  momentIn,
  placeIn,
  positionIn,
  rangeOf,
  readNewest,
} from './reading.ts';

/** Which events are wanted; what is undefined excludes nothing. */
export type Wanted = Between & {
  /** Id of an account. */
  readonly actor?: string | undefined;
  /** `<kind>/<id>`. */
  readonly resource?: string | undefined;
  readonly source?: string | undefined;
  readonly topic?: string | undefined;
  /** Any of these. */
  readonly topics?: readonly string[] | undefined;
  readonly operation?: string | undefined;
  readonly requestId?: string | undefined;
  readonly correlation?: string | undefined;
};

/** Which part of a list: a number of items, beginning where the cursor of the page before says. */
export type PageAsked = { readonly limit: number; readonly cursor?: string | undefined };

/** A page, the newest first. `cursor` is null on the last one; a page before it may be short. */
export type AuditPage<T> = { readonly results: readonly T[]; readonly cursor: string | null };

// A page of large events ends early.
const mostCharacters = 8 * 1024 * 1024;

/** The terms of a search: the rarest first, because its events are looked at one after the other. */
const termsOf = (query: Wanted): readonly (readonly Term[])[] => {
  const { correlation, requestId, resource, actor, topic, topics, operation, source } = query;
  const one = (value: string | undefined) => (value === undefined ? undefined : [value]);
  const values: readonly (readonly [FoundBy, readonly string[] | undefined])[] = [
    ['request', one(correlation)],
    ['request', one(requestId)],
    ['resource', one(resource)],
    ['actor', one(actor)],
    ['topic', one(topic)],
    ['operation', one(operation)],
    ['topic', topics],
    ['source', one(source)],
  ];
  return values.flatMap(([by, any]) => (any ? [any.map((value) => termOf(by, value))] : []));
};

/** Makes the test for wanted events. The index alone may be wrong. */
const isWanted = (query: Wanted): ((event: AuditEvent) => boolean) => {
  const inTime = isBetween(query);
  const equals = (value: string | undefined, found: string | null | undefined): boolean =>
    value === undefined || value === found;
  return (event) =>
    equals(query.actor, event.actor?.id) &&
    equals(query.resource, event.resource && resourceText(event.resource)) &&
    equals(query.source, event.source) &&
    equals(query.topic, event.topic) &&
    query.topics?.includes(event.topic) !== false &&
    equals(query.operation, event.operation) &&
    equals(query.requestId, event.requestId) &&
    equals(query.correlation, event.correlation) &&
    inTime(event.at);
};

/** The events that are wanted and that the caller sees, the newest first. */
export const findEvents = async (
  sources: AuditSources,
  query: Wanted,
  { limit, cursor }: PageAsked,
): Promise<AuditPage<AuditEvent>> => {
  const { after, before } = await rangeOf(sources, query);
  const from = cursor === undefined ? before : Math.min(before, positionIn(cursor));
  const fits = isWanted(query);
  const results: AuditEvent[] = [];
  let characters = 0;
  const rest = await readNewest(sources, termsOf(query), { after, before: from }, async (stored) => {
    const event = auditEvent(stored);
    if (!fits(event) || !(await sources.sees(stored))) return true;
    results.push(event);
    characters += stored.data.length;
    return results.length < limit && characters < mostCharacters;
  });
  return { results, cursor: rest === undefined ? null : String(rest) };
};

/** Refused requests of the same kind, counted for some seconds. */
export type Denial = DeniedRequest & { readonly count: number; readonly first: string; readonly last: string };

const topic = 'requestsDenied';

const tallyIn = (stored: StoredEvent): Counted<DeniedRequest> | undefined => {
  if (splitStream(stored.stream).category !== denied.category) return undefined;
  try {
    const event = decode(stored);
    return event.topic === topic ? (event.data as Counted<DeniedRequest>) : undefined;
  } catch {
    return undefined;
  }
};

/** Requests that were refused, the newest first. Rows that were counted together come in the order of their first. */
export const findDenials = async (
  sources: Pick<AuditSources, 'log' | 'index'>,
  between: Between,
  { limit, cursor }: PageAsked,
): Promise<AuditPage<Denial>> => {
  // Rows are stored after they were counted, so only a position can say where to begin.
  const until =
    between.until !== undefined && 'position' in momentIn(between.until, 'until') ? between.until : undefined;
  const { after, before } = await rangeOf(sources, { since: between.since, until });
  const place = cursor === undefined ? undefined : placeIn(cursor);
  const inTime = isBetween(between);
  const results: Denial[] = [];
  let next: string | undefined;
  const range = { after, before: Math.min(before, (place?.position ?? Infinity) + 1) };
  const rest = await readNewest(sources, [[termOf('topic', topic)]], range, (stored) => {
    const tally = tallyIn(stored);
    if (!tally || !inTime(tally.first, tally.last)) return true;
    const from = stored.position === place?.position ? place.index : 0;
    const rows = tally.rows.slice(from, from + limit - results.length);
    results.push(...rows.map((row) => ({ ...row, first: tally.first, last: tally.last })));
    if (results.length < limit) return true;
    next = `${stored.position}.${from + rows.length}`;
    return false;
  });
  return { results, cursor: next ?? (rest === undefined ? null : `${rest - 1}.0`) };
};
