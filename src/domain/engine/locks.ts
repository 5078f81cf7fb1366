import { Type } from 'typebox';
import { aggregate, type Event, type EventOf } from './core.ts';
import { text, topicsOf, whole } from './topics.ts';

const topics = topicsOf({
  turnTaken: ['A command took its turn in a series of commands', Type.Object({ by: text, revision: whole })],
});
export type LockEvent = EventOf<typeof topics>;

/** The last command that took the lock: its stream, and the revision that its first event will have there. */
export const lock = aggregate<{ readonly by?: string; readonly revision?: number }, LockEvent>({
  area: 'authorization',
  category: 'series',
  topics,
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
