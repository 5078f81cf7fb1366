import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { readOf } from '../triggers/read.ts';

type Needs = {
  readonly now: () => number;
  /** Milliseconds from a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** So far the clocks of two nodes may differ. */
const tolerated = 60_000;
const warnEvery = 10 * 60_000;

/**
 * Warns when another node decides at a time that is still to come here. Whichever of the two clocks is wrong: the one
 * ahead decides first, so instants run too early.
 */
export const behindWatch = ({ now, monotonic, log }: Needs) => {
  let quietUntil = -Infinity;
  return (event: StoredEvent): void => {
    if (splitStream(event.stream).category !== triggerSchedule.category || monotonic() < quietUntil) return;
    const read = readOf(event);
    if (read instanceof Error) return;
    const by = Date.parse(read.metadata.at) - now();
    if (!(by > tolerated)) return;
    quietUntil = monotonic() + warnEvery;
    log('The clock of this node is behind that of another node, or that one is ahead', {
      seconds: Math.round(by / 1000),
    });
  };
};
