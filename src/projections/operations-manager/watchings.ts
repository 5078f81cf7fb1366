import { type WatchingState, watching } from '../../domain/operations-manager/watchings.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

/** The jobs that an account watches or has stopped watching since the job's start. No route serves this document. */
export type Watching = WatchingState & { readonly account: string };

const { initial, evolve } = watching;

export const watchings = projection<Watching>()(watching, {
  collection: 'watchings',
  on: {
    jobsWatched: (doc, event) => ({ account: idOf(event), ...evolve.jobsWatched(doc ?? initial, event.data) }),
    jobsUnwatched: (doc, event) => ({ account: idOf(event), ...evolve.jobsUnwatched(doc ?? initial, event.data) }),
  },
  sorts: { account: ({ account }) => account },
  filters: {},
});
