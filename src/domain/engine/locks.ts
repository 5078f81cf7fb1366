import { aggregate, type Event } from './core.ts';

export type LockEvent = Event<'turnTaken', { readonly by: string; readonly revision: number }>;

/** The last command that took the lock: its stream, and the revision that its first event will have there. */
export const lock = aggregate<{ readonly by?: string; readonly revision?: number }, LockEvent>({
  area: 'authorization',
  category: 'series',
  internal: true,
  initial: {},
  evolve: { turnTaken: (_, turn) => turn },
  exists: ({ by }) => by !== undefined,
});

/** Prevents the append of a command that has taken the lock and not yet stored. Changes no state. */
export const turnPassed = (name: string): Event<'turnPassed', { readonly series: string }> => ({
  topic: 'turnPassed',
  data: { series: name },
});
