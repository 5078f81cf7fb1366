import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { decoded } from '@automation-platform/json';

/** An event log: a file of SQLite, or a connection string of EventStoreDB. */
export type LogUrl = { readonly file: string } | { readonly url: string };

/** The forms of a log's URL, for errors and `--help`. */
export const logUrlForms =
  'sqlite:<file>, esdb://[user:password@]host:port[,...] or esdb+discover://[user:password@]name:port';

/**
 * Reads the URL of a log. An error names all faults in one sentence. It repeats only names of options and files, since
 * the URL may contain a password.
 */
export const logUrl = (text: string): LogUrl => {
  if (/^sqlite:.+/.test(text)) return { file: resolve(text.slice('sqlite:'.length)) };
  if (!/^esdb(\+discover)?:/.test(text)) throw new Error(`must be ${logUrlForms}`);
  const faults = faultsOf(text);
  if (faults.length > 0) throw new Error(faults.join('; '));
  return { url: text };
};

/** The hosts that a connection string names, without ports. */
export const esdbHosts = (url: string): readonly string[] =>
  (form.exec(url)?.groups?.hosts ?? '')
    .split(',')
    .map((host) => host.replace(/:\d+$/, ''))
    .filter(Boolean);

// This form is stricter than the client, which guesses, ignores unknown parts, and prints the whole string in its
// errors.
const form =
  /^esdb(?<discover>\+discover)?:\/\/(?:(?<credentials>[^@/?]*)@)?(?<hosts>[^@/?]*)\/?(?:\?(?<query>[^?]+))?$/;

const truth = (value: string): string | undefined =>
  value === 'true' || value === 'false' ? undefined : 'must be true or false';
const milliseconds = (value: string): string | undefined => (/^-?\d+$/.test(value) ? undefined : 'must be an integer');
const file = (value: string): string | undefined =>
  existsSync(value) ? undefined : `names a file that does not exist: ${value}`;

/** Checks the value of an option. Returns its fault; undefined when there is none. */
type Check = (value: string) => string | undefined;

const options: { readonly [name: string]: Check } = {
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

// The client compares names of options in this form.
const flat = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');
const optionChecks = new Map(Object.entries(options).map(([name, check]) => [flat(name), { name, check }]));

/** The parts of a connection string of EventStoreDB. Options have the names that `logUrl` knows. */
export type EsdbUrl = {
  readonly hosts: readonly string[];
  /** True if the one host is a DNS name for all nodes. */
  readonly discover: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly options: ReadonlyMap<string, string>;
};

/** Reads a connection string that `logUrl` has accepted. */
export const esdbUrl = (url: string): EsdbUrl => {
  const groups = form.exec(url)?.groups;
  if (!groups) throw new Error('The connection string cannot be read');
  const { credentials, query, discover, hosts = '' } = groups;
  const parts = {
    hosts: hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:2113`)),
    discover: discover !== undefined,
    options: new Map(
      pairsIn(query).map(([key, value]) => [optionChecks.get(flat(key))?.name ?? key, decoded(value) ?? '']),
    ),
  };
  if (credentials === undefined) return parts;
  const [user = '', password = ''] = credentials.split(':').map((text) => decoded(text) ?? '');
  return { ...parts, user, password };
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
  const hosts = (parts.hosts ?? '').split(',');
  const optionTexts = new Map<string, string>();
  const faults: string[] = [];
  if (credentials !== undefined && !(/^[^:\s]+:[^:\s]+$/.test(credentials) && decoded(credentials) !== undefined))
    faults.push(
      'has credentials that cannot be read: they are user:password, with other characters than letters and digits percent-encoded',
    );
  if (!hosts.every((host) => /^[\w.-]+(:\d{1,5})?$/.test(host) && Number(/:(\d+)$/.exec(host)?.[1] ?? 2113) <= 65_535))
    faults.push('has hosts that cannot be read: each is a name or IPv4 address, and a port');
  if (discover && hosts.length > 1) faults.push('takes one host with esdb+discover://, a DNS name of all nodes');
  for (const [key, value, ...rest] of pairsIn(query)) {
    const option = optionChecks.get(flat(key));
    const text = decoded(value);
    if (option === undefined) {
      faults.push(`has an option that is not known; known are ${Object.keys(options).join(', ')}`);
    } else if (text === undefined || text === '' || rest.length > 0) {
      faults.push(`has no readable value for ${option.name}`);
    } else {
      const fault = option.check(text);
      if (fault) faults.push(`has ${option.name}, which ${fault}`);
      optionTexts.set(option.name, text);
    }
  }
  if (credentials !== undefined && optionTexts.get('tls') === 'false')
    faults.push('has credentials and tls=false: the client sends no credentials without TLS');
  if (optionTexts.has('userCertFile') !== optionTexts.has('userKeyFile'))
    faults.push('has one of userCertFile and userKeyFile: both are needed');
  return faults;
};
