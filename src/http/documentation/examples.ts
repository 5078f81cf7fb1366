import type { Code } from '../../domain/engine/requestError.ts';

/** The body of a failure. */
export type Failure = {
  readonly message: string;
  readonly data: null;
  readonly metadata: { readonly errors: readonly { readonly code: Code; readonly message: string }[] };
};

export type Failures = Readonly<Partial<Record<Code, Failure>>>;

/** One exchange of an operation with a node. Lists in it are cut to two members, long texts to their beginning. */
export type Example = {
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer?: unknown;
};

/**
 * What tests have recorded from a running node (`npm run golden` renews it). `examples` and `failures` go by method and
 * path of the operation, such as `GET /profiles/:id`; failures that are the same for every operation are under `*`.
 */
export type Recorded = {
  readonly examples: Readonly<Record<string, Example>>;
  readonly failures: Readonly<Record<string, Failures>>;
};

/** Read when the document is first asked for. */
export const readRecorded = async (): Promise<Recorded> => {
  const attributes = { with: { type: 'json' } } as const;
  const examples = (await import('./examples.json', attributes)).default as Recorded['examples'];
  const failures = (await import('./failures.json', attributes)).default as Recorded['failures'];
  return { examples, failures };
};
