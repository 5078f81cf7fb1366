import { aggregate, type Context, type Event } from '../engine/core.ts';
import { refuseUnknownIds } from '../engine/references.ts';

type JobIds = { readonly jobIds: readonly string[] };

export type WatchingEvent = Event<'jobsWatched', JobIds> | Event<'jobsUnwatched', JobIds>;

/**
 * How an account differs from the watchers that its jobs began with: jobs that it watches besides, and those that it
 * has left.
 */
export type WatchingState = { readonly watched: readonly string[]; readonly left: readonly string[] };

/** Takes the ids out of one list; those that it did not have come into the other. */
const moved = (from: readonly string[], to: readonly string[], jobIds: readonly string[]) => {
  const [ids, had] = [new Set(jobIds), new Set(from)];
  return { from: from.filter((id) => !ids.has(id)), to: [...to, ...jobIds.filter((id) => !had.has(id))] };
};

/** What an account does about watching jobs; its id is the account's. */
export const watching = aggregate<WatchingState, WatchingEvent>({
  area: 'operations-manager',
  category: 'watching',
  initial: { watched: [], left: [] },
  evolve: {
    jobsWatched: ({ watched, left }, { jobIds }) => {
      const { from, to } = moved(left, watched, jobIds);
      return { watched: to, left: from };
    },
    jobsUnwatched: ({ watched, left }, { jobIds }) => {
      const { from, to } = moved(watched, left, jobIds);
      return { watched: from, left: to };
    },
  },
  exists: ({ watched, left }) => watched.length + left.length > 0,
});

/** `began`: those of the jobs that the account watched from their start. */
export type WatchRefs = { readonly missing: readonly string[]; readonly began: ReadonlySet<string> };

/** Those of the jobs that the account watches, or does not. */
const those = (
  watches: boolean,
  { watched, left }: WatchingState,
  jobIds: readonly string[],
  { missing, began }: WatchRefs,
): readonly string[] => {
  refuseUnknownIds(missing, 'job', '/jobIds');
  const [more, less] = [new Set(watched), new Set(left)];
  return [...new Set(jobIds)].filter((id) => (began.has(id) ? !less.has(id) : more.has(id)) === watches);
};

export const watch = (
  state: WatchingState,
  { jobIds }: JobIds,
  { refs }: Context<WatchRefs>,
): readonly WatchingEvent[] => {
  const news = those(false, state, jobIds, refs);
  return news.length > 0 ? [{ topic: 'jobsWatched', data: { jobIds: news } }] : [];
};

/** Operation 14: not watching is no change. */
export const unwatch = (
  state: WatchingState,
  { jobIds }: JobIds,
  { refs }: Context<WatchRefs>,
): readonly WatchingEvent[] => {
  const news = those(true, state, jobIds, refs);
  return news.length > 0 ? [{ topic: 'jobsUnwatched', data: { jobIds: news } }] : [];
};
