import type { Log } from '@automation-platform/concurrency';
import { defined } from '../domain/engine/defined.ts';
import type { openEventStoreDbToCopy } from './eventstoredb/copy.ts';
import type { EventStoreDb } from './eventstoredb/store.ts';
import type { EventStore } from './port.ts';
import type { Seen } from './sqlite/shorter.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from './sqlite/store.ts';
import type { LogUrl } from './url.ts';

/**
 * Opens a log in EventStoreDB. Its packages are imported only here, because they take longer to load than everything
 * else, and most logs are files.
 */
export const openRemote = async (url: string, log: Log, waits?: AbortSignal): Promise<EventStoreDb> =>
  (await import('./eventstoredb/store.ts')).openEventStoreDb({ url, log, ...defined({ waits }) });

/** Opens a log in EventStoreDB as one end of a copy. */
export const openRemoteToCopy: typeof openEventStoreDbToCopy = async (options) =>
  (await import('./eventstoredb/copy.ts')).openEventStoreDbToCopy(options);

/** A log and its kind. */
export type OpenedLog = { readonly embedded: SqliteStore } | { readonly remote: EventStoreDb };

type Opening = {
  /** Events that readers, such as snapshots, have seen in a log in a file. It must have them. */
  readonly seen: readonly Seen[];
  /** Until it aborts, a log in EventStoreDB that answers slowly is waited for. */
  readonly waits: AbortSignal;
};

/** Opens the log at a URL. `log` gets messages about lost connections and other faults. */
export const openLog = async (at: LogUrl, log: Log, { seen, waits }: Opening): Promise<OpenedLog> =>
  'file' in at
    ? { embedded: await openSqliteStore(at, { seen, log }) }
    : { remote: await openRemote(at.url, log, waits) };

/** Opens the log at a URL for reading only, also while another process writes to the file. */
export const openLogToRead = (at: LogUrl, log: Log): Promise<EventStore> =>
  'file' in at ? openSqliteReader(at.file) : openRemote(at.url, log);
