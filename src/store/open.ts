import type { EventStoreDb } from './eventstoredb.ts';
import type { openEventStoreDbToCopy } from './eventstoredbCopy.ts';
import type { EventStore } from './port.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from './sqlite.ts';
import type { Seen } from './sqliteShorter.ts';
import type { LogUrl } from './url.ts';

type Told = (message: string, about: Record<string, unknown>) => void;

/**
 * Opens a log in EventStoreDB. Its packages take longer to load than all the rest, and most logs are files: only now.
 */
export const openRemote = async (url: string, log: Told): Promise<EventStoreDb> =>
  (await import('./eventstoredb.ts')).openEventStoreDb({ url, log });

/** The same as one end of a copy. */
export const openRemoteToCopy: typeof openEventStoreDbToCopy = async (options) =>
  (await import('./eventstoredbCopy.ts')).openEventStoreDbToCopy(options);

/** A log and its kind. */
export type OpenedLog = { readonly embedded: SqliteStore } | { readonly remote: EventStoreDb };

/**
 * Opens the log at a URL. `log` hears when the connection is lost and found. A log in a file must have what others
 * have `seen` in it.
 */
export const openLog = async (at: LogUrl, log: Told, seen: readonly Seen[] = []): Promise<OpenedLog> =>
  'file' in at ? { embedded: await openSqliteStore(at, { seen, log }) } : { remote: await openRemote(at.url, log) };

/** The same for reading alone: also while another process writes to the file. */
export const openLogToRead = (at: LogUrl, log: Told): Promise<EventStore> =>
  'file' in at ? openSqliteReader(at.file) : openRemote(at.url, log);
