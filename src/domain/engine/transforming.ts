import type { Members } from '@automation-platform/json';

/** A transformation document to carry out. The same run has the same outcome each time. */
export type TransformationRun = {
  readonly document: unknown;
  readonly incoming: Members;
  /** The instant of the run, epoch milliseconds. */
  readonly now: number;
  /** The id of the run: it decides the numbers of chance. */
  readonly runId: string;
  /** An input that is missing is the default of its schema. */
  readonly revertToDefaultValue?: boolean;
};

/** The account whose turn a computation takes, and the signal that ends it. */
export type Evaluation = { readonly account: string; readonly signal: AbortSignal };

/**
 * The outputs of a transformation document: JSON of 8 MiB at most. Throws `unprocessable` with the reason if it fails,
 * `limited` when too many wait, and the signal's reason.
 */
export type Transform = (run: TransformationRun, evaluation: Evaluation) => Promise<Members>;
