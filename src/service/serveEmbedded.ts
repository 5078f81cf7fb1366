import type { Log } from '../concurrency/log.ts';
import type { ReaderPlaces } from '../concurrency/readerPlaces.ts';
import type { Config } from '../config.ts';
import type { Authenticator } from '../http/authentication/authenticate.ts';
import type { OpenedLog } from '../store/open.ts';
import type { ServedLog } from './servedLog.ts';
import { blaming } from './startFaults.ts';

type Needs = {
  readonly config: Config;
  readonly opened: OpenedLog;
  readonly auth: Authenticator;
  readonly places: ReaderPlaces;
  readonly warn: Log;
};

/**
 * Serves the log to clients of EventStoreDB if the log is embedded and ESDB_PORT is set. gRPC takes long to load, so it
 * is loaded only then.
 */
export const serveEmbedded = async ({ config, opened, auth, places, warn }: Needs): Promise<ServedLog | undefined> => {
  const { ESDB_PORT: port, ESDB_HOST: host } = config;
  if (port === undefined || !('embedded' in opened)) return undefined;
  return blaming(`ESDB_PORT ${port} on ESDB_HOST ${host}`, async () => {
    const { servedLog } = await import('./servedLog.ts');
    return servedLog({ config, port, store: opened.embedded, auth, places, log: warn });
  });
};
