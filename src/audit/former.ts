import { aggregates } from '../commands/all.ts';
import { fold } from '../domain/engine/core.ts';
import { isObject, type Members } from '../domain/engine/members.ts';
import type { Resource } from '../domain/engine/resource.ts';
import { projections } from '../projections/all.ts';
import { project } from '../projections/engine/define.ts';
import { decode } from '../store/event.ts';
import type { AuditSources } from './reading.ts';

/**
 * The content of a resource just after a position of the log, with its sealed secrets; undefined if it did not exist.
 * Throws if an event before that cannot be read.
 */
export const contentAt = async (
  { log }: Pick<AuditSources, 'log'>,
  { kind, id }: Resource,
  position: number,
): Promise<Members | undefined> => {
  const aggregate = aggregates.find(({ category }) => category === kind);
  const projection = projections.find(({ of }) => of === aggregate);
  if (!aggregate || !projection) return undefined;
  let state = aggregate.initial;
  let document: unknown;
  for await (const events of log.read(`${kind}-${id}`)) {
    for (const stored of events) {
      if (stored.position > position) return aggregate.exists(state) ? merged(document, state) : undefined;
      const event = decode(stored);
      state = fold(aggregate, [{ topic: event.topic, data: event.data }], state);
      document = project(projection, document, event);
    }
  }
  return aggregate.exists(state) ? merged(document, state) : undefined;
};

/** Documents may have only masks in the place of secrets. The state has the secrets themselves. */
const merged = (document: unknown, state: unknown): Members | undefined => {
  if (!isObject(document)) return undefined;
  const content = isObject(state) ? state.content : undefined;
  if (!isObject(content)) return document;
  const known = Object.entries(content).filter(([name]) => Object.hasOwn(document, name));
  return { ...document, ...Object.fromEntries(known) };
};
