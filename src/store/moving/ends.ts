import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openRemoteToCopy } from '../open.ts';
import { lockFolder } from '../sqlite/log.ts';
import { refuseShorter } from '../sqlite/shorter.ts';
import { openSqliteReader, openSqliteStore } from '../sqlite/store.ts';
import type { LogUrl } from '../url.ts';
import type { CopyEnd } from './appends.ts';

/** An open log that is copied, or copied to. */
export type OpenEnd = CopyEnd & { close(): Promise<void> };

/** Gets messages when the connection to EventStoreDB is lost and when it is back. */
type Log = (message: string) => void;

/** Opens the log at a URL to copy to it. It may hold events of any size, because the source may have another limit. */
export const openTarget = async (at: LogUrl, log: Log): Promise<OpenEnd> =>
  'url' in at ? openRemoteToCopy({ url: at.url, log }) : openSqliteStore(at, { anySize: true });

/**
 * Opens the log at a URL to copy it. A file is locked, so that nobody writes to it meanwhile. EventStoreDB cannot be
 * locked. `target` locks its own folder.
 */
export const openSource = async (at: LogUrl, target: LogUrl, log: Log): Promise<OpenEnd> => {
  if ('url' in at) return openRemoteToCopy({ url: at.url, log });
  if (!existsSync(at.file)) throw new Error(`There is no log at ${at.file}`);
  const isLocked = 'file' in target && dirname(target.file) === dirname(at.file);
  const unlock = isLocked ? () => undefined : lockFolder(at.file);
  try {
    await refuseShorter(at.file, []);
    const store = await openSqliteReader(at.file);
    return {
      ...store,
      close: async () => {
        await store.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
};
