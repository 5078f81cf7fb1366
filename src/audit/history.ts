import { type PatchOperation, patchBetween } from '../domain/engine/jsonPatch.ts';
import type { Resource } from '../domain/engine/resource.ts';
import { type AuditEvent, auditEvent } from './auditEvent.ts';
import { positionIn } from './cursors.ts';
import { noSuchResource, type Step, stepsOf } from './documents.ts';
import type { AuditPage, PageAsked } from './findEvents.ts';
import { withoutTokens } from './hiddenSecrets.ts';
import type { AuditSources } from './reading.ts';

/** An event without its data, and what it changed in the document: a JSON Patch. */
export type HistoryEntry = Omit<AuditEvent, 'data'> & { readonly patch: readonly PatchOperation[] };

/** What changed between two documents; undefined: there is none, which is null at the path ''. */
export const changesOf = (before: unknown, after: unknown): readonly PatchOperation[] =>
  withoutTokens(patchBetween(before ?? null, after ?? null)) as readonly PatchOperation[];

const entryOf = ({ stored, before, after }: Step): HistoryEntry => {
  const { data: _, ...event } = auditEvent(stored);
  return { ...event, patch: changesOf(before, after) };
};

/** What happened to a resource, the newest first, and what each event changed. Throws `not_found`. */
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
  const seen: Step[] = [];
  for (const step of page) if (await sources.sees(step.stored)) seen.push(step);
  if (!isSeen && seen.length === 0) throw noSuchResource(resource);
  const oldest = page[0]?.stored.revision ?? 0;
  const hasMore = oldest > 0 && (isLong || newest.length > limit);
  return { results: seen.toReversed().map(entryOf), cursor: hasMore ? String(oldest) : null };
};
