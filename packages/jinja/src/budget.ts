import { limitError } from './errors.ts';

/** The limits of one render. */
export const limits = {
  /** Milliseconds of processor time. */
  processorMs: 1000,
  /** Nodes that are evaluated, items that are passed, and work in proportion to the size of values. */
  steps: 5_000_000,
  /** Characters or elements of one value. */
  size: 8 * 1024 * 1024,
  /** Characters or elements of all values that the render makes. */
  made: 256 * 1024 * 1024,
  /** Bits of one integer. */
  bits: 1024 * 1024,
  /** Characters that are printed. At the end the same limit holds for the bytes. */
  output: 4 * 1024 * 1024,
  /** Levels of macros and recursive loops within each other. */
  depth: 150,
  /** Templates within each other, by `include`, `import` and `extends`. */
  nesting: 16,
  /** Names of other templates that one template uses, directly or not. */
  templates: 100,
} as const;

/** Counts how much one render uses. Each function throws when its limit is passed. */
export type Budget = {
  step(count?: number): void;
  /** Call this before a value of `size` characters or elements is made. */
  make(size: number | bigint): void;
  /** Checks that a growing value is not too large yet. `make` counts the parts of the value. */
  fits(size: number): void;
  /** Call this before an integer of `count` bits is made. */
  bits(count: number | bigint): void;
  print(characters: number): void;
  /** Does the work one level deeper. */
  deeper<T>(work: () => T): T;
};

/** Steps between two checks of the processor time. */
const looksEvery = 1000;

/** `startUsage`: processor time when the rendering began. */
export const newBudget = (startUsage = process.cpuUsage()): Budget => {
  let nextLook = looksEvery;
  let steps = 0;
  let made = 0;
  let printed = 0;
  let depth = 0;
  const look = (): void => {
    const { user, system } = process.cpuUsage(startUsage);
    if (user + system > 1000 * limits.processorMs)
      throw limitError(`Rendering takes longer than ${limits.processorMs} ms`);
  };
  const step = (count = 1): void => {
    steps += count;
    if (steps > limits.steps) throw limitError(`The template takes more than ${limits.steps} steps`);
    if (steps < nextLook) return;
    nextLook = steps + looksEvery;
    look();
  };
  const fits = (size: number | bigint): void => {
    if (size > limits.size)
      throw limitError(`The template makes a value of more than ${limits.size} characters or elements`);
  };
  return {
    step,
    fits,
    make: (size) => {
      fits(size);
      made += Number(size);
      if (made > limits.made)
        throw limitError(`The template makes values of more than ${limits.made} characters or elements in all`);
      if (size > 256) step(Number(size) >> 8);
    },
    bits: (count) => {
      if (count > limits.bits) throw limitError(`The template makes an integer of more than ${limits.bits} bits`);
      if (count > 1024) step(Number(count) >> 6);
    },
    print: (characters) => {
      printed += characters;
      if (printed > limits.output) throw limitError(`The template prints more than ${limits.output} characters`);
    },
    deeper: (work) => {
      if (depth >= limits.depth)
        throw limitError(`Macros and recursive loops are nested deeper than ${limits.depth} levels`);
      depth++;
      try {
        return work();
      } finally {
        depth--;
      }
    },
  };
};
