import { aggregate, type Context, type Event } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { isReserved } from '../sources.ts';
import { refuseUnlessLive } from './jobClaims.ts';
import type { JobState } from './jobs.ts';

/** An event with a chosen source. Its data is the bare payload. */
export type PublishedEvent = Event<string, unknown> & { readonly source: string };

/** Events whose source and topic users choose; each has a stream of its own (docs/behaviour/events.md). */
export const publishedEvent = aggregate<{ readonly exists: boolean }, PublishedEvent>({
  area: 'operations-manager',
  category: 'publishedEvent',
  topics: {},
  initial: { exists: false },
  evolve: {},
  published: () => ({ exists: true }),
});

/** Throws `invalid` with one of the paths, for a source of the platform or the store, and for a topic with a colon. */
export const refuseReserved = (
  source: string,
  topic: string,
  paths: { readonly source: string; readonly topic: string },
): void => {
  if (isReserved(source))
    throw new RequestError('invalid', 'A source must not begin with @platform/ or $, nor with what looks so', {
      path: paths.source,
    });
  if (topic.includes(':')) throw new RequestError('invalid', 'A topic must not have a colon', { path: paths.topic });
};

export type Publication = {
  readonly source: string;
  readonly topic: string;
  readonly payload: unknown;
  /** The claim of the job that publishes, or on a run of one of its tasks, if one does. */
  readonly claim?:
    | { readonly job: string; readonly claim: number; readonly task?: string; readonly run?: number }
    | undefined;
};

/** `refs.publisher`: the job that publishes. */
export const publish = (
  _: unknown,
  { source, topic, payload, claim }: Publication,
  { actor, refs }: Context<{ readonly publisher: JobState | undefined }>,
): readonly PublishedEvent[] => {
  refuseReserved(source, topic, { source: 'source', topic: 'topic' });
  if (claim) refuseUnlessLive(refs.publisher, { ...claim, account: actor.id });
  return [{ topic, data: payload, source }];
};
