import { job } from '../../domain/operations-manager/jobs.ts';
import { type WatchingState, watching } from '../../domain/operations-manager/watchings.ts';
import { idOf, projection } from '../engine/define.ts';

/** The jobs that an account watches or has stopped watching since the job's start. No route serves this document. */
export type Watching = WatchingState & { readonly account: string };

const { initial, evolve } = watching;

export const watchings = projection<Watching>()(watching, {
  collection: 'watchings',
  on: {
    jobsWatched: (doc, event) => ({ account: idOf(event), ...evolve.jobsWatched(doc ?? initial, event.data) }),
    jobsUnwatched: (doc, event) => ({ account: idOf(event), ...evolve.jobsUnwatched(doc ?? initial, event.data) }),
  },
  forgets: {
    category: job.category,
    without: (doc, deletedIds) => {
      const left = (ids: readonly string[]): readonly string[] =>
        ids.some((id) => deletedIds.has(id)) ? ids.filter((id) => !deletedIds.has(id)) : ids;
      const [watched, leftBefore] = [left(doc.watched), left(doc.left)];
      return watched === doc.watched && leftBefore === doc.left ? doc : { ...doc, watched, left: leftBefore };
    },
  },
  sorts: { account: ({ account }) => account },
  filters: {},
});
