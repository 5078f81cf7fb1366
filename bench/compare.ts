/** What was measured, round by round, side by side; `theirs` is what `ours` is divided by. */
export type Comparison = {
  readonly what: string;
  readonly comparedWith: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  /** A figure in words. */
  readonly shown: (figure: number) => string;
  /** What the ratio is to be, if that is set. */
  readonly goal?: { readonly least: number } | { readonly most: number };
};

/** What a part of the benchmark found, and what should be known about it. */
export type Findings = { readonly comparisons: readonly Comparison[]; readonly notes?: readonly string[] };

const number = (name: string, preset: number): number => Number(process.env[name] || preset);

/** How much is measured: for trying things out, smaller numbers can be set in the environment. */
export const scale = {
  rounds: number('BENCH_ROUNDS', 5),
  milliseconds: 1000 * number('BENCH_SECONDS', 2),
  /** Of the long log; a tenth as many documents. */
  events: number('BENCH_EVENTS', 1_000_000),
  /** How long the console follows events. */
  tailMilliseconds: 1000 * number('BENCH_TAIL_SECONDS', 120),
  /** Jobs that have ended. */
  ended: number('BENCH_ENDED', 100_000),
};

/** Shown while it runs, to who watches it on a terminal. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Measures all in turn, round after round, after a round that does not count. */
export const inTurn = async <Name extends string>(
  title: string,
  contestants: Readonly<Record<Name, () => Promise<number>>>,
  { warm = true, rounds = scale.rounds } = {},
): Promise<Record<Name, number[]>> => {
  const names = Object.keys(contestants) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = warm ? 0 : 1; round <= rounds; round++) {
    for (const name of names) {
      progress(`${title}: round ${round} of ${rounds}, ${name}`);
      const figure = await contestants[name]();
      if (round > 0) figures[name].push(figure);
    }
  }
  progress('');
  return figures;
};

/** Numbers a second, seconds and milliseconds in words. */
export const perSecond = (figure: number): string =>
  `${figure < 10 ? figure.toFixed(2) : Math.round(figure).toLocaleString('en')}/s`;
export const seconds = (figure: number): string => `${figure.toFixed(2)} s`;
export const milliseconds = (figure: number): string => `${figure.toFixed(2)} ms`;
