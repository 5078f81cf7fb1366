import {
  type Appended,
  type Batch,
  type Filter,
  maxAppend,
  maxEvent,
  type NewEvent,
  type StoredEvent,
  sizeFault,
  WrongRevision,
} from '@automation-platform/event-log';
import { RequestError } from '../domain/engine/requestError.ts';

export { type Appended, type Batch, type Filter, maxAppend, maxEvent, type NewEvent, type StoredEvent, WrongRevision };

/**
 * Another program deleted the stream, cut off its first events, or wrote to it, as users of EventStoreDB can. The rest of
 * the stream shows neither the state of the resource nor whether it exists.
 */
export class TamperedStream extends Error {
  readonly stream: string;
  constructor(stream: string, what: string) {
    super(`Stream ${stream} ${what}`);
    this.name = 'TamperedStream';
    this.stream = stream;
  }
}

/**
 * The log. Every adapter passes `test/support/store.contract.ts`.
 *
 * Failures: `WrongRevision`, `TamperedStream`, or `RequestError('unavailable')` when the log cannot be reached or the
 * disk fails. An append that failed as unavailable may still be stored, unless the message says otherwise. A repetition
 * with the same ids settles its outcome.
 */
export type EventStore = {
  /** Tells two logs apart. The id is made with the log and never changes. */
  readonly id: string;
  /**
   * Stores all events or none, acknowledged only when durable. `expected` is the revision the stream must be at, -1
   * when it must not exist. Repeating an append that was stored (same ids at those revisions) succeeds with its result.
   * There is at least one event.
   */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>;
  /** A stream's events from a revision on, in order, some at a time. */
  read(stream: string, from?: number): AsyncIterable<readonly StoredEvent[]>;
  /**
   * The events of all streams of a category up to a position, stream by stream, each in order, some at a time.
   * Undefined if the log cannot find them without reading everything.
   */
  readonly readCategory?: (category: string, until: number) => AsyncIterable<readonly StoredEvent[]>;
  /**
   * Everything after a position, some at a time, up to the newest event at the time of the call or a moment later. Then
   * it ends.
   */
  readAll(after: number, filter?: Filter): AsyncIterable<Batch>;
  /**
   * The same as `readAll`, then every new event. When the signal aborts, it ends without an error. Delivers only
   * durable events.
   */
  follow(after: number, filter: Filter | undefined, signal: AbortSignal): AsyncIterable<Batch>;
  /** The event at exactly this position, if there is one. */
  at(position: number): Promise<StoredEvent | undefined>;
  /** Position of the newest durable event; 0 when the log is empty. */
  head(): Promise<number>;
  /** The position that the reader of this name has set last; undefined without one. */
  checkpoint(name: string): Promise<number | undefined>;
  /** The positions of all checkpoints whose names begin with `<reader>:`, by the whole name. */
  checkpointsOf(reader: string): Promise<ReadonlyMap<string, number>>;
  /** Resolves when the position is durable. */
  setCheckpoint(name: string, position: number): Promise<void>;
  /** Removes a checkpoint if there is one. Resolves when the removal is durable. */
  removeCheckpoint(name: string): Promise<void>;
  /**
   * Reads a checkpoint of a reader of which one process at a time should be at work. A node that has taken or kept it before
   * can keep it no more.
   */
  takeCheckpoint(name: string): Promise<number | undefined>;
  /**
   * Sets a checkpoint, or removes it (undefined), for the process that has taken or kept it last; also for any process
   * that has done neither. Throws `WrongRevision` if another has taken, kept, set or removed it since; then nothing
   * happens.
   */
  keepCheckpoint(name: string, position: number | undefined): Promise<void>;
  /** The reason while appends are refused, such as an I/O error or a full disk. Reads go on. */
  fault(): string | undefined;
  /** False while the log cannot be reached. */
  connected(): boolean;
  /** Finishes appends under way, refuses new ones, ends follows. */
  close(): Promise<void>;
};

/** A log for those who only read it from its beginning to its end. */
export type LogReads = Pick<EventStore, 'head' | 'read' | 'readAll' | 'readCategory'>;

/** A log that is copied, exported or signed as a whole: no node works on it. */
export type WholeLog = LogReads &
  Pick<EventStore, 'id' | 'append' | 'checkpoint' | 'checkpointsOf' | 'setCheckpoint' | 'removeCheckpoint'>;

/**
 * Throws when an append is empty or too large. EventStoreDB refuses appends over 1 MiB. Every adapter has the same
 * limits, so that logs can be moved.
 */
export const checkSize = (events: readonly NewEvent[]): void => {
  if (events.length === 0) throw new RangeError('An append stores at least one event');
  const fault = sizeFault(events);
  if (fault) throw new RequestError('too_large', fault.message);
};
