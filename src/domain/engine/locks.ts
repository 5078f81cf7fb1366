import { aggregate, type Event } from './core.ts';

export type LockEvent = Event<'turnTaken', { readonly by: string; readonly revision: number }>;

/**
 * Who took the lock last: the stream to be written, and the revision the first event will have
 * there.
 */
export const lock = aggregate<{ readonly by?: string; readonly revision?: number }, LockEvent>({
  area: 'authorization',
  category: 'series',
  initial: {},
  evolve: { turnTaken: (_, turn) => turn },
  exists: ({ by }) => by !== undefined,
});

/** Closes a stream to a writer who has taken the lock and not yet stored; changes no state. */
export const lockPassed = (name: string): Event<'turnPassed', { readonly series: string }> => ({
  topic: 'turnPassed',
  data: { series: name },
});
