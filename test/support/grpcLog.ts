import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type May, type Method, serveLog } from '@automation-platform/esdb-server';
import { RequestError } from '../../src/domain/engine/requestError.ts';
import { isReserved } from '../../src/domain/sources.ts';
import { readerPlaces } from '../../src/http/events/readerPlaces.ts';
import { authorityFile, ownCertificate } from '../../src/secrets/certificate.ts';
import { ensureIdentity } from '../../src/store/identity.ts';
import { leads } from '../../src/store/leads.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { passwordOf } from './accounts.ts';

/** Accounts of the tests, and what they may do. */
export const accounts: Readonly<Record<string, readonly Method[]>> = {
  node: ['readLog', 'writeLog', 'writeStreams'],
  writer: ['readLog', 'writeStreams'],
  reader: ['readLog'],
  nobody: [],
};

export type GrpcLog = {
  readonly store: SqliteStore;
  readonly port: number;
  readonly folder: string;
  readonly caFile: string;
  /** What bugs the server has reported. */
  readonly reported: unknown[];
  /** Connection string of an account, `node` unless named; with `discover` clients ask for the members first. */
  url(account?: string, password?: string): string;
  close(): Promise<void>;
};

type Options = {
  /** A folder that stays; without it a new one is made, and removed in the end. */
  readonly folder?: string;
  readonly port?: number;
  /** The platform's own streams; those of the category `thing`, `payload` and `log` unless it is given. */
  readonly own?: (stream: string) => boolean;
  readonly takingMs?: number;
  readonly authorize?: (authorization: string, address: string) => Promise<May>;
};

const byName = async (authorization: string): Promise<May> => {
  const [name, password] = Buffer.from(authorization.replace(/^basic /i, ''), 'base64')
    .toString()
    .split(':') as [string, string];
  if (!Object.hasOwn(accounts, name) || password !== passwordOf(name))
    throw new RequestError('unauthenticated', 'Wrong user name or password');
  return (method) => accounts[name]!.includes(method);
};

const ownCategories = new Set(['thing', 'payload', 'log']);

/** A log in SQLite that speaks EventStoreDB's protocol at a port of localhost. */
export const openGrpcLog = async (options: Options = {}): Promise<GrpcLog> => {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'grpc-')));
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  const reported: unknown[] = [];
  const authorize = options.authorize ?? byName;
  await ensureIdentity(store);
  const served = await serveLog({
    store,
    host: '127.0.0.1',
    port: options.port ?? 0,
    certificate: await ownCertificate(folder, 'localhost', () => undefined),
    reserved: isReserved,
    methods: [leads],
    own: options.own ?? ((stream) => ownCategories.has(stream.split('-', 1)[0]!) && stream.includes('-')),
    authorize: async (...credentials) => {
      await authorize(...credentials);
      return { account: credentials[0], rights: () => authorize(...credentials) };
    },
    places: readerPlaces({ perNode: 64 }),
    ...(options.takingMs !== undefined && { takingMs: options.takingMs }),
    report: (error) => reported.push(error),
  });
  const caFile = authorityFile(folder);
  return {
    store,
    port: served.port,
    folder,
    caFile,
    reported,
    url: (account = 'node', password = passwordOf(account)) =>
      `esdb://${account}:${encodeURIComponent(password)}@localhost:${served.port}?tlsCAFile=${encodeURIComponent(caFile)}`,
    close: async () => {
      await served.close();
      await store.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};
