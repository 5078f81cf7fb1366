import { Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { refuseUnknownIds } from '../engine/references.ts';
import { texts, topicsOf } from '../engine/topics.ts';

const jobs = Type.Object({ jobIds: texts });
type JobIds = SchemaData<typeof jobs>;

const topics = topicsOf({
  jobsWatched: ['An account began to watch jobs', jobs],
  jobsUnwatched: ['An account stopped watching jobs', jobs],
});
export type WatchingEvent = EventOf<typeof topics>;

/**
 * The difference between the jobs that an account watches and those that it watched from their start: `watched` is
 * added, `left` is removed.
 */
export type WatchingState = { readonly watched: readonly string[]; readonly left: readonly string[] };

/** Removes the ids from one list. Ids that were not in it are added to the other list. */
const moved = (from: readonly string[], to: readonly string[], jobIds: readonly string[]) => {
  const [ids, had] = [new Set(jobIds), new Set(from)];
  return { from: from.filter((id) => !ids.has(id)), to: [...to, ...jobIds.filter((id) => !had.has(id))] };
};

/** The jobs that an account begins or stops to watch. The id is the account's. */
export const watching = aggregate<WatchingState, WatchingEvent>({
  area: 'operations-manager',
  category: 'watching',
  topics,
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

/** `began`: the jobs of the request that the account watched from their start. */
export type WatchRefs = { readonly missing: readonly string[]; readonly began: ReadonlySet<string> };

/** The jobs of the request that the account watches, or (`watches` false) those that it does not watch. */
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

/** Decides `unwatchJobs`. Jobs that are not watched are no change. */
export const unwatch = (
  state: WatchingState,
  { jobIds }: JobIds,
  { refs }: Context<WatchRefs>,
): readonly WatchingEvent[] => {
  const news = those(true, state, jobIds, refs);
  return news.length > 0 ? [{ topic: 'jobsUnwatched', data: { jobIds: news } }] : [];
};
