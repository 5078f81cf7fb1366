import { audience, startIssuer } from '../test/support/issuer.ts';
import { argon2Of, isWithoutSlapd, personEntry, searcher, startSlapd } from '../test/support/slapd.ts';
import { type Comparison, type Findings, inTurn, median, milliseconds, perSecond, progress, scale } from './compare.ts';
import { mappingPath } from './kinds.ts';
import { loader } from './loader.ts';
import { cpuSeconds, type Service, startProgram } from './processes.ts';
import type { Calls, Directory, Order } from './programs/directoryCalls.ts';
import { ask, basic, type Login, request } from './requests.ts';
import { startWithMappings } from './service.ts';

const documents = 1000;
const connections = 32;
const count = 3000;
const people = 50;

const range = <T>(size: number, make: (n: number) => T): T[] => Array.from({ length: size }, (_, n) => make(n));
const post = async ({ url }: Service, path: string, body: object, login?: Login) =>
  JSON.parse((await ask(url, 'POST', path, login ? { body, login } : { body })).body.toString());

/** GETs of group mappings by people who send these headers, each document by each person. */
const gets = (headers: readonly string[]) =>
  loader(range(documents, (n) => request('GET', mappingPath(n), { Authorization: headers[n % headers.length]! })));

/** GETs for each second of the service's processor time. */
const rateOf =
  ({ run }: ReturnType<typeof gets>, service: Service) =>
  async (): Promise<number> => {
    const before = cpuSeconds(service.pid);
    await run('', service, { connections, status: 200, count });
    return count / (cpuSeconds(service.pid) - before);
  };

/** Callers by password, by token and by access token of an issuer, all with the same rights. */
export const callers = async (): Promise<Findings> => {
  const service = await startWithMappings(documents, { OUTBOUND_ALLOW: '127.0.0.1' });
  const users = range(people, (n) => ({ user: `reader-${n}`, password: `password of reader ${n}` }));
  const issuer = await startIssuer({ service: service.url, name: 'corp', people: {} });
  const properties = { ...issuer.properties, apiTokens: true, audience };
  await post(service, '/authorization/providers', { name: 'corp', type: 'oidc', properties });
  await post(service, '/group-mappings', { provenance: 'corp', externalGroup: 'watch', platformGroups: ['readers'] });
  const tokens: string[] = [];
  for (const login of users) {
    const account = { username: login.user, password: login.password, memberOf: ['readers'] };
    await post(service, '/authorization/accounts', account);
    const { data } = await post(service, '/authorization/tokens', { name: 'bench' }, login);
    tokens.push(`Bearer ${data.token}`);
  }
  const access = await Promise.all(
    users.map(async ({ user }) => `Bearer ${await issuer.sign({ sub: user, groups: ['watch'] })}`),
  );
  const loads = { basic: gets(users.map(basic)), token: gets(tokens), access: gets(access) };
  const found = await inTurn('identity, callers', {
    basic: rateOf(loads.basic, service),
    token: rateOf(loads.token, service),
    access: rateOf(loads.access, service),
  });
  for (const one of [...Object.values(loads), service, issuer]) await one.stop();
  const perSecondOfProcessor = (figure: number): string => `${perSecond(figure)} of processor time`;
  const shown = { shown: perSecondOfProcessor };
  return {
    comparisons: [
      {
        what: `(identity) GET with a token, ${people} accounts`,
        comparedWith: 'with Basic, cached',
        ours: found.token,
        theirs: found.basic,
        ...shown,
        goal: { least: 0.95 },
      },
      {
        what: '(identity) GET with an access token of an issuer',
        comparedWith: 'with a token',
        ours: found.access,
        theirs: found.token,
        ...shown,
        goal: { least: 0.7 },
      },
    ],
  };
};

const atOnce = 1000;
const oneByOne = 50;
const binds = 32;
const bareServer = `an HTTP server that does nothing but search and bind, ${binds} at once`;
const pace = { connections: 4, status: 200, perSecond: 200, milliseconds: 2000 };

/** A password that all people have, as directories keep it. */
const password = 'a password of everybody';
type Keeping = { readonly words: string; readonly modules: readonly string[]; readonly stored: () => string };
const inTheClear: Keeping = { words: '', modules: [], stored: () => password };
const hashed: Keeping = {
  words: ', hashed by argon2 in the directory',
  modules: ['argon2'],
  stored: () => argon2Of(password),
};

/** A directory with TLS that has many people, the service that asks it for each request, and loads of their logins. */
const startLogins = async ({ modules, stored }: Keeping) => {
  const newcomers = range((atOnce + oneByOne) * (scale.rounds + 1), (n) => `person-${n}`);
  progress('identity: filling a directory');
  const userPassword = stored();
  const directory = await startSlapd(newcomers.map((uid) => personEntry(uid, { userPassword })).join(''), modules);
  const service = await startWithMappings(documents, { OUTBOUND_ALLOW: 'localhost' });
  const { tls: url, ca } = directory;
  const properties = { urls: [url], ca, userBase: 'ou=people,dc=example', timeout: 60_000, ...searcher };
  await post(service, '/authorization/providers', { name: 'corp', type: 'ldap', properties });
  // Each request asks the directory.
  const profile = { properties: { authenticationProps: { principalTimeout: 0 } } };
  await ask(service.url, 'PUT', '/profiles/main', { body: profile });
  await ask(service.url, 'PUT', '/profiles/main/active');
  const requestsOf = (uids: readonly string[]) =>
    uids.map((user) => request('GET', '/whoami', { Authorization: basic({ user, password }) }));
  const loads = {
    newcomers: loader(requestsOf(newcomers)),
    known: loader(requestsOf(newcomers.slice(0, atOnce))),
    others: gets([`Bearer ${(await post(service, '/authorization/tokens', { name: 'other' })).data.token}`]),
  };
  const [byHand, bare] = [startProgram('directoryCalls'), startProgram('directoryCalls')];
  const server = (callers: number): Directory => ({ url, ca, atOnce: callers, ...searcher });
  const callByHand = (size: number, callers: number, isKept: boolean) => {
    const calls: Calls = { uids: newcomers.slice(0, size), password, isKept };
    return byHand.ask<number>({ directory: server(callers), calls } satisfies Order);
  };
  const port = await bare.ask<number>({ directory: server(binds), serve: true } satisfies Order);
  const stop = async (): Promise<void> => {
    for (const one of [...Object.values(loads), byHand, bare, service, directory]) await one.stop();
  };
  return { directory, service, loads, callByHand, bare: { pid: bare.pid, port }, stop };
};
type Started = Awaited<ReturnType<typeof startLogins>>;

const kinds = { known: 'whose accounts are there', newcomers: 'who are new, so that accounts are made' } as const;
type Kind = keyof typeof kinds;
const allKinds = Object.keys(kinds) as Kind[];

/** A thousand logins at once, beside GETs of others. */
const manyLogins = async ({ directory, service, loads, callByHand, bare }: Started, words: string) => {
  const p99s = { alone: [] as number[], newcomers: [] as number[], known: [] as number[], bare: [] as number[] };
  /** Milliseconds of processor time for a login, of all threads; those of the service with the GETs of the others. */
  const costs = { newcomers: [] as number[], known: [] as number[], bare: [] as number[] };
  const ofDirectory: number[] = [];
  const together = (name: Kind | 'bare') => async (): Promise<number> => {
    const [load, asked] = name === 'bare' ? [loads.known, bare] : [loads[name], service];
    const before = cpuSeconds(asked.pid);
    const [{ rate }, { p99 }] = await Promise.all([
      load.run('', asked, { connections: atOnce, status: 200, count: atOnce }),
      loads.others.run('', service, pace),
    ]);
    p99s[name].push(p99);
    costs[name].push(((cpuSeconds(asked.pid) - before) / atOnce) * 1000);
    return rate;
  };
  const many = await inTurn('identity, many logins', {
    newcomers: together('newcomers'),
    known: together('known'),
    bare: together('bare'),
    kept: async () => {
      const before = cpuSeconds(directory.pid);
      const took = await callByHand(atOnce, binds, true);
      ofDirectory.push(((cpuSeconds(directory.pid) - before) / atOnce) * 1000);
      return (atOnce / took) * 1000;
    },
    alone: async () => {
      const { p99 } = await loads.others.run('', service, pace);
      p99s.alone.push(p99);
      return p99;
    },
  });
  const comparisons = allKinds.flatMap((kind): Comparison[] => [
    ...(['bare', 'kept'] as const).map(
      (way): Comparison => ({
        what: `(identity) ${atOnce.toLocaleString('en')} people log in at once, ${kinds[kind]}${words}`,
        comparedWith: way === 'bare' ? bareServer : `search and bind by hand, ${binds} at once, without HTTP`,
        ours: many[kind],
        theirs: many[way],
        shown: perSecond,
        goal: { least: 0.8 },
      }),
    ),
    {
      what: `(identity) processor time of a login, ${atOnce.toLocaleString('en')} at once, of people ${kinds[kind]}${words}`,
      comparedWith: bareServer,
      ours: costs[kind].slice(1),
      theirs: costs.bare.slice(1),
      shown: milliseconds,
    },
    ...(['bare', 'alone'] as const).map(
      (beside): Comparison => ({
        what: `(identity) p99 of GETs of others beside people ${kinds[kind]}${words}`,
        comparedWith: beside === 'bare' ? `beside the same logins at ${bareServer}` : 'alone',
        ours: p99s[kind].slice(1),
        theirs: p99s[beside].slice(1),
        shown: milliseconds,
        goal: { most: 2 },
      }),
    ),
  ]);
  const cost = `The directory takes ${milliseconds(median(ofDirectory.slice(1)))} of processor time for a login by hand`;
  return { comparisons, notes: [`(identity) ${cost}${words}.`] };
};

/** Logins one after the other. */
const fewLogins = async ({ service, loads, callByHand }: Started): Promise<Comparison[]> => {
  const inOrder = (load: keyof typeof loads) => async () =>
    (await loads[load].run('', service, { connections: 1, status: 200, count: oneByOne })).milliseconds;

  const few = await inTurn('identity, logins one by one', {
    newcomers: inOrder('newcomers'),
    known: inOrder('known'),
    fresh: () => callByHand(oneByOne, 1, false),
    kept: () => callByHand(oneByOne, 1, true),
  });
  return allKinds.flatMap((kind) =>
    (['fresh', 'kept'] as const).map(
      (connection): Comparison => ({
        what: `(identity) ${oneByOne} logins by LDAP, one after the other, of people ${kinds[kind]}`,
        comparedWith: `search and bind by hand, ${connection === 'kept' ? 'over connections that stay open' : 'each over its own connection'}`,
        ours: few[kind],
        theirs: few[connection],
        shown: milliseconds,
        goal: { most: 1.5 },
      }),
    ),
  );
};

const loginsAt = async (
  keeping: Keeping,
  measureMore: (started: Started) => Promise<Comparison[]>,
): Promise<Findings> => {
  if (isWithoutSlapd) return { comparisons: [], notes: ['(identity) without slapd no directory is measured.'] };
  const started = await startLogins(keeping);
  const { comparisons, notes } = await manyLogins(started, keeping.words);
  const more = await measureMore(started);
  await started.stop();
  return { comparisons: [...more, ...comparisons], notes };
};

/** Logins of people who are new, and who are known: at once and one by one, where the directory compares passwords. */
export const logins = (): Promise<Findings> => loginsAt(inTheClear, fewLogins);

/** Logins at once, where the directory has hashes of passwords. */
export const hashedLogins = (): Promise<Findings> => loginsAt(hashed, async () => []);
