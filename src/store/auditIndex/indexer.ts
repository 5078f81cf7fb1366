import { identityStream, isForeign } from '@automation-platform/event-log';
import { type Metadata, splitStream } from '../event.ts';
import type { StoredEvent } from '../port.ts';
import type { Connection } from '../sqlite/log.ts';

/** An event with its metadata. They are undefined for events of others, parts of payloads, and the log's identity. */
export type Indexed = { readonly event: StoredEvent; readonly metadata: Metadata | undefined };

/** Some tables of the audit index. */
export type Indexer = {
  /** The statements that make the tables. Another text than before makes the whole index anew. */
  readonly schema: string;
  /**
   * Makes the function that writes what the tables keep of the events that follow `after`. It runs in a transaction,
   * with events in the order of the log, each once.
   */
  readonly writer: (db: Connection) => (events: readonly Indexed[], after: number) => void;
};

/** The event with its metadata, parsed once for all tables. Never throws. */
export const indexed = (event: StoredEvent): Indexed => {
  if (isForeign(event) || event.stream === identityStream || splitStream(event.stream).category === 'payload')
    return { event, metadata: undefined };
  try {
    const metadata = JSON.parse(event.metadata) as Metadata | null;
    return { event, metadata: typeof metadata?.at === 'string' ? metadata : undefined };
  } catch {
    return { event, metadata: undefined };
  }
};

/** The time of an event in milliseconds; undefined for events that have none. */
export const timeOf = ({ metadata }: Indexed): number | undefined => {
  const time = metadata ? Date.parse(metadata.at) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};
