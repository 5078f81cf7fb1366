import type { Appended, Batch, Filter, NewEvent, StoredEvent } from '@automation-platform/event-log';

/** An event without its content. */
type Heading = Pick<StoredEvent, 'revision' | 'position' | 'id' | 'type'>;

/**
 * The log that is served. Events, revisions and positions are those of `@automation-platform/event-log`. Where it fails, an
 * error may have a `code` that callers get to see: `unavailable`, `invalid`, `limited`, `unauthenticated` or `forbidden`.
 */
export type LogToServe = {
  /** A UUID. Clients get it as the id of the one member of the cluster. */
  readonly id: string;
  /**
   * Stores all events or none. Throws `WrongRevision` unless the stream is at the expected revision; -1: it has no event.
   * Repeating an append that was stored (same ids at those revisions) succeeds with its result.
   */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>;
  /** Position of the newest event; 0 when the log is empty. */
  head(): Promise<number>;
  /** The event at exactly this position, if there is one. */
  at(position: number): Promise<StoredEvent | undefined>;
  /** A stream's newest events without their content, the newest first. */
  newest(stream: string, count: number): Promise<readonly Heading[]>;
  /** A stream's events from a revision on, some at a time. */
  read(stream: string, from?: number): AsyncIterable<readonly StoredEvent[]>;
  /** A stream's events from a revision down, some at a time. */
  readBack(stream: string, from: number): AsyncIterable<readonly StoredEvent[]>;
  /** Everything after a position, some at a time. Then it ends. */
  readAll(after: number, filter?: Filter): AsyncIterable<Batch>;
  /** Everything before a position, the newest first, some at a time. */
  readAllBack(before: number): AsyncIterable<readonly StoredEvent[]>;
  /** The same as `readAll`, then every new event, until the signal aborts. */
  follow(after: number, filter: Filter | undefined, signal: AbortSignal): AsyncIterable<Batch>;
};
