import type { EventStoreDb } from './eventstoredb.ts';
import type { openEventStoreDbToCopy } from './eventstoredbCopy.ts';
import type { EventStore } from './port.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from './sqlite.ts';
import type { Seen } from './sqliteShorter.ts';
import type { LogUrl } from './url.ts';

type Told = (message: string, about: Record<string, unknown>) => void;

/**
 * Opens a log in EventStoreDB. Its packages are imported only here, because they take longer to load than everything
 * else, and most logs are files.
 */
export const openRemote = async (url: string, log: Told): Promise<EventStoreDb> =>
  (await import('./eventstoredb.ts')).openEventStoreDb({ url, log });

/** Opens a log in EventStoreDB as one end of a copy. */
export const openRemoteToCopy: typeof openEventStoreDbToCopy = async (options) =>
  (await import('./eventstoredbCopy.ts')).openEventStoreDbToCopy(options);

/** A log and its kind. */
export type OpenedLog = { readonly embedded: SqliteStore } | { readonly remote: EventStoreDb };

/**
 * Opens the log at a URL. `log` gets messages about lost connections and other faults. A log in a file must have the
 * events that others have `seen` in it.
 */
export const openLog = async (at: LogUrl, log: Told, seen: readonly Seen[] = []): Promise<OpenedLog> =>
  'file' in at ? { embedded: await openSqliteStore(at, { seen, log }) } : { remote: await openRemote(at.url, log) };

/** Opens the log at a URL for reading only, also while another process writes to the file. */
export const openLogToRead = (at: LogUrl, log: Told): Promise<EventStore> =>
  'file' in at ? openSqliteReader(at.file) : openRemote(at.url, log);
