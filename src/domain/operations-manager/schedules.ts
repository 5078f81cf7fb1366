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

/** A run is on time if it is decided at most this late, in milliseconds. */
const onTime = 60_000;

/** What to do at a time. All instants up to `through` are settled afterwards. */
export type Decision = {
  /** The instant that runs. */
  readonly run: number | null;
  /** The instants that do not run: their number, the first and the last. */
  readonly missed: { readonly count: number; readonly first: number; readonly last: number } | null;
  readonly through: number;
};

type Present = {
  /** All instants up to here are settled. */
  readonly through: number;
  readonly now: number;
  readonly enabled: boolean;
  readonly processMissedRuns: 'none' | 'last';
};

/**
 * Decides on the instants that are due: later than `through`, not later than `now`. At most the last one runs. Undefined
 * if nothing is due; then nothing happens and `through` stays.
 */
export const decide = (
  { next, latest, countBetween }: Sequence,
  { through, now, enabled, processMissedRuns }: Present,
): Decision | undefined => {
  const due = enabled ? latest(now) : null;
  if (due === null || due <= through) return undefined;
  const runs = now - due <= onTime || processMissedRuns === 'last';
  const count = countBetween(through, due) - (runs ? 1 : 0);
  return {
    run: runs ? due : null,
    missed: count === 0 ? null : { count, first: next(through) ?? due, last: runs ? (latest(due - 1) ?? due) : due },
    through: due,
  };
};

/** The first instants that are later than `after`, at most `count`. */
export const upcoming = ({ next }: Sequence, after: number, count: number): readonly number[] => {
  const instants: number[] = [];
  for (let at = next(after); at !== null && instants.length < count; at = next(at)) instants.push(at);
  return instants;
};
