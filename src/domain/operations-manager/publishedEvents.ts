import { aggregate, type Context, type Event } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';

/** An event of somebody else in the log: its data is the payload, nothing around it. */
export type PublishedEvent = Event<string, unknown> & { readonly source: string };

/** Events with a source and topic of their own, one stream each (docs/behaviour/events.md). */
export const publishedEvent = aggregate<{ readonly exists: boolean }, PublishedEvent>({
  area: 'operations-manager',
  category: 'publishedEvent',
  initial: { exists: false },
  evolve: {},
  published: () => ({ exists: true }),
  exists: ({ exists }) => exists,
});

/**
 * Throws `invalid`, at one of the paths, for a source that is the platform's or the store's, and for a topic with a
 * colon.
 */
export const refuseReserved = (
  source: string,
  topic: string,
  paths: { readonly source: string; readonly topic: string },
): void => {
  if (source.startsWith('@platform/') || source.startsWith('$'))
    throw new RequestError('invalid', 'A source must not begin with @platform/ or $', { path: paths.source });
  if (topic.includes(':')) throw new RequestError('invalid', 'A topic must not have a colon', { path: paths.topic });
};

export type Publication = { readonly source: string; readonly topic: string; readonly payload: unknown };

export const publish = (
  _: unknown,
  { source, topic, payload }: Publication,
  __: Context,
): readonly PublishedEvent[] => {
  refuseReserved(source, topic, { source: 'source', topic: 'topic' });
  return [{ topic: topic, data: payload, source }];
};
