import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import type { Log } from '@automation-platform/concurrency';
import { type Method, serveLog } from '@automation-platform/esdb-server';
import type { Config } from '../config.ts';
import { isReserved } from '../domain/sources.ts';
import { isOwnStream } from '../events/ownStreams.ts';
import type { Authenticator } from '../http/authentication/authenticate.ts';
import { mayLog } from '../http/authorization/methods.ts';
import type { ReaderPlaces } from '../http/events/readerPlaces.ts';
import { authorityFile, everywhere, ownCertificate } from '../secrets/certificate.ts';
import { ensureIdentity } from '../store/identity.ts';
import { leads } from '../store/leads.ts';
import type { SqliteStore } from '../store/sqlite/store.ts';

const loopback = new Set(['127.0.0.1', '::1']);
/** Addresses by which this machine reaches a server that listens on all addresses. */
const loopbackOf = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

type Needs = {
  readonly config: Config;
  readonly port: number;
  readonly store: SqliteStore;
  readonly auth: Authenticator;
  readonly places: ReaderPlaces;
  readonly log: Log;
  readonly now: () => number;
};

export type ServedLog = {
  /** The URL to which clients connect, without user and password. */
  readonly url: string;
  /** Resolves to true if the port accepts connections now. */
  readonly listens: () => Promise<boolean>;
  readonly close: () => Promise<void>;
};

/** The host that clients are told to connect to. */
const advertisedAs = (host: string): string => {
  if (everywhere.has(host)) return hostname();
  return loopback.has(host) ? 'localhost' : host;
};

/** Throws the system's own error if the port cannot be opened, because the error of gRPC has no code. */
const checkFree = async (port: number, host: string): Promise<void> => {
  const probe = createServer().listen(port, host);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
};

/**
 * Serves the embedded log to clients of EventStoreDB, with TLS, for accounts whose roles have the methods of the log.
 */
export const servedLog = async ({ config, port, store, auth, places, log, now }: Needs): Promise<ServedLog> => {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, ESDB_HOST: host, DATA_DIR: folder } = config;
  const hasFiles = certFile !== undefined && keyFile !== undefined;
  const certificate = hasFiles
    ? { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
    : await ownCertificate(folder, host, log);
  if (port !== 0) await checkFree(port, host);
  const advertise = advertisedAs(host);
  await ensureIdentity(store, now);
  const served = await serveLog({
    store,
    host,
    port,
    certificate,
    advertise,
    places,
    report: (error) => log('gRPC call failed', { err: error }),
    own: isOwnStream,
    reserved: isReserved,
    methods: [leads],
    authorize: async (authorization, address) => {
      const caller = await auth.byBasic(authorization, address);
      const rights = async () => {
        const { principal } = await auth.again(caller);
        return (method: Method) => mayLog(principal, method);
      };
      return { account: caller.principal.actor.id, rights };
    },
  });
  const query = hasFiles ? '' : `?tlsCAFile=${authorityFile(folder)}`;
  return {
    url: `esdb://${advertise}:${served.port}${query}`,
    listens: () => listens(loopbackOf.get(host) ?? host, served.port),
    close: served.close,
  };
};

const patienceMs = 1000;

/** True if a server accepts connections at a host and port. */
export const listens = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: patienceMs });
    const answer = (isOwn: boolean) => () => {
      socket.destroy();
      resolve(isOwn);
    };
    socket.once('connect', answer(true)).once('timeout', answer(false)).once('error', answer(false));
  });
