import type { PatchOperation } from '../domain/engine/jsonPatch.ts';
import type { Resource } from '../domain/engine/resource.ts';
import { noSuchResource, stepsOf } from './documents.ts';
import { changesOf } from './history.ts';
import { positionOf } from './moments.ts';
import type { AuditSources } from './reading.ts';

/** What changed in a document between two positions of the log. */
export type Difference = { readonly from: number; readonly to: number; readonly patch: readonly PatchOperation[] };

/** What changed in a document between two moments: positions or times. Throws `not_found` and `invalid`. */
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
