import { RequestError } from '../domain/engine/requestError.ts';
import { type Resource, resourceText } from '../domain/engine/resource.ts';
import { noSuchResource, stepsOf } from './documents.ts';
import { withoutTokens } from './hiddenSecrets.ts';
import { positionOf } from './moments.ts';
import type { AuditSources } from './reading.ts';

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
