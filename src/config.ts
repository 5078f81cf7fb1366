import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { decoded } from '@automation-platform/json';
import { keysInPem, type SigningKey } from '@automation-platform/log-proof';
import { everySource, type ForeignSources } from './domain/sources.ts';
import { keyOf } from './secrets/secrets.ts';
import { blockList } from './southbound/addresses.ts';
import type { Allowed } from './southbound/outbound.ts';
import type { AnchorAt } from './store/anchor.ts';
import type { KeySource } from './store/signingKeys.ts';
import { type LogUrl, logUrl, logUrlForms } from './store/url.ts';

/** Paths of PEM files: a certificate chain, and the private key of its first certificate. */
type TlsFiles = { readonly certFile: string; readonly keyFile: string };

const read = <T>(name: string, file: string, parse: (pem: string) => T, what: string): T => {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${name} names a file that cannot be read: ${file}`, { cause });
  }
  try {
    return parse(pem);
  } catch (cause) {
    throw new Error(`${name} names a file that is no ${what}: ${file}`, { cause });
  }
};

/** Throws an Error if HTTPS cannot be served with these files. Its message begins with the setting's name. */
const checkTlsFiles = ({ certFile, keyFile }: TlsFiles): void => {
  const certificate = read('TLS_CERT_FILE', certFile, (pem) => new X509Certificate(pem), 'PEM certificate');
  const key = read(
    'TLS_KEY_FILE',
    keyFile,
    (pem): KeyObject => createPrivateKey(pem),
    'PEM private key without a passphrase',
  );
  if (!certificate.checkPrivateKey(key))
    throw new Error(`TLS_KEY_FILE is not the key of TLS_CERT_FILE: ${keyFile}, ${certFile}`);
  // Only this call reads the rest of the chain.
  read(
    'TLS_CERT_FILE',
    certFile,
    (cert) => createSecureContext({ cert, key: readFileSync(keyFile) }),
    'PEM certificate chain',
  );
};

/**
 * One setting of the environment: its meaning, its default as help shows it, and the function that reads its text (an
 * error is a sentence).
 */
type Setting<T> = {
  readonly about: string;
  readonly presetText: string;
  readonly read: (text: string | undefined, env: NodeJS.ProcessEnv) => T;
};

const setting = <T>(about: string, presetText: string, read: Setting<T>['read']): Setting<T> => ({
  about,
  presetText,
  read,
});

const text = (about: string, preset: string) => setting(about, preset, (text) => text ?? preset);

const integer = (about: string, preset: number, least: number, most: number) =>
  setting(about, String(preset), (text) => {
    if (text === undefined) return preset;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`must be an integer from ${least} to ${most}`);
    return value;
  });

const number = (about: string, preset: number, most: number) =>
  setting(about, String(preset), (text) => {
    if (text === undefined) return preset;
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value > most) throw new Error(`must be a number from 0 to ${most}`);
    return value;
  });

const oneOf = <const T extends string>(about: string, presetText: string, values: readonly T[]) =>
  setting(about, presetText, (text) => {
    const value = values.find((v) => v === text);
    if (text !== undefined && value === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return value;
  });

const file = (about: string) =>
  setting(about, '', (text) => {
    if (text !== undefined && !existsSync(text)) throw new Error(`names a file that does not exist: ${text}`);
    if (text !== undefined && !statSync(text).isFile())
      throw new Error(`names a folder or a device, not a file: ${text}`);
    return text;
  });

/** True for URLs that the client of Redis can read: it decodes user and password, and takes the path as a number. */
const isRedisUrl = (address: string): boolean => {
  if (!/^rediss?:\/\//.test(address) || !URL.canParse(address)) return false;
  const { hostname, pathname, username, password } = new URL(address);
  return (
    hostname !== '' && /^\/?\d*$/.test(pathname) && decoded(username) !== undefined && decoded(password) !== undefined
  );
};

const items = (text: string | undefined): readonly string[] => text?.split(',').map((item) => item.trim()) ?? [];

const dataDir = (env: NodeJS.ProcessEnv): string => resolve(env.DATA_DIR || 'data');

const auditKeys = (text: string | undefined): readonly SigningKey[] | undefined => {
  if (text === undefined) return undefined;
  const isPem = text.includes('-----BEGIN');
  if (!isPem && !existsSync(text)) throw new Error(`is no PEM, and names a file that does not exist: ${text}`);
  // Files with settings have one line for each, so `\n` may stand for the end of a line.
  return keysInPem(isPem ? text.replaceAll('\\n', '\n') : readFileSync(text, 'utf8'));
};

const anchorAt = (text: string | undefined): AnchorAt | undefined => {
  if (text === undefined) return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { file: resolve(text) };
  if (!text.startsWith('https://') || !URL.canParse(text)) throw new Error('must be a file or an https:// URL');
  return { url: text };
};

const settings = {
  HOST: text('Address to listen on', '127.0.0.1'),
  PORT: integer('Port to listen on; 0 takes a free one', 3000, 0, 65_535),
  DATA_DIR: setting('Folder of the event log, snapshots and the key file', './data', (_, env) => dataDir(env)),
  ADMIN_PASSWORD: setting(
    'Password of the account admin, used at the very first start only; 8 to 1024 bytes',
    'made up and printed once',
    (text) => {
      if (text !== undefined && (Buffer.byteLength(text) < 8 || Buffer.byteLength(text) > 1024))
        throw new Error('must have 8 to 1024 bytes');
      return text;
    },
  ),
  EVENTSTORE_URL: setting(
    `Event log: ${logUrlForms}`,
    'sqlite:<DATA_DIR>/events.db',
    (text, env): LogUrl => (text === undefined ? { file: join(dataDir(env), 'events.db') } : logUrl(text)),
  ),
  ESDB_PORT: setting(
    'Port on which the log in this process answers clients of EventStoreDB, with TLS; 0 takes a free one',
    'not served',
    (text, env) => (text === undefined ? undefined : integer('', 0, 0, 65_535).read(text, env)),
  ),
  ESDB_HOST: text('Address to serve ESDB_PORT on', '127.0.0.1'),
  FOREIGN_EVENTS: setting(
    "Other programs' events in the log that count like published ones: all, none, or how their sources begin, comma-separated",
    'all',
    (text = 'all'): ForeignSources => {
      if (text === 'all') return everySource;
      if (text === 'none') return [];
      if (items(text).includes('')) throw new Error('must be all, none, or how sources begin, comma-separated');
      return items(text);
    },
  ),
  READSTORE_URL: setting(
    'Read models: memory: or redis://[user:password@]host:port[/db] (rediss:// for TLS)',
    'memory:',
    (text = 'memory:') => {
      if (text === 'memory:') return undefined;
      if (!isRedisUrl(text)) throw new Error('must be memory: or redis://[user:password@]host:port[/db]');
      return text;
    },
  ),
  LOG_LEVEL: oneOf('Least level that is logged, whatever the active profile says', 'what the profile says, else info', [
    'fatal',
    'error',
    'warn',
    'info',
    'debug',
    'trace',
    'silent',
  ]),
  MAX_BODY_BYTES: integer('Largest request body', 1024 ** 2, 1024, 1024 ** 3),
  MAX_IMPORT_BYTES: integer('Largest body of an import', 32 * 1024 ** 2, 1024, 1024 ** 3),
  READ_WAIT_MS: integer('How long a read waits for what was written before, in milliseconds', 2000, 0, 600_000),
  TRIGGER_FILTERS: integer('How many compiled filters of triggers are kept', 2000, 1, 1_000_000),
  ASOF_MEMORY: integer('Megabytes that documents of earlier times may take in memory', 256, 8, 1_000_000),
  STREAM_READERS: integer(
    'Streams of events and jobs, and readings of the log by ESDB_PORT, that this node serves at once',
    1024,
    1,
    100_000,
  ),
  CONSOLE: setting('on, or off: /console is left out then', 'on', (text = 'on') => {
    if (text !== 'on' && text !== 'off') throw new Error('must be on or off');
    return text === 'on';
  }),
  SECRET_KEY: setting(
    'Key that seals secrets; at least 16 characters, or base64: and the text of a secret.key',
    'made up, kept in <DATA_DIR>/secret.key',
    (text) => {
      if (text !== undefined) keyOf(text);
      return text;
    },
  ),
  AUDIT_KEY: setting(
    'Ed25519 key that signs the log, as PEM or a file with it; earlier keys may follow it',
    'made up, kept in <DATA_DIR>/audit.key',
    auditKeys,
  ),
  AUDIT_ANCHOR: setting(
    'Where each signature of the log is told besides: a file, to which lines are added, or an https:// URL',
    'none',
    anchorAt,
  ),
  TRIGGER_RATE: integer('Jobs that one event trigger may start in a minute; more of them wait', 600, 1, 1_000_000),
  JOB_TIMEOUT: number('Hours after which a job of which nothing is heard ends in error; 0: never', 168, 1_000_000),
  RETENTION_DAYS: integer(
    'Days after which jobs, sessions and executions that have ended are retired; 0: never',
    30,
    0,
    36_500,
  ),
  BACKUPS_PER_DEVICE: integer(
    'Newest differing copies of the configuration of a device that are shown; older ones are in the log alone',
    100,
    1,
    10_000,
  ),
  METRICS_TOKEN: setting(
    'Token that opens /metrics without a login (Authorization: Bearer ...); at least 16 characters',
    'none',
    (text) => {
      const fits = text === undefined || /^[\x21-\x7e]{16,}$/.test(text);
      if (!fits) throw new Error('must have at least 16 characters, of ASCII and without white space');
      return text;
    },
  ),
  TLS_CERT_FILE: file(
    'PEM certificate chain; with TLS_KEY_FILE, HTTPS is served, and ESDB_PORT uses it ' +
      '(else one of its own, whose authority for clients is <DATA_DIR>/esdb-authority.pem)',
  ),
  TLS_KEY_FILE: file('PEM private key of the certificate'),
  TRUST_PROXY: setting(
    'Addresses or CIDR blocks of proxies whose X-Forwarded-For and X-Forwarded-Proto count, comma-separated',
    'none',
    (text) => blockList(items(text)),
  ),
  OUTBOUND_ALLOW: setting(
    'Hosts, addresses or CIDR blocks that devices, webhooks and directories may be at ' +
      "although they are loopback, link-local, this machine's or a store's, comma-separated",
    'none',
    (text): Allowed => {
      const isName = (item: string) =>
        /^[a-z_][a-z0-9_.-]*$/i.test(item) || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.[a-z][a-z0-9-]*$/i.test(item);
      const [hosts, addresses] = [items(text).filter(isName), items(text).filter((item) => !isName(item))];
      return { hosts: new Set(hosts.map((host) => host.toLowerCase())), addresses: blockList(addresses) };
    },
  ),
} satisfies Record<string, Setting<unknown>>;

type Settings = typeof settings;
export type Config = { readonly [K in keyof Settings]: ReturnType<Settings[K]['read']> };

/** Faults of settings that are valid alone but not together. */
const faultsTogether = (env: NodeJS.ProcessEnv): readonly string[] => {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = env;
  const distributed = /^esdb(\+discover)?:/.test(env.EVENTSTORE_URL ?? '');
  const faults = [...tlsFaults(env)];
  if (certFile && !keyFile) faults.push('TLS_KEY_FILE is missing: TLS needs certificate and key');
  if (keyFile && !certFile) faults.push('TLS_CERT_FILE is missing: TLS needs certificate and key');
  if (distributed && !env.SECRET_KEY) faults.push('SECRET_KEY must be set with esdb://: every node needs the same');
  if (distributed && !env.AUDIT_KEY) faults.push('AUDIT_KEY must be set with esdb://: every node needs the same');
  if (distributed && env.ESDB_PORT)
    faults.push('ESDB_PORT cannot be set with esdb://: only a log in this process is served');
  return faults;
};

/** The file that holds the key of secrets when SECRET_KEY is not set. It is beside the log, if the log is a file. */
export const secretKeyFile = ({ EVENTSTORE_URL: at, DATA_DIR }: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR'>): string =>
  join('file' in at ? dirname(at.file) : DATA_DIR, 'secret.key');

/** The key that signs the log: that of the setting, else the one in the folder of the service. */
export const auditKeySource = ({ AUDIT_KEY, DATA_DIR }: Pick<Config, 'AUDIT_KEY' | 'DATA_DIR'>): KeySource => ({
  fromSetting: AUDIT_KEY,
  file: join(DATA_DIR, 'audit.key'),
});

/** Faults of the TLS files. Missing files are reported as faults of their own settings. */
const tlsFaults = ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: NodeJS.ProcessEnv): readonly string[] => {
  if (!certFile || !keyFile || !existsSync(certFile) || !existsSync(keyFile)) return [];
  try {
    checkTlsFiles({ certFile, keyFile });
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
};

/** All faults of the settings at once. Each is a line that begins with the setting's name. */
export class ConfigFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`Wrong settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigFaults';
    this.faults = faults;
  }
}

/** Reads the settings of an environment; throws `ConfigFaults`. An empty variable counts as not set. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { read }] of Object.entries(settings)) {
    try {
      config[name] = read(env[name] || undefined, env);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
    }
  }
  faults.push(...faultsTogether(env));
  if (faults.length > 0) throw new ConfigFaults(faults);
  return Object.freeze(config) as Config;
};

/** The list of settings, as `--help` prints it. */
export const settingsHelp = (): string =>
  Object.entries(settings)
    .map(
      ([name, { about, presetText }]) =>
        `  ${name.padEnd(17)} ${about}${presetText ? ` (default: ${presetText})` : ''}`,
    )
    .join('\n');
