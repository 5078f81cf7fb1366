/** A request of the sample. `keep` keeps something of the answer under a name, for later requests to use. */
export type Step = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly keep?: (answer: any) => Record<string, string>; // the answer of whatever route it is
};

/** Ids and the like that earlier answers gave. */
export type Kept = Readonly<Record<string, string>>;
