import { type Instants, instantsOf, repeated, single } from './instants.ts';
import { lastMoment, type Schedule, scheduleFault } from './scheduleFaults.ts';

/** The instants of a schedule, as times in epoch milliseconds (docs/schedules.md). */
export type Sequence = {
  /** The first instant later than `after`; null if there is none. */
  readonly next: (after: number) => number | null;
  /** The last instant that is not later than `to`; null if there is none. */
  readonly latest: (to: number) => number | null;
  /** The number of instants that are later than `after`, but not later than `to`. */
  readonly countBetween: (after: number, to: number) => number;
};

const instantsIn = ({ firstRunAt, repeatInterval = null, repeat = null }: Schedule): Instants => {
  if (repeat) return instantsOf(repeat, firstRunAt);
  return repeatInterval === null ? single(true, 0) : repeated(single(true, repeatInterval), Infinity);
};

/**
 * The instants of a schedule; none if it has a fault. Each question takes time for the nodes of the tree, however many
 * instants have passed.
 */
export const sequenceOf = (schedule: Schedule): Sequence => {
  if (scheduleFault(schedule)) return { next: () => null, latest: () => null, countBetween: () => 0 };
  const { firstRunAt } = schedule;
  const instants = instantsIn(schedule);
  /** The number of instants that are not later than `time`. Times are whole milliseconds. */
  const until = (time: number): number => instants.before(Math.min(Math.floor(time), lastMoment) - firstRunAt + 1);
  const all = until(lastMoment);
  const numbered = (number: number): number | null =>
    number >= 0 && number < all ? firstRunAt + instants.at(number) : null;
  return {
    next: (after) => numbered(until(after)),
    latest: (to) => numbered(until(to) - 1),
    countBetween: (after, to) => Math.max(0, until(to) - until(after)),
  };
};

/** A run is on time if it is decided at most this late, in milliseconds. The time for which the clock waited does not count. */
const onTime = 60_000;

/** Instants of the minute before a schedule began are not missed, and only the last of them may run. */
export const grace = 60_000;

/** How far a schedule is settled. */
export type Progress = {
  /** All instants up to here are settled. */
  readonly through: number;
  /** When the schedule began. Of the instants up to then only the last one was ever due; undefined: all were. */
  readonly begun?: number | undefined;
  /** Instants that an earlier schedule of the trigger has run. They are never due again. */
  readonly ran?: readonly number[] | undefined;
};

export type MissedRuns = 'none' | 'last';

/**
 * The time of a decision, and the last span in which nothing was decided because the clock was not believed. In epoch
 * milliseconds.
 */
export type Moment = {
  readonly now: number;
  readonly wait?: { readonly since: number; readonly until: number } | undefined;
};

/** How late a decision on an instant is, without the time for which the clock waited since. */
const lateness = (instant: number, { now, wait }: Moment): number => {
  const waitedMs = wait ? Math.max(0, Math.min(now, wait.until) - Math.max(instant, wait.since)) : 0;
  return now - instant - waitedMs;
};

type Present = Moment & { readonly processMissedRuns: MissedRuns };

const mayRun = (instant: number, present: Present): boolean =>
  lateness(instant, present) <= onTime || present.processMissedRuns === 'last';

/** The instants that are still to be decided. `last`: the last one of the minute before the schedule began, if it may run. */
const openIn = (
  { next, latest, countBetween }: Sequence,
  { through, begun = through, ran = [] }: Progress,
  present: Present,
) => {
  const from = Math.max(through, begun);
  const hasRun = new Set(ran);
  const ranOnes = ran.filter((instant) => instant > from && next(instant - 1) === instant);
  const before = latest(begun);
  const isOpen = before !== null && before > through && !hasRun.has(before);

  return {
    last: isOpen && mayRun(before, present) ? before : null,
    /** The first instant later than `after`. */
    next: (after: number): number | null => {
      let instant = next(Math.max(after, from));
      while (instant !== null && hasRun.has(instant)) instant = next(instant);
      return instant;
    },
    /** The last instant that is not later than `to`. */
    latest: (to: number): number | null => {
      let instant = latest(to);
      while (instant !== null && hasRun.has(instant)) instant = latest(instant - 1);
      return instant !== null && instant > from ? instant : null;
    },
    /** The number of instants that are not later than `to`. */
    countUntil: (to: number): number => countBetween(from, to) - ranOnes.filter((instant) => instant <= to).length,
  };
};

/** The decision about what is due at a time. All instants up to `through` are settled afterwards. */
export type Decision = {
  /** The instant that runs. */
  readonly run: number | null;
  /** The instants that do not run: their number, the first and the last. */
  readonly missed: { readonly count: number; readonly first: number; readonly last: number } | null;
  readonly through: number;
};

/**
 * Decides on the instants that are due: later than `through`, not later than `now`. At most the last one runs. Undefined
 * if nothing is due; then nothing happens and `through` stays.
 */
export const decide = (
  sequence: Sequence,
  present: Progress & Present & { readonly enabled: boolean },
): Decision | undefined => {
  const { through, now, enabled } = present;
  if (!enabled) return undefined;
  const open = openIn(sequence, present, present);
  const due = open.latest(now);
  if (due === null)
    return open.last === null || open.last > now ? undefined : { run: open.last, missed: null, through: open.last };
  const runs = mayRun(due, present);
  const count = open.countUntil(due) - (runs ? 1 : 0);
  return {
    run: runs ? due : null,
    missed:
      count === 0
        ? null
        : { count, first: open.next(through) ?? due, last: runs ? (open.latest(due - 1) ?? due) : due },
    through: due,
  };
};

/** The instant that is decided next. In the past: it is due. Null: none is left. */
export const nextOpen = (sequence: Sequence, progress: Progress, present: Present): number | null => {
  const open = openIn(sequence, progress, present);
  return open.last ?? open.next(progress.through);
};

/** The sequence without the instants before the schedule began that were never due: all but the last, and what has run. */
export const withoutNeverDue = (sequence: Sequence, progress: Progress, present: Present): Pick<Sequence, 'next'> => {
  const { begun, ran = [] } = progress;
  if (begun === undefined) return sequence;
  const instantsBefore = [...ran, openIn(sequence, progress, present).last ?? Infinity].filter(
    (instant) => instant <= begun,
  );
  return {
    next: (after) => {
      const instant = sequence.next(after);
      if (instant === null || instant <= begun - grace || instant > begun) return instant;
      const ofBefore = instantsBefore.filter((one) => one > after && sequence.next(one - 1) === one);
      return ofBefore.length > 0 ? Math.min(...ofBefore) : sequence.next(begun);
    },
  };
};

/** The first instants that are later than `after`, at most `count`. */
export const upcoming = ({ next }: Pick<Sequence, 'next'>, after: number, count: number): readonly number[] => {
  const instants: number[] = [];
  for (let at = next(after); at !== null && instants.length < count; at = next(at)) instants.push(at);
  return instants;
};
