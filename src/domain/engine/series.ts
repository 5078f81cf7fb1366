import { aggregate, type Event } from './core.ts';

export type SeriesEvent = Event<'turnTaken', { readonly by: string; readonly revision: number }>;

/**
 * Whose turn it was last in a series of decisions: the stream to be written, and the revision the first event will have
 * there.
 */
export const series = aggregate<{ readonly by?: string; readonly revision?: number }, SeriesEvent>({
  area: 'authorization',
  category: 'series',
  initial: {},
  evolve: { turnTaken: (_, turn) => turn },
  exists: ({ by }) => by !== undefined,
});

/** Closes a stream to a writer who has taken a turn and not yet stored; changes no state. */
export const turnPassed = (name: string): Event<'turnPassed', { readonly series: string }> => ({
  type: 'turnPassed',
  data: { series: name },
});
