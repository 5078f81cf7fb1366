/** What the read models keep of one document. */
export type Entry = {
  readonly id: string;
  /** The document as the JSON text it is served as. */
  readonly text: string;
  /** Revision of the document's stream. */
  readonly revision: number;
  /** Value per sort field of the collection; every entry has all of them. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Values per filter field; a list-valued field has several. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** Who may read, as a key that `may` of a query is asked about; undefined: everybody. */
  readonly guard?: string;
};

/**
 * A document written (entry) or removed (no entry); `wholePart`: all documents of the part with this id are removed.
 */
export type Change = {
  readonly collection: string;
  readonly id: string;
  readonly entry?: Entry;
  readonly wholePart?: true;
};

/**
 * Up to where the read models are, and the id of the event there: tells whether a log is the one they came from. ''
 * where the position is that of no event which was projected.
 */
export type Checkpoint = { readonly position: number; readonly event: string };

/**
 * equals is exact; startsWith and contains ignore case (both sides lower-cased). A list-valued field matches when one
 * value does.
 */
export type Where<Filter extends string = string> =
  | { readonly field: Filter; readonly op: 'equals' | 'startsWith' | 'contains'; readonly value: string }
  | { readonly all: readonly Where<Filter>[] }
  | { readonly any: readonly Where<Filter>[] };

export type Query<Sort extends string = string, Filter extends string = string> = {
  /** Which part, in a collection that is kept in parts; nothing else can be asked of such a one. */
  readonly part?: string;
  readonly where?: Where<Filter>;
  /** A sort field of the collection. Order: lower-cased value, then value, then id, each by UTF-8 bytes. */
  readonly sort: Sort;
  readonly order: 1 | -1;
  readonly skip: number;
  readonly limit: number;
  /** Asked once per distinct guard and query; entries whose guard it refuses are neither listed nor counted. */
  readonly may?: (guard: string) => boolean;
};

export type Page = { readonly entries: readonly Pick<Entry, 'id' | 'text' | 'revision'>[]; readonly total: number };

/**
 * How long leadership lasts that is not renewed: so long the read models stand still when the process that leads is
 * killed.
 */
export const leaseMs = 3000;

/** A collection's fixed properties, known before the first document arrives. */
export type CollectionSpec = {
  readonly name: string;
  readonly sorts: readonly string[];
  readonly filters: readonly string[];
  /**
   * Ids are `<part>/<name>`, the part without a slash: each part is listed as if it were alone, and goes at once. Names
   * are found in no part (`idsNamed`).
   */
  readonly partitioned?: true;
};

/**
 * The read models. Every adapter passes `test/readStore.contract.ts`.
 *
 * A read never answers from a state older than the last `apply`, `catchUp` or `resume` that this object has seen
 * succeed; when the store cannot do that now (gone, emptied, behind, foreign), it throws `RequestError('unavailable')`
 * and calls `onLost`, and the runner calls `resume` again. Those three are called by one runner, never at the same
 * time. A store that starts over resumes at an older state than it was at: until the runner has brought it as far as
 * `shown` said, reads throw `RequestError('unavailable')`.
 *
 * Several processes may share a store: one at a time leads, which means that it alone may write.
 */
export type ReadStore = {
  /** Loads what is there, again if need be. Position 0 means nothing is, and everything before is forgotten. */
  resume(): Promise<Checkpoint>;
  /** Takes over what another process has written since. */
  catchUp(): Promise<Checkpoint>;
  /** Takes the leadership if nobody has it, or keeps it, for `leaseMs` from now: whether this process has it. */
  takeLeadership(): Promise<boolean>;
  /** Gives the leadership up at once, if it is had. */
  resign(): Promise<void>;
  /**
   * Writes documents and checkpoint in one atomic step, only if it leads and the checkpoint is at `from`; else false
   * and nothing written.
   */
  apply(changes: readonly Change[], from: number, to: Checkpoint): Promise<boolean>;
  /** Removes everything; afterwards the checkpoint is at 0. */
  clear(): Promise<void>;
  get(collection: string, id: string): Promise<Entry | undefined>;
  /** Several documents in one step; undefined where there is none. */
  getMany(collection: string, ids: readonly string[]): Promise<readonly (Entry | undefined)[]>;
  /** Ids of the documents whose first sort field (the name) is exactly this, in order. */
  idsNamed(collection: string, name: string): Promise<readonly string[]>;
  list(collection: string, query: Query): Promise<Page>;
  /** No read may answer from a state before this position any more: others rely on its being shown. */
  shown(position: number): void;
  /** Reads for the runner, which goes on from where the store is, though more was shown before. */
  readonly forRunner: Pick<ReadStore, 'get' | 'list'>;
  /** The document's guard as of now. `undefined`: no such document; null: everybody may read. */
  guard(collection: string, id: string): string | null | undefined;
  /** Grows whenever a document of the collection changes: answers made from one version may be kept for it. */
  version(collection: string): number;
  /** What is asked when the store has lost its state while running. */
  onLost(listener: () => void): void;
  /** Told when another process may have written something, or has given up the leadership. */
  onMoved(listener: () => void): void;
  close(): Promise<void>;
};
