import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Authenticator } from './http/authenticate.ts';
import { mayLog } from './http/methods.ts';
import { isOwnStream } from './ownStreams.ts';
import { everywhere, ownCertificate } from './store/grpc/certificate.ts';
import { serveLog } from './store/grpc/server.ts';
import type { SqliteStore } from './store/sqlite.ts';

const loopback = new Set(['127.0.0.1', '::1']);

type Needs = {
  readonly config: Config;
  readonly port: number;
  readonly store: SqliteStore;
  readonly auth: Authenticator;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/**
 * Serves the embedded log to clients of EventStoreDB, whoever they are: with TLS, to accounts whose roles have the methods
 * of the log. `url` is what they connect to, without user and password.
 */
export const servedLog = async ({ config, port, store, auth, log }: Needs): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, ESDB_HOST: host, DATA_DIR: folder } = config;
  const given = certFile !== undefined && keyFile !== undefined;
  const certificate = given ? { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') } : await ownCertificate(folder, host);
  const advertise = everywhere.has(host) ? hostname() : loopback.has(host) ? 'localhost' : host;
  const served = await serveLog({
    store, host, port, certificate, advertise, log,
    own: isOwnStream,
    authorize: async (authorization, address) => {
      const principal = await auth.authenticate({ authorization, cookie: undefined, address });
      return (method) => mayLog(principal, method);
    },
  });
  return { url: `esdb://${advertise}:${served.port}${given ? '' : `?tlsCAFile=${join(folder, 'esdb-certificate.pem')}`}`, close: served.close };
};
