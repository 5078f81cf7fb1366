/** A request of the sample. `keep` stores parts of the answer under names, for later requests. */
export type Step = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly keep?: (answer: any) => Record<string, string>; // the answer of any route
};

/** Values, such as ids, from earlier answers. */
export type Kept = Readonly<Record<string, string>>;
