import type { Code } from '../../domain/engine/requestError.ts';

/** The body of an error. */
export type Failure = {
  readonly message: string;
  readonly data: null;
  readonly metadata: { readonly errors: readonly { readonly code: Code; readonly message: string }[] };
};

export type Failures = Readonly<Partial<Record<Code, Failure>>>;

/** One recorded request and answer of an operation. Lists are cut to two members, long texts to their beginning. */
export type Example = {
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer?: unknown;
};

/**
 * Examples that tests have recorded from a running node (`npm run golden` renews them). The keys of `examples` and
 * `failures` are method and path of the operation, such as `GET /profiles/:id`. Errors that are the same for every
 * operation are under `*`.
 */
export type Recorded = {
  readonly examples: Readonly<Record<string, Example>>;
  readonly failures: Readonly<Record<string, Failures>>;
};

/** Reads the examples; called when the API document is first requested. */
export const readRecorded = async (): Promise<Recorded> => {
  const attributes = { with: { type: 'json' } } as const;
  const examples = (await import('./examples.json', attributes)).default as Recorded['examples'];
  const failures = (await import('./failures.json', attributes)).default as Recorded['failures'];
  return { examples, failures };
};
