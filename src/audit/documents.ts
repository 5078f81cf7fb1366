import { RequestError } from '../domain/engine/requestError.ts';
import { type Resource, resourceIn, resourceText } from '../domain/engine/resource.ts';
import { projections } from '../projections/all.ts';
import { type Projection, project } from '../projections/engine/define.ts';
import { decode } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { withTokens } from './hiddenSecrets.ts';
import type { AuditSources } from './reading.ts';
import { resourceOf } from './resourceOf.ts';

/** An event of a stream with the document before and after it. Undefined: there was none. */
export type Step = { readonly stored: StoredEvent; readonly before: unknown; readonly after: unknown };

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
export async function* stepsOf({ log }: Pick<AuditSources, 'log'>, { kind, id }: Resource): AsyncGenerator<Step> {
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
export const noSuchResource = (resource: Resource): RequestError =>
  new RequestError('not_found', `The log has nothing of ${resourceText(resource)} that you may see`);
