/** The bounds of one run, and of a plan. */
export const limits = {
  /** Steps that are computed, and calls of functions. */
  steps: 100_000,
  /** Functions within each other. */
  depth: 16,
  /** Characters of a text, members of a list or an object, and characters of what goes out as JSON. */
  size: 8 * 1024 * 1024,
  /** Characters and members that all steps together make or look at. */
  work: 64 * 1024 * 1024,
  /** Instructions of the patterns of a document that its plan tries. */
  patterns: 20_000,
  /** Levels of a value. */
  levels: 1000,
} as const;

/** Why a step fails. */
export class Failure extends Error {}

export const fail = (why: string): never => {
  throw new Failure(why);
};

export type Budget = {
  /** Counts one step. */
  readonly step: () => void;
  /** Counts characters and members, before they are made. */
  readonly spend: (size: number) => void;
  /** Counts a text, a list or an object that a step makes, before it is made. */
  readonly make: (size: number) => void;
};

export const newBudget = (): Budget => {
  let [steps, work] = [0, 0];
  const spend = (size: number): void => {
    work += size;
    if (work > limits.work) fail(`A run makes ${limits.work} characters and members at most`);
  };
  return {
    step: () => {
      steps += 1;
      if (steps > limits.steps) fail(`A run takes ${limits.steps} steps at most`);
    },
    spend,
    make: (size) => {
      if (!(size <= limits.size)) fail(`A result has ${limits.size} characters or members at most`);
      spend(size);
    },
  };
};
