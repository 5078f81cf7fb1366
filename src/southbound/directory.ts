import { semaphore } from '@automation-platform/concurrency';
import { type Client, type Entry, Filter, NoSuchObjectError, ResultCodeError, SizeLimitExceededError } from 'ldapts';
import { externalName, externalUsername, mostExternalGroups } from '../domain/authorization/externalNames.ts';
import type { LdapProperties } from '../domain/authorization/providerSchemas.ts';
import { defined } from '../domain/engine/defined.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { reasonOf, TooMuch } from './failure.ts';
import { ldapConnections, type Server } from './ldapConnection.ts';
import type { Outbound } from './outbound.ts';
import type { Asked, Directory, DirectoryAnswer, Person } from './port.ts';

const deepest = 10;
const mostAtOnce = 32;
const mostWaiting = 1_000;
const usualTimeoutMs = 5_000;
/** How many groups one search asks for, and how many it gets at once: Active Directory gives no more than 1,000. */
const [searchedAtOnce, pageSize] = [100, 500];

/** No server of the directory has given an answer. */
export class DirectorySilent extends Error {}

const referral = 10;
/** The codes by which a server says that it cannot answer now, or that another one can, rather than no. */
const notNow = new Set([1, 3, referral, 11, 51, 52, 80]);

const reasonFor = (error: unknown): string => {
  if (!(error instanceof ResultCodeError)) return reasonOf(error);
  return error.code === referral ? 'the directory leads to another server' : `the directory answers with ${error.name}`;
};

/** The texts of an attribute; servers answer in any case. */
const textsOf = (entry: Entry, attribute: string): readonly string[] => {
  const lower = attribute.toLowerCase();
  const found = Object.keys(entry).find((name) => name !== 'dn' && name.toLowerCase() === lower);
  const values = found === undefined ? [] : (entry[found] ?? []);
  return [values].flat().filter((value) => typeof value === 'string');
};

/** The `cn` with which a DN begins (RFC 4514). */
export const cnOf = (dn: string): string | undefined => {
  const [, text] = /^\s*cn\s*=\s*((?:\\.|[^\\,+;"])*)/i.exec(dn) ?? [];
  if (text === undefined) return undefined;
  const bytes = text
    .trimEnd()
    .replace(/((?:\\[0-9a-f]{2})+)/gi, (hex) => Buffer.from(hex.replaceAll('\\', ''), 'hex').toString('utf8'));
  return bytes.replace(/\\(.)/g, '$1');
};

/** The filter of a template, in which names are nothing but names. */
const filterOf = (template: string, names: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => Filter.escape(names[name] ?? ''));

type Talk = { readonly client: Client; readonly properties: LdapProperties };

/** The only person whom the filter finds; undefined if it finds none, or several. */
const findOne = async ({ client, properties }: Talk, filter: string): Promise<Person | undefined> => {
  const { userBase, attributes = {} } = properties;
  const { firstname = 'givenName', email = 'mail', memberOf = 'memberOf' } = attributes;
  const nameAttribute = attributes.username ?? 'uid';
  const { searchEntries } = await client
    .search(userBase, {
      filter,
      attributes: [nameAttribute, firstname, email, memberOf, 'entryUUID', 'objectGUID'],
      explicitBufferAttributes: ['objectGUID'],
      sizeLimit: 2,
    })
    .catch((error: unknown) => {
      if (error instanceof SizeLimitExceededError) return { searchEntries: [] };
      throw error;
    });
  const [entry] = searchEntries;
  const name = entry && externalUsername(textsOf(entry, nameAttribute)[0]);
  // A DN without = is none: to bind with an empty one is to bind as nobody, which succeeds.
  if (!entry || !name || searchEntries.length > 1 || !entry.dn.includes('=')) return undefined;
  const guid = entry.objectGUID;
  return {
    dn: entry.dn,
    externalId:
      textsOf(entry, 'entryUUID')[0] ?? (Buffer.isBuffer(guid) ? guid.toString('hex') : entry.dn.toLowerCase()),
    username: name,
    firstname: (textsOf(entry, firstname)[0] ?? '').slice(0, 256),
    email: (textsOf(entry, email)[0] ?? '').slice(0, 320),
    memberOf: textsOf(entry, memberOf),
  };
};

const find = (talk: Talk, username: string): Promise<Person | undefined> =>
  findOne(talk, filterOf(talk.properties.userFilter ?? '(uid={{username}})', { username }));

/** The filter of an id that a person had before; undefined if it is a DN. */
const filterOfId = (externalId: string): string | undefined => {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(externalId)) return `(entryUUID=${externalId})`;
  if (/^[0-9a-f]{32}$/.test(externalId)) return `(objectGUID=${externalId.replace(/../g, '\\$&')})`;
  return undefined;
};

/** The person with this id, by the name that they had or, if that is another one's, by the name that they have now. */
const findAgain = async (talk: Talk, username: string, externalId: string): Promise<Person | undefined> => {
  const before = await find(talk, username);
  if (before?.externalId === externalId) return before;
  const filter = filterOfId(externalId);
  const renamed = filter === undefined ? undefined : await findOne(talk, filter);
  // They count only if the filter of people finds them.
  const now = renamed && (await find(talk, renamed.username));
  return now?.externalId === externalId ? now : undefined;
};

/** True if the password is that of the entry. */
const isRight = async (client: Client, dn: string, password: string): Promise<boolean> => {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof ResultCodeError && !notNow.has(error.code)) return false;
    throw error;
  }
};

/** A group: its DN, and its name. */
type Group = readonly [dn: string, name: string | undefined];

const withNames = (dns: readonly string[]): readonly Group[] => dns.map((dn) => [dn, cnOf(dn)]);

/** The groups that `groupBase` has for these DNs. */
const searchGroups = async (
  { client, properties: { groupBase = '', groupFilter = '(member={{dn}})' } }: Talk,
  dns: readonly string[],
  username: string,
): Promise<readonly Group[]> => {
  const groups: Group[] = [];
  for (let at = 0; at < dns.length; at += searchedAtOnce) {
    const filters = dns.slice(at, at + searchedAtOnce).map((dn) => filterOf(groupFilter, { dn, username }));
    const pages = client.searchPaginated(groupBase, {
      filter: `(|${filters.join('')})`,
      attributes: ['cn'],
      paged: { pageSize },
    });
    for await (const { searchEntries } of pages) {
      for (const entry of searchEntries) groups.push([entry.dn, cnOf(entry.dn) ?? textsOf(entry, 'cn')[0]]);
      if (groups.length > mostExternalGroups) throw new TooMuch(`A person may have ${mostExternalGroups} groups`);
    }
  }
  return groups;
};

/** The groups of which the groups with these DNs say that they are members. */
const groupsAbove = async ({ client, properties: { attributes = {} } }: Talk, dns: readonly string[]) => {
  const { memberOf = 'memberOf' } = attributes;
  const above: string[] = [];
  for (const dn of dns) {
    const { searchEntries } = await client
      .search(dn, { scope: 'base', filter: '(objectClass=*)', attributes: [memberOf] })
      .catch((error: unknown) => {
        if (error instanceof NoSuchObjectError) return { searchEntries: [] };
        throw error;
      });
    above.push(...searchEntries.flatMap((entry) => textsOf(entry, memberOf)));
    if (above.length > mostExternalGroups) throw new TooMuch(`A person may have ${mostExternalGroups} groups`);
  }
  return withNames(above);
};

/** The names of the groups of a person, each level once. */
const groupsOf = async (talk: Talk, { dn, username, memberOf }: Person): Promise<readonly string[]> => {
  const { groupBase, nestedGroups = false } = talk.properties;
  const groups = new Map<string, string | undefined>();
  let below: readonly string[] = [dn];
  for (let depth = 0; below.length > 0 && depth < (nestedGroups ? deepest : 1); depth++) {
    const own = depth === 0 ? withNames(memberOf) : undefined;
    const level =
      groupBase === undefined ? (own ?? (await groupsAbove(talk, below))) : await searchGroups(talk, below, username);
    const fresh = level.filter(([group]) => !groups.has(group.toLowerCase()));
    for (const [group, name] of fresh) groups.set(group.toLowerCase(), externalName(name));
    if (groups.size > mostExternalGroups) throw new TooMuch(`A person may have ${mostExternalGroups} groups`);
    below = [...new Set(fresh.map(([group]) => group))];
  }
  return [...new Set([...groups.values()].filter((name) => name !== undefined))].sort();
};

/** Does some work over a connection of the searcher, or over one that the work binds. */
type Over = <T>(as: 'searcher' | 'person', work: (client: Client) => Promise<T>) => Promise<T>;

/**
 * Asks for a person, for the password if there is one, and only then for groups: as the searcher, or, where there is none, as
 * the person.
 */
const ask = async (
  over: Over,
  properties: LdapProperties,
  { username, password, externalId }: Asked,
): Promise<DirectoryAnswer> => {
  const searching = <T>(work: (talk: Talk) => Promise<T>): Promise<T> =>
    over('searcher', (client) => work({ client, properties }));
  const person = await searching((talk) =>
    externalId === undefined ? find(talk, username) : findAgain(talk, username, externalId),
  );
  if (!person) return undefined;
  const searchGroups = (): Promise<readonly string[]> => searching((talk) => groupsOf(talk, person));
  if (password === undefined) return { person, authenticated: null, externalGroups: await searchGroups() };
  const isAlone = properties.bindDn === undefined;
  const found = await over('person', async (client) => {
    if (!(await isRight(client, person.dn, password))) return undefined;
    return isAlone ? groupsOf({ client, properties }, person) : [];
  });
  if (!found) return { person, authenticated: false, externalGroups: [] };
  return { person, authenticated: true, externalGroups: isAlone ? found : await searchGroups() };
};

/**
 * Runs works of directories, a number of them at once. A work waits as long as its directory answers at all. Its signal
 * aborts when it takes longer than `timeout`.
 */
const turnsOf = () => {
  const inTurn = semaphore(mostAtOnce, mostWaiting);
  const answeredAt = new Map<string, number>();

  return async <T>(name: string, timeout: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const tooLong = new AbortController();
    const abort = (): void => tooLong.abort(new DOMException('The time is over', 'TimeoutError'));
    let timer: NodeJS.Timeout | undefined;
    const look = (since: number): void => {
      const last = Math.max(since, answeredAt.get(name) ?? 0);
      const restMs = last + timeout - performance.now();
      if (restMs <= 0) abort();
      else timer = setTimeout(look, restMs, since);
    };
    look(performance.now());
    try {
      return await inTurn(name, tooLong.signal, async () => {
        clearTimeout(timer);
        timer = setTimeout(abort, timeout);
        const result = await work(tooLong.signal);
        answeredAt.set(name, performance.now());
        return result;
      });
    } finally {
      clearTimeout(timer);
    }
  };
};

type Access = { readonly properties: LdapProperties; readonly servers: readonly Server[] };

/** Directories that speak LDAP. Servers are asked in their order, until one gives an answer. */
export const ldapDirectory = (guard: Outbound, unseal: (sealed: Sealed) => string): Directory => {
  const inTurn = turnsOf();
  const withLdap = ldapConnections(guard);
  const cache = new WeakMap<object, Access>();
  // They are the same for all logins until the provider changes, and to make them anew costs much of a login.
  const open = (name: string, stored: object): Access => {
    const before = cache.get(stored);
    if (before) return before;
    const properties = openSecrets(stored, unseal) as LdapProperties;
    const { urls, startTls, ca } = properties;
    const servers = urls.map((url) => ({
      where: { url, ...defined({ startTls, ca }) },
      server: JSON.stringify([name, url, stored]),
    }));
    const access = { properties, servers };
    cache.set(stored, access);
    return access;
  };
  return async ({ name, properties: stored }, person) => {
    // An empty password would be no password: the directory binds nobody, and says that it went well.
    if (person.password === '') return undefined;
    const { properties, servers } = open(name, stored);
    const { timeout = usualTimeoutMs, bindDn, bindPassword } = properties;
    const begins = {
      searcher: async (client: Client): Promise<void> => {
        if (bindDn !== undefined) await client.bind(bindDn, bindPassword);
      },
      person: undefined,
    };
    const reasons: string[] = [];
    for (const one of servers) {
      try {
        return await inTurn(name, timeout, (signal) => {
          const over: Over = (as, work) => withLdap({ ...one, as, begin: begins[as] }, signal, work);
          return ask(over, properties, person);
        });
      } catch (error) {
        reasons.push(`${one.where.url}: ${reasonFor(error)}`);
      }
    }
    throw new DirectorySilent(reasons.join('; '));
  };
};
