/** A request of the sample. `keep` stores parts of the answer under names, for later requests. */
export type Step = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly keep?: (answer: any) => Record<string, string>; // the answer of any route
  /** The member of the answer with the job that the request starts. The next request waits for its end. */
  readonly awaits?: string;
  /** True if it is never carried out twice: 503 once it was broken off, since nobody knows its outcome. */
  readonly isOnce?: boolean;
};

/** Values, such as ids, from earlier answers. */
export type Kept = Readonly<Record<string, string>>;

/** Makes a step. Those that happened `daysAgo` are the first ones. */
export type MakeStep = ((values: Kept) => Step) & { readonly daysAgo?: number };

/** The same step, a number of days ago. */
export const ago = (daysAgo: number, step: MakeStep): MakeStep =>
  Object.assign((values: Kept) => step(values), { daysAgo });

/** The days since the first checks of the lab. */
export const longAgo = 180;
