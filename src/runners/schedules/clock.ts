import { type Due, dueQueue } from '../../concurrency/dueQueue.ts';

/** The longest time between two looks at the wall clock, in milliseconds. */
const lookEvery = 1000;
/** A wall clock that moves further than this against the monotonic one has jumped. */
const jumpFrom = 5 * 60_000;
/** How long a jump may be corrected, before it is believed. */
const patience = 60_000;

type Needs = {
  /** The wall clock, in epoch milliseconds. It may jump. */
  readonly now: () => number;
  /** Milliseconds since any moment, from a clock that never jumps. It may stand while the machine is suspended. */
  readonly monotonic: () => number;
  /** Calls a function once after at most a second; returns what cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void;
  /** Called with all that is due, in order of time, then of id. They are out of the clock until they are set again. */
  readonly due: (entries: readonly Due[]) => void;
  /** Called when the wall clock has jumped, by how many milliseconds. */
  readonly jumped: (by: number) => void;
};

type Jump = {
  readonly by: number;
  /** The wall clock less the monotonic one, before and after the jump. */
  readonly before: number;
  readonly after: number;
  /** By the monotonic clock. */
  readonly until: number;
};

/**
 * Says which schedules are due, with one timer for all. It never sleeps longer than a second, so a wall clock that is
 * set, a machine that was suspended and times in years are all the same to it. After a jump it says nothing for a minute:
 * who has set the clock wrongly may correct it.
 */
export const scheduleClock = ({ now, monotonic, timer, due, jumped }: Needs) => {
  const queue = dueQueue();
  let cancel: (() => void) | undefined;
  let running = false;
  let offset = 0;
  let jump: Jump | undefined;

  const isFar = (one: number, other: number): boolean => Math.abs(one - other) > jumpFrom;

  /** Follows the wall clock. Small steps are believed at once. */
  const compare = (wall: number, steady: number): void => {
    const present = wall - steady;
    if (jump && !isFar(present, jump.before)) jump = undefined;
    else if (jump && !isFar(present, jump.after) && steady >= jump.until) jump = undefined;
    else if (isFar(present, jump?.after ?? offset)) {
      const before = jump?.before ?? offset;
      jump = { by: present - before, before, after: present, until: steady + patience };
      jumped(jump.by);
    }
    if (!jump) offset = present;
  };

  /** The time by which may be decided; undefined while a jump is waited out. */
  const time = (): number | undefined => {
    const wall = now();
    compare(wall, monotonic());
    return jump ? undefined : wall;
  };

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
    const first = jump ? undefined : queue.first();
    const wait = first ? first.at - now() : lookEvery;
    cancel = timer(look, Math.min(lookEvery, Math.max(0, wait)));
  };

  return {
    start: (): void => {
      if (running) return;
      running = true;
      offset = now() - monotonic();
      arm();
    },
    /** When a schedule is due; null for never. */
    set: (id: string, at: number | null): void => {
      const before = queue.first();
      if (at === null) queue.remove(id);
      else queue.set(id, at);
      if (queue.first()?.at !== before?.at) arm();
    },
    time,
    /** How many schedules are set. */
    size: queue.size,
    /** A jump that is waited out: by how many milliseconds, and until when by the wall clock. */
    status: (): { readonly jumped: number | null; readonly until: number | null } =>
      jump ? { jumped: jump.by, until: jump.until + jump.after } : { jumped: null, until: null },
    stop: (): void => {
      running = false;
      cancel?.();
      cancel = undefined;
    },
  };
};
