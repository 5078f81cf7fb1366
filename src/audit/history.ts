import { isObject, type Members } from '@automation-platform/json';
import { aggregates } from '../domain/all.ts';
import { same } from '../domain/engine/changes.ts';
import { fold } from '../domain/engine/core.ts';
import { type Imported, wholeOf } from '../domain/engine/importedDocuments.ts';
import { type PatchOperation, patchBetween } from '../domain/engine/jsonPatch.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { type Resource, resourceIn, resourceText } from '../domain/engine/resource.ts';
import { projections } from '../projections/all.ts';
import { type Projection, project } from '../projections/engine/define.ts';
import { decode } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { type AuditEvent, auditEvent, resourceOf, withoutTokens, withTokens } from './auditEvent.ts';
import type { AuditPage, PageAsked } from './findEvents.ts';
import { type AuditSources, positionIn, positionOf } from './reading.ts';

/** An event without its data, and what it changed in the document: a JSON Patch. */
export type HistoryEntry = Omit<AuditEvent, 'data'> & { readonly patch: readonly PatchOperation[] };

/** The changes between two documents; undefined: there is none, which is null at the path ''. */
export const changesOf = (before: unknown, after: unknown): readonly PatchOperation[] =>
  withoutTokens(patchBetween(before ?? null, after ?? null)) as readonly PatchOperation[];

const entryOf = ({ stored, before, after }: Step): HistoryEntry => {
  const { data: _, ...event } = auditEvent(stored);
  return { ...event, patch: changesOf(before, after) };
};

/** The events of a resource, the newest first, and the changes that each of them made. Throws `not_found`. */
export const historyOf = async (
  sources: AuditSources,
  resource: Resource,
  { limit, cursor }: PageAsked,
): Promise<AuditPage<HistoryEntry>> => {
  const before = cursor === undefined ? Infinity : positionIn(cursor);
  let newest: Step[] = [];
  let isLong = false;
  let isSeen = false;
  for await (const step of stepsOf(sources, resource)) {
    if (step.stored.revision === 0) isSeen = await sources.sees(step.stored);
    if (step.stored.revision >= before) break;
    newest.push(step);
    if (newest.length < 2 * limit) continue;
    newest = newest.slice(-limit);
    isLong = true;
  }
  const page = newest.slice(-limit);
  const steps: Step[] = [];
  for (const step of page) if (await sources.sees(step.stored)) steps.push(step);
  if (!isSeen && steps.length === 0) throw noSuchResource(resource);
  const oldest = page[0]?.stored.revision ?? 0;
  const hasMore = oldest > 0 && (isLong || newest.length > limit);
  return { results: steps.toReversed().map(entryOf), cursor: hasMore ? String(oldest) : null };
};

/** An event of a stream with the document before and after it. Undefined: there was none. */
type Step = { readonly stored: StoredEvent; readonly before: unknown; readonly after: unknown };

const projectionOf = (kind: string): Projection | undefined => projections.find(({ of }) => of.category === kind);

/** The resource that a text names. Throws `invalid`. */
export const resourceGiven = (text: string): Resource => {
  const resource = resourceIn(text);
  if (resource) return resource;
  throw new RequestError('invalid', 'resource must be <kind>/<id>, such as automation/65f0...', { path: 'resource' });
};

/**
 * Every event of a resource's own stream in order, with the document that the stream itself gives. In the place of
 * secrets are tokens (hiddenSecrets.ts). An event that cannot be read changes nothing.
 */
async function* stepsOf({ log }: Pick<AuditSources, 'log'>, { kind, id }: Resource): AsyncGenerator<Step> {
  const projection = projectionOf(kind);
  let document: unknown;
  for await (const events of log.read(`${kind}-${id}`)) {
    for (const stored of events) {
      const before = document;
      document = projection && resourceOf(stored) ? projected(projection, before, stored) : before;
      yield { stored, before, after: document };
    }
  }
}

const projected = (projection: Projection, before: unknown, stored: StoredEvent): unknown => {
  try {
    const event = decode(stored);
    return project(projection, before, { ...event, data: withTokens(projection.of.category, event.data) });
  } catch {
    return before;
  }
};

/** The error for a resource that is not there, or that the caller may not see. */
const noSuchResource = (resource: Resource): RequestError =>
  new RequestError('not_found', `The log has nothing of ${resourceText(resource)} that you may see`);

/** The document that a resource's stream gave at a moment: a position or a time. Throws `not_found` without one. */
export const documentAt = async (sources: AuditSources, resource: Resource, moment: string): Promise<unknown> => {
  const position = await positionOf(sources, moment, 'moment');
  let isSeen = false;
  let document: unknown;
  for await (const { stored, after } of stepsOf(sources, resource)) {
    isSeen ||= await sources.sees(stored);
    if (!isSeen || stored.position > position) break;
    document = after;
  }
  if (!isSeen) throw noSuchResource(resource);
  if (document === undefined)
    throw new RequestError('not_found', `There was no ${resourceText(resource)} at position ${position}`);
  return withoutTokens(document);
};

/** The content of a resource, with its sealed secrets. */
export type Former = {
  readonly document: Members;
  /** The document, and what an import brought and the service does not know. */
  readonly whole: Members;
  readonly state: unknown;
};

/**
 * The content of a resource just after a position of the log; undefined if it did not exist. Throws if an event before that
 * cannot be read.
 */
export const formerAt = async (
  { log }: Pick<AuditSources, 'log'>,
  { kind, id }: Resource,
  position: number,
): Promise<Former | undefined> => {
  const aggregate = aggregates.find(({ category }) => category === kind);
  const projection = projections.find(({ of }) => of === aggregate);
  if (!aggregate || !projection) return undefined;
  let state = aggregate.initial;
  let document: unknown;
  for await (const events of log.read(`${kind}-${id}`)) {
    for (const stored of events) {
      if (stored.position > position) return aggregate.exists(state) ? former(document, state) : undefined;
      const event = decode(stored);
      state = fold(aggregate, [{ topic: event.topic, data: event.data }], state);
      document = project(projection, document, event);
    }
  }
  return aggregate.exists(state) ? former(document, state) : undefined;
};

const former = (view: unknown, state: unknown): Former | undefined => {
  if (!isObject(view)) return undefined;
  const { content, imported }: Members = isObject(state) ? state : {};
  const document = isObject(content) ? withSecrets(view, content) : view;
  if (!isImported(imported)) return { document, whole: document, state };
  const present = { content: isObject(content) ? content : imported.content, shown: document };
  return { document, whole: wholeOf(imported, present), state };
};

/** Documents may have only masks in the place of secrets. The state has the secrets themselves. */
const withSecrets = (document: Members, content: Members): Members => {
  const members = Object.entries(content).filter(([name]) => Object.hasOwn(document, name));
  return { ...document, ...Object.fromEntries(members) };
};

const isImported = (value: unknown): value is Imported<object> =>
  isObject(value) && isObject(value.document) && isObject(value.content);

/** True if two documents of a kind say the same, whenever and by whomever they were changed last. */
export const saysTheSame = (kind: string, one: Members, other: Members): boolean =>
  same(withTokens(kind, timeless(one)), withTokens(kind, timeless(other)));

const timeless = ({ lastUpdated: _, lastUpdatedBy: __, ...rest }: Members): Members => rest;

/** The changes of a document between two positions of the log. */
export type Difference = { readonly from: number; readonly to: number; readonly patch: readonly PatchOperation[] };

/** The changes of a document between two moments: positions or times. Throws `not_found` and `invalid`. */
export const differenceOf = async (
  sources: AuditSources,
  resource: Resource,
  moments: { readonly from: string; readonly to: string },
): Promise<Difference> => {
  const from = await positionOf(sources, moments.from, 'from');
  const to = await positionOf(sources, moments.to, 'to');
  let isSeen = false;
  let [before, after]: unknown[] = [];
  for await (const step of stepsOf(sources, resource)) {
    isSeen ||= await sources.sees(step.stored);
    if (!isSeen || step.stored.position > Math.max(from, to)) break;
    if (step.stored.position <= from) before = step.after;
    if (step.stored.position <= to) after = step.after;
  }
  if (!isSeen) throw noSuchResource(resource);
  return { from, to, patch: changesOf(before, after) };
};
