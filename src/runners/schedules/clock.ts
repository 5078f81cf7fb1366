import { type Due, dueQueue, type GuardedClock, type Log } from '@automation-platform/concurrency';
import type { StoredEvent } from '../../store/port.ts';

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

type Clocks = {
  readonly now: () => number;
  /** Milliseconds from a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: Log;
};

/** So far the clocks of two nodes may differ. */
const tolerated = 60_000;
const warnEvery = 10 * 60_000;

const mark = '"at":"';

/**
 * When an event happened, by the clock of its node; NaN if it does not say so. Nothing is parsed for that: within texts,
 * JSON escapes the mark's quotes.
 */
const timeOf = ({ metadata }: StoredEvent): number => {
  const from = metadata.indexOf(mark) + mark.length;
  return from < mark.length ? NaN : Date.parse(metadata.slice(from, metadata.indexOf('"', from)));
};

/**
 * Warns when the clock of another node differs from the one here. It goes by the times in events, and by the order of the
 * log: an event that comes late proves nothing, but one that is older than an event before it in the log does.
 * Whichever of the two clocks is wrong: the one ahead decides about schedules first, so instants run too early.
 */
export const clocksApart = ({ now, monotonic, log }: Clocks) => {
  let quietUntil = -Infinity;
  /** The newest time in an event with which the clock here agrees. */
  let agreed = -Infinity;

  const warn = (message: string, by: number): void => {
    quietUntil = monotonic() + warnEvery;
    log(message, { seconds: Math.round(by / 1000) });
  };

  return (event: StoredEvent): void => {
    if (monotonic() < quietUntil) return;
    const at = timeOf(event);
    const here = now();
    // The clock here was set back since.
    if (agreed - here > tolerated) agreed = -Infinity;
    if (at - here > tolerated)
      warn('The clock of this node is behind that of another node, or that one is ahead', at - here);
    else if (agreed - at > tolerated)
      warn('The clock of this node is ahead of that of another node, or that one is behind', agreed - at);
    else if (here - at <= tolerated) agreed = Math.max(agreed, at);
  };
};
