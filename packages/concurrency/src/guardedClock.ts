/** A wall clock that moves further than this against the monotonic one has jumped. */
const jumpFrom = 5 * 60_000;
/** How long a jump may be corrected, before it is believed. */
const patience = 60_000;
/** A wall clock that is so much later than the newest event of the log, at a start, is believed only after a while. */
const doubtFrom = 86_400_000;
/** How long such a clock must run steadily. Time synchronization corrects a machine's clock within some minutes. */
const startPatience = 15 * 60_000;
const lookEvery = 1000;

type Needs = {
  /** The wall clock, in epoch milliseconds. It may jump. */
  readonly now: () => number;
  /** Milliseconds since any moment, from a clock that never jumps. It may stand while the machine is suspended. */
  readonly monotonic: () => number;
  /** When the newest event of the log happened, as this process starts; undefined if it has none. */
  readonly newest?: number | undefined;
  /** Called when the clock begins to wait. `by`: by how many milliseconds the wall clock has jumped. */
  readonly onJump: (jump: { readonly by: number; readonly until: number; readonly why: string }) => void;
  /** Calls a function every `ms` milliseconds; returns what ends that. */
  readonly every?: (call: () => void, ms: number) => () => void;
};

type Jump = {
  readonly by: number;
  /** The wall clock less the monotonic one before the jump; undefined at a start: no earlier time is known. */
  readonly before: number | undefined;
  readonly after: number;
  /** By the monotonic clock. */
  readonly until: number;
};

/** True if the clock waits: by how many milliseconds it has jumped, until when by the wall clock, and why in words. */
export type ClockStatus = {
  readonly jumped: number | null;
  readonly until: number | null;
  readonly why: string | null;
};

/** A time, and when the clock that says it has waited last; `until` is the time itself if it waits. In epoch milliseconds. */
export type ClockMoment = {
  readonly now: number;
  readonly wait?: { readonly since: number; readonly until: number };
};

const steadyStatus: ClockStatus = { jumped: null, until: null, why: null };

const whyIn = ({ before }: Jump): string =>
  before === undefined
    ? 'The clock is more than a day later than the newest event of the log. Until it has run steadily for 15 minutes, or ' +
      'POST /health/clock confirms it, schedules do not run, and nothing is ended or retired by its time'
    : 'The clock has jumped; schedules and retirement wait a minute for it to be corrected';

const endOf = ({ until, after }: Jump): number => Math.round(until + after);

const everyMs: Needs['every'] = (call, ms) => {
  const timer = setInterval(call, ms).unref();
  return () => clearInterval(timer);
};

const isFar = (one: number, other: number): boolean => Math.abs(one - other) > jumpFrom;

/**
 * The clock that is asked before anything is done that cannot be taken back (docs/operations.md, Clocks). A wall clock
 * that has jumped may be wrong for some seconds: it is believed after a minute. At a start, a wall clock that is more than
 * a day later than the newest event is believed after 15 minutes, or when the operator confirms it.
 */
export const guardedClock = ({ now: wallNow, monotonic, newest, onJump, every = everyMs }: Needs) => {
  /** The wall clock less the monotonic one, as it is believed. At a start it is what the wall clock says. */
  let offset = wallNow() - monotonic();
  let jump: Jump | undefined;
  /** The last wait, by the monotonic clock. It goes on while there is a jump. */
  let lastWait: { readonly since: number; readonly until: number } | undefined;
  const waiting = new Set<() => void>();

  const begin = (present: number, before: number | undefined, steady: number): void => {
    const isAtStart = before === undefined;
    if (!jump) lastWait = { since: steady, until: Infinity };
    const by = Math.round(isAtStart ? present + steady - (newest ?? 0) : present - before);
    jump = { by, before, after: present, until: steady + (isAtStart ? startPatience : patience) };
    onJump({ by, until: endOf(jump), why: whyIn(jump) });
  };

  const believe = (present: number): void => {
    // This process may have stood still when the time was over.
    if (jump && lastWait) lastWait = { ...lastWait, until: Math.min(monotonic(), jump.until) };
    jump = undefined;
    offset = present;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  const isCorrected = ({ before }: Jump, present: number, steady: number): boolean =>
    before === undefined ? present + steady - (newest ?? 0) <= doubtFrom : !isFar(present, before);

  /** Follows the wall clock, and gives the monotonic one. Small steps are believed at once. */
  const compare = (): number => {
    const steady = monotonic();
    const present = wallNow() - steady;
    if (!jump) {
      if (isFar(present, offset)) begin(present, offset, steady);
      else offset = present;
      return steady;
    }
    if (jump.before === undefined) offset = present;
    if (isCorrected(jump, present, steady)) believe(present);
    else if (isFar(present, jump.after)) begin(present, jump.before, steady);
    else if (steady >= jump.until) believe(present);
    return steady;
  };

  const timeNow = (): number => Math.round(compare() + offset);

  const moment = (): ClockMoment => {
    const now = timeNow();
    if (!lastWait) return { now };
    const { since, until } = lastWait;
    return { now, wait: { since: Math.round(since + offset), until: Math.min(now, Math.round(until + offset)) } };
  };

  if (newest !== undefined && timeNow() - newest > doubtFrom) begin(offset, undefined, monotonic());
  const stop = every(compare, lookEvery);

  return {
    /** The time that events show. While a jump is waited out, it goes on as it did before the jump. */
    now: timeNow,
    /** The time by which may be done what cannot be taken back; undefined while a jump is waited out. */
    time: (): number | undefined => {
      const at = timeNow();
      return jump ? undefined : at;
    },
    /** The time, whether it may be wrong or not, and the last wait as that time has it. */
    moment,
    /** How long ago that time was; undefined while no time is known, after a start. */
    age: (at: number): number | undefined => {
      const present = timeNow();
      return jump && jump.before === undefined ? undefined : present - at;
    },
    monotonic,
    /** Resolves once no jump is waited out, or the signal aborts. */
    believed: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        compare();
        if (!jump || signal.aborted) return resolve();
        const end = (): void => {
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve();
        };
        waiting.add(end);
        signal.addEventListener('abort', end);
      }),
    /** The operator says that the wall clock is right. */
    confirm: (): void => believe(wallNow() - monotonic()),
    status: (): ClockStatus => (jump ? { jumped: jump.by, until: endOf(jump), why: whyIn(jump) } : steadyStatus),
    stop,
  };
};

export type GuardedClock = ReturnType<typeof guardedClock>;

/** A clock that is always believed, for commands of the operator, who looks at the clock. */
export const trustedClock = (now: () => number = Date.now): GuardedClock => ({
  now,
  monotonic: now,
  time: now,
  moment: () => ({ now: now() }),
  age: (at) => now() - at,
  believed: async () => undefined,
  confirm: () => undefined,
  status: () => steadyStatus,
  stop: () => undefined,
});
