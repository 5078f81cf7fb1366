import { setTimeout as pause } from 'node:timers/promises';

/** What was counted: each row with its number, and when the first and the last came, in milliseconds. */
export type Tally<Row> = {
  readonly rows: readonly (Row & { readonly count: number })[];
  readonly first: number;
  readonly last: number;
};

type Needs<Row> = {
  /** Stores a tally. Until it has ended, what comes is counted together. */
  readonly store: (tally: Tally<Row>) => Promise<void>;
  /** The row that stands for all that are too many. */
  readonly others: Row;
  readonly now: () => number;
  /** How long rows are counted before they are stored, in milliseconds. */
  readonly gatherMs: number;
  /** Once it aborts, what was counted is stored at once. */
  readonly signal: AbortSignal;
};

const mostRows = 1000;

/** Rows of some time, by their content. */
const tallyFrom = <Row extends object>(first: number, others: Row) => {
  const counts = new Map<string, { readonly row: Row; count: number }>();
  const rest = { row: others, count: 0 };
  let last = first;

  const entryOf = (row: Row): { count: number } => {
    const key = JSON.stringify(row);
    const known = counts.get(key);
    if (known) return known;
    if (counts.size === mostRows) return rest;
    const made = { row, count: 0 };
    counts.set(key, made);
    return made;
  };

  return {
    add: (row: Row, at: number): void => {
      entryOf(row).count++;
      last = Math.max(last, at);
    },
    tally: (): Tally<Row> => {
      const all = rest.count === 0 ? [...counts.values()] : [...counts.values(), rest];
      return { rows: all.map(({ row, count }) => ({ ...row, count })), first, last };
    },
  };
};

/**
 * Counts rows with the same content and stores their numbers from time to time. It holds 1,000 different rows at most;
 * all further ones are counted as one.
 */
export const counting = <Row extends object>({ store, others, now, gatherMs, signal }: Needs<Row>) => {
  let current: ReturnType<typeof tallyFrom<Row>> | undefined;
  let atWork: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (current) {
      await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined);
      const { tally } = current;
      current = undefined;
      await store(tally());
    }
    atWork = undefined;
  };

  return {
    count: (row: Row): void => {
      const at = now();
      current ??= tallyFrom(at, others);
      current.add(row, at);
      atWork ??= work();
    },
    /** Resolves once all that was counted is stored. To be called after the signal has aborted. */
    stored: async (): Promise<void> => atWork,
  };
};
