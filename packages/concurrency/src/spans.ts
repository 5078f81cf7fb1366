import { dueQueue } from './dueQueue.ts';
import type { GuardedClock } from './guardedClock.ts';

type Span = { readonly since: number; readonly ms: number };

/**
 * Spans of time, one for each id, such as the lease of a claim. They are counted by the clock that never jumps, so a wall
 * clock that is set ends none of them. The wall clock says only how much of a span is over that began before this process
 * heard of it. While it is not known after a start, the whole span is counted.
 */
export const spans = (clock: Pick<GuardedClock, 'age' | 'monotonic'>) => {
  const ends = dueQueue();
  /** Those that began earlier, by a clock that is not known yet. */
  const doubtful = new Map<string, Span>();

  const resume = (id: string, { since, ms }: Span): void => {
    const age = clock.age(since);
    if (age === undefined) doubtful.set(id, { since, ms });
    else doubtful.delete(id);
    const remainingMs = Math.min(Math.max(0, ms - (age ?? 0)), ms);
    ends.set(id, clock.monotonic() + remainingMs);
  };

  const remove = (id: string): void => {
    doubtful.delete(id);
    ends.remove(id);
  };

  return {
    /** The span begins now. */
    begin: (id: string, ms: number): void => {
      doubtful.delete(id);
      ends.set(id, clock.monotonic() + ms);
    },
    /** The span has begun at a time that an event shows. */
    resume,
    remove,
    /** Takes those that are over, in the order of their ends. */
    take: (): readonly string[] => {
      if (doubtful.size > 0 && clock.age(0) !== undefined) for (const [id, span] of [...doubtful]) resume(id, span);
      return ends.take(clock.monotonic()).map(({ id }) => {
        doubtful.delete(id);
        return id;
      });
    },
  };
};
