import { lruCache } from './lruCache.ts';
import { Busy, type Waiting, waitInLine } from './semaphore.ts';

type Bounds = {
  /** How much work runs at once. Each account has at most one place. It may change at any time. */
  readonly places: () => number;
  /** How many of these places are only for accounts that owe little. */
  readonly express: () => number;
  /** How much work of one account may wait. */
  readonly inLine: number;
  /** How much work of all accounts may wait. */
  readonly inAll: number;
  /** The clock in milliseconds, from any start. */
  readonly now?: () => number;
};

type Line = { running: boolean; readonly waiting: Waiting[] };

const remembered = 10_000;

/**
 * An account owes this many times the length of its turn. The debt falls with time, so an account that uses less than a
 * tenth of a place owes nothing.
 */
const weight = 10;

/** A debt below this number of milliseconds is little. Half a second of a place makes this debt. */
const little = 5000;

/**
 * Shares places among accounts. Each account has one place at a time. The next free place goes to the account that owes
 * the least for its turns, so an account that uses little hardly waits. Among accounts that owe the same, the latest
 * comes first, because its caller most likely still waits. Throws `Busy` when too much waits, and the signal's reason
 * when the signal aborts first.
 */
export const fairScheduler = ({ places, express, inLine, inAll, now = () => performance.now() }: Bounds) => {
  const lines = new Map<string, Line>();
  /** The time when an account will owe nothing any more. */
  const lastTurns = lruCache<number>(remembered);
  let running = 0;

  const owed = (account: string): number => Math.max(0, (lastTurns.get(account) ?? 0) - now());
  const charge = (account: string, ms: number): void => {
    lastTurns.set(account, now() + owed(account) + weight * ms);
  };

  const fill = (): void => {
    while (running < places()) {
      const hasRoom = places() - running > express();
      const mayBegin = (account: string): boolean => hasRoom || owed(account) < little;
      const ready = [...lines].filter(
        ([account, { running: isRunning, waiting }]) => !isRunning && waiting.length > 0 && mayBegin(account),
      );
      const [first] = ready.reverse().sort(([a], [b]) => owed(a) - owed(b));
      if (!first) return;
      const [, line] = first;
      running++;
      line.running = true;
      line.waiting.shift()?.go();
    }
  };

  /**
   * Makes room when too much waits: the last work in the longest line is refused. Throws `Busy` when that line is no
   * longer than this one.
   */
  const makeRoom = (mine: Line): void => {
    const all = [...lines.values()];
    if (all.reduce((sum, { waiting }) => sum + waiting.length, 0) < inAll) return;
    const longest = all.reduce((a, b) => (b.waiting.length > a.waiting.length ? b : a));
    if (longest === mine || longest.waiting.length <= mine.waiting.length) throw new Busy('Too much waits');
    longest.waiting.pop()?.refuse(new Busy('Too much waits'));
  };

  const enter = async (account: string, line: Line, signal: AbortSignal): Promise<void> => {
    if (line.waiting.length >= inLine) throw new Busy('Too much of this account waits');
    makeRoom(line);
    lines.set(account, line);
    const mine = waitInLine(line.waiting, signal);
    fill();
    await mine;
  };

  const tidy = (account: string, { running, waiting }: Line): void => {
    if (!running && waiting.length === 0) lines.delete(account);
  };

  /** Does the work in a turn of the account. The work reports through `used` how many milliseconds it has used. */
  const inTurn = async <T>(
    account: string,
    signal: AbortSignal,
    work: (used: (ms: number) => void) => Promise<T>,
  ): Promise<T> => {
    signal.throwIfAborted();
    const line = lines.get(account) ?? { running: false, waiting: [] };
    try {
      await enter(account, line, signal);
    } catch (error) {
      tidy(account, line);
      throw error;
    }
    try {
      return await work((ms) => charge(account, ms));
    } finally {
      running--;
      line.running = false;
      tidy(account, line);
      fill();
    }
  };

  return {
    inTurn,
    /** The number of places has changed. */
    changed: fill,
  };
};
