/** One document as the read models keep it. */
export type Entry = {
  readonly id: string;
  /** The document as the JSON text that is sent. */
  readonly text: string;
  /** Revision of the document's stream. */
  readonly revision: number;
  /** The value of each sort field of the collection. */
  readonly sorts: Readonly<Record<string, string>>;
  /** The values of each filter field; a field that is a list has several. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** The key by which `may` of a query decides who may read; undefined: everybody. */
  readonly guard?: string;
};

/**
 * A document is written (`entry`) or removed (no `entry`). `wholePart`: all documents of the part with this id are
 * removed.
 */
export type Change = {
  readonly collection: string;
  readonly id: string;
  readonly entry?: Entry;
  readonly wholePart?: true;
};

/**
 * The position of the read models, and the id of the event there. The id tells whether a log is the one that they were
 * made from. It is '' if no projected event is at the position.
 */
export type Checkpoint = { readonly position: number; readonly event: string };

/**
 * `equals` is exact; `startsWith` and `contains` ignore case (both sides are lower-cased). A field that is a list
 * matches when one of its values does.
 */
export type Where<Filter extends string = string> =
  | { readonly field: Filter; readonly op: 'equals' | 'startsWith' | 'contains'; readonly value: string }
  | { readonly all: readonly Where<Filter>[] }
  | { readonly any: readonly Where<Filter>[] };

export type Query<Sort extends string = string, Filter extends string = string> = {
  /** The part to list, in a collection that is kept in parts. Such a collection can only be listed by part. */
  readonly part?: string;
  readonly where?: Where<Filter>;
  /** A sort field of the collection. The order is by lower-cased value, then value, then id, each by UTF-8 bytes. */
  readonly sort: Sort;
  readonly order: 1 | -1;
  readonly skip: number;
  readonly limit: number;
  /** Called once for each distinct guard in a query. Entries whose guard it refuses are neither listed nor counted. */
  readonly may?: (guard: string) => boolean;
};

export type Page = { readonly entries: readonly Pick<Entry, 'id' | 'text' | 'revision'>[]; readonly total: number };

/**
 * How long the leadership lasts if it is not renewed, in milliseconds. After the leader is killed, the read models
 * stand still for that time.
 */
export const leaseMs = 3000;

/** The part of a turn of the event loop that read models have. Longer than that of decisions: commands and reads wait for them. */
export const partOfTurnMs = 5;

/** A collection's fixed properties, known before the first document arrives. */
export type CollectionSpec = {
  readonly name: string;
  readonly sorts: readonly string[];
  readonly filters: readonly string[];
  /**
   * Ids are `<part>/<name>`; a part contains no slash. Each part is listed on its own and can be removed in one step.
   * `idsNamed` throws for such a collection.
   */
  readonly partitioned?: true;
};

/** The part of the read store that answers read. */
export type ReadModel = Pick<ReadStore, 'get' | 'getMany' | 'idsNamed' | 'list' | 'guard' | 'version'>;

/**
 * The read store. Every adapter passes `test/support/readStore.contract.ts`.
 *
 * A read never answers from a state older than the last `apply`, `catchUp` or `resume` of this object that succeeded.
 * If the store cannot do that now (gone, emptied, behind, foreign), the read throws `RequestError('unavailable')` and
 * calls `onLost`, and the runner calls `resume` again. One runner makes those three calls, never two at the same time.
 * A store that starts over resumes at an older state. Until the runner has brought it up to the position of `onProjected`,
 * reads throw `RequestError('unavailable')`.
 *
 * Several processes may share a store. One at a time leads; only the leader may write.
 */
export type ReadStore = {
  /**
   * Loads the stored state, again if need be. Position 0 means that the store is empty, and that all earlier state is
   * forgotten.
   */
  resume(): Promise<Checkpoint>;
  /** Takes over the changes that another process has written since the last call. */
  catchUp(): Promise<Checkpoint>;
  /**
   * Takes the leadership if nobody has it, or keeps it, for `leaseMs` from now. Resolves to true if this process leads.
   */
  takeLeadership(): Promise<boolean>;
  /** Gives the leadership up at once, if this process has it. */
  resign(): Promise<void>;
  /**
   * Writes documents and checkpoint in one atomic step, if this process leads and the checkpoint is at `from`.
   * Otherwise it writes nothing and resolves to false.
   */
  apply(changes: readonly Change[], from: number, to: Checkpoint): Promise<boolean>;
  /**
   * Puts documents right at the present checkpoint, in one atomic step, if this process leads; else throws. Only
   * documents that differ from the log are put right, so that every position still stands for one state of the log.
   */
  mend(changes: readonly Change[]): Promise<void>;
  /** The ids of all documents of a collection, or of a part of it. */
  ids(collection: string, part?: string): Iterable<string>;
  /** Removes everything; afterwards the checkpoint is at 0. */
  clear(): Promise<void>;
  get(collection: string, id: string): Promise<Entry | undefined>;
  /** Several documents in one step; undefined for an id without a document. */
  getMany(collection: string, ids: readonly string[]): Promise<readonly (Entry | undefined)[]>;
  /** Ids of the documents whose first sort field (the name) is exactly this, in order. */
  idsNamed(collection: string, name: string): Promise<readonly string[]>;
  list(collection: string, query: Query): Promise<Page>;
  /** From now on no read may answer from a state before this position, because readers rely on its being shown. */
  onProjected(position: number): void;
  /** Reads for the runner. They ignore `onProjected`, because the runner goes on from the store's own state. */
  readonly forRunner: Pick<ReadStore, 'get' | 'list'>;
  /** The document's current guard; undefined: no such document; null: everybody may read. */
  guard(collection: string, id: string): string | null | undefined;
  /**
   * Grows whenever a document of the collection changes. An answer may be kept as long as the version stays the same.
   */
  version(collection: string): number;
  /** Calls the listener when the store has lost its state while running. */
  onLost(listener: () => void): void;
  /** Calls the listener when another process may have written something or given up the leadership. */
  onMoved(listener: () => void): void;
  close(): Promise<void>;
};
