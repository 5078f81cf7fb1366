import { identityStream, isForeign } from '@automation-platform/event-log';
import { type Metadata, splitStream } from '../event.ts';
import type { StoredEvent } from '../port.ts';
import type { Connection } from '../sqlite/log.ts';

/** An event with its metadata. They are undefined for events of other programs, parts of payloads, and the log's identity. */
export type Indexed = { readonly event: StoredEvent; readonly metadata: Metadata | undefined };

/** Some tables of the audit index. */
export type Indexer = {
  /** The statements that make the tables. Another text than before makes the whole index anew. */
  readonly schema: string;
  readonly writer: (db: Connection) => Writer;
};

/** Collects what the tables of an indexer keep of some events, and writes it. */
type Writer = {
  /** Forgets what was collected. The next events follow this position. */
  readonly begin: (after: number) => void;
  /** Takes an event: each once, in the order of the log. It keeps no part of the event, since there may be thousands. */
  readonly take: (event: Indexed) => void;
  /** Writes what was collected; within a transaction. */
  readonly write: () => void;
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
