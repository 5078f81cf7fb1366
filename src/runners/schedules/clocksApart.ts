import type { Log } from '../../concurrency/log.ts';
import type { StoredEvent } from '../../store/port.ts';

type Needs = {
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
export const clocksApart = ({ now, monotonic, log }: Needs) => {
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
