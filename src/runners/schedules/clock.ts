import { type Due, dueQueue } from '../../concurrency/dueQueue.ts';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';

/** The longest time between two looks at the wall clock, in milliseconds. */
const lookEvery = 1000;

type Needs = {
  readonly clock: Pick<GuardedClock, 'time' | 'now'>;
  /** Calls a function once after at most a second; returns what cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void;
  /** Called with all that is due, in order of time, then of id. They are out of the clock until they are set again. */
  readonly due: (entries: readonly Due[]) => void;
};

/**
 * Says which schedules are due, with one timer for all. It never sleeps longer than a second, so a wall clock that is
 * set, a machine that was suspended and times in years are all the same to it. While a jump is waited out it says nothing.
 */
export const scheduleClock = ({ clock: { time, now }, timer, due }: Needs) => {
  const queue = dueQueue();
  let cancel: (() => void) | undefined;
  let running = false;

  const look = (): void => {
    if (!running) return;
    const wall = time();
    const entries = wall === undefined ? [] : queue.take(wall);
    arm();
    if (entries.length > 0) due(entries);
  };

  const arm = (): void => {
    cancel?.();
    cancel = undefined;
    if (!running) return;
    const first = time() === undefined ? undefined : queue.first();
    const wait = first ? first.at - now() : lookEvery;
    cancel = timer(look, Math.min(lookEvery, Math.max(0, wait)));
  };

  return {
    start: (): void => {
      if (running) return;
      running = true;
      arm();
    },
    /** When a schedule is due; null for never. */
    set: (id: string, at: number | null): void => {
      const before = queue.first();
      if (at === null) queue.remove(id);
      else queue.set(id, at);
      if (queue.first()?.at !== before?.at) arm();
    },
    /** How many schedules are set. */
    size: queue.size,
    stop: (): void => {
      running = false;
      cancel?.();
      cancel = undefined;
    },
  };
};
