import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { decoded } from '../domain/engine/percentEncoding.ts';

/** Where an event log is: in a file of SQLite, or behind a connection string of EventStoreDB. */
export type LogUrl = { readonly file: string } | { readonly url: string };

/** What is said of a setting that names a log, in `--help` too. */
export const logUrlForms =
  'sqlite:<file>, esdb://[user:password@]host:port[,...] or esdb+discover://[user:password@]name:port';

/**
 * Reads the URL of a log. An error says all that is wrong with it in one sentence and repeats nothing of the URL but
 * names of its options and files: it may hold a password.
 */
export const logUrl = (text: string): LogUrl => {
  if (/^sqlite:.+/.test(text)) return { file: resolve(text.slice('sqlite:'.length)) };
  if (!/^esdb(\+discover)?:/.test(text)) throw new Error(`must be ${logUrlForms}`);
  const faults = faultsOf(text);
  if (faults.length > 0) throw new Error(faults.join('; '));
  return { url: text };
};

/** The hosts that a connection string names. */
export const esdbHosts = (url: string): readonly string[] =>
  (form.exec(url)?.groups!.hosts ?? '')
    .split(',')
    .map((host) => host.replace(/:\d+$/, ''))
    .filter(Boolean);

// Stricter than the client, which guesses, drops what it does not know, and prints the whole string when it does.
const form =
  /^esdb(?<discover>\+discover)?:\/\/(?:(?<credentials>[^@/?]*)@)?(?<hosts>[^@/?]*)\/?(?:\?(?<query>[^?]+))?$/;

const truth = (value: string): string | undefined =>
  value === 'true' || value === 'false' ? undefined : 'must be true or false';
const milliseconds = (value: string): string | undefined => (/^-?\d+$/.test(value) ? undefined : 'must be an integer');
const file = (value: string): string | undefined =>
  existsSync(value) ? undefined : `names a file that does not exist: ${value}`;

/** What is wrong with the value of each option, if anything. */
const options: { readonly [name: string]: (value: string) => string | undefined } = {
  tls: truth,
  // The client knows the option and ignores it.
  tlsVerifyCert: (value) =>
    value === 'true'
      ? undefined
      : 'must be true: certificates are always verified; name their authority with tlsCAFile',
  tlsCAFile: file,
  userCertFile: file,
  userKeyFile: file,
  throwOnAppendFailure: (value) =>
    value === 'true' ? undefined : 'must be true: else an append that failed passes for one that was stored',
  connectionName: () => undefined,
  nodePreference: (value) =>
    /^(leader|follower|read_?only_?replica|random)$/i.test(value)
      ? undefined
      : 'must be leader, follower, readOnlyReplica or random',
  defaultDeadline: milliseconds,
  discoveryInterval: milliseconds,
  gossipTimeout: milliseconds,
  maxDiscoverAttempts: milliseconds,
  keepAliveInterval: milliseconds,
  keepAliveTimeout: milliseconds,
};

// As the client compares names of options.
const flat = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');
const names = new Map(Object.keys(options).map((name) => [flat(name), name]));

/** What a connection string of EventStoreDB says. Options have their names as `logUrl` knows them. */
export type EsdbUrl = {
  readonly hosts: readonly string[];
  /** The one host is a name for all nodes. */
  readonly discover: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly options: ReadonlyMap<string, string>;
};

/** Reads a connection string that is known to be good. */
export const esdbUrl = (url: string): EsdbUrl => {
  const { credentials, query, discover, hosts } = form.exec(url)!.groups as Record<string, string | undefined>;
  const [user, password] = (credentials ?? '').split(':').map((text) => decoded(text) ?? '');
  return {
    hosts: hosts!.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:2113`)),
    discover: discover !== undefined,
    ...(credentials !== undefined && { user, password }),
    options: new Map(pairsIn(query).map(([key, value]) => [names.get(flat(key)) ?? key, decoded(value) ?? ''])),
  };
};

const pairsIn = (query: string | undefined): [key: string, value: string, ...rest: string[]][] =>
  (query ? query.split('&') : []).map((pair) => {
    const [key = '', value = '', ...rest] = pair.split('=');
    return [key, value, ...rest];
  });

const faultsOf = (url: string): readonly string[] => {
  const parts = form.exec(url)?.groups;
  if (!parts) return [`cannot be read; it must be ${logUrlForms}`];
  const { credentials, query, discover } = parts;
  const hosts = parts.hosts!.split(',');
  const given = new Map<string, string>();
  const faults: string[] = [];
  if (credentials !== undefined && !(/^[^:\s]+:[^:\s]+$/.test(credentials) && decoded(credentials) !== undefined))
    faults.push(
      'has credentials that cannot be read: they are user:password, with other characters than letters and digits percent-encoded',
    );
  if (!hosts.every((host) => /^[\w.-]+(:\d{1,5})?$/.test(host) && Number(/:(\d+)$/.exec(host)?.[1] ?? 2113) <= 65_535))
    faults.push('has hosts that cannot be read: each is a name or IPv4 address, and a port');
  if (discover && hosts.length > 1) faults.push('takes one host with esdb+discover://, a DNS name of all nodes');
  for (const [key, value, ...rest] of pairsIn(query)) {
    const name = names.get(flat(key));
    const text = decoded(value);
    if (name === undefined)
      faults.push('has an option that is not known; known are ' + Object.keys(options).join(', '));
    else if (text === undefined || text === '' || rest.length > 0) faults.push(`has no readable value for ${name}`);
    else {
      const fault = options[name]!(text);
      if (fault) faults.push(`has ${name}, which ${fault}`);
      given.set(name, text);
    }
  }
  if (credentials !== undefined && given.get('tls') === 'false')
    faults.push('has credentials and tls=false: the client sends no credentials without TLS');
  if (given.has('userCertFile') !== given.has('userKeyFile'))
    faults.push('has one of userCertFile and userKeyFile: both are needed');
  return faults;
};
