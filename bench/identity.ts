import { audience, startIssuer } from '../test/support/issuer.ts';
import { isWithoutSlapd, personEntry, startSlapd } from '../test/support/slapd.ts';
import { type Comparison, type Findings, inTurn, milliseconds, perSecond, progress, scale } from './compare.ts';
import { mappingPath } from './kinds.ts';
import { loader } from './loader.ts';
import { cpuSeconds, type Service, startProgram } from './processes.ts';
import type { Calls } from './programs/directoryCalls.ts';
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

/** First logins by a directory with TLS: one after the other, and a thousand at once. */
export const firstLogins = async (): Promise<Findings> => {
  if (isWithoutSlapd) return { comparisons: [], notes: ['(identity) without slapd no directory is measured.'] };
  const rounds = scale.rounds + 1;
  const uids = range((atOnce + oneByOne) * rounds, (n) => `person-${n}`);
  progress('identity: filling a directory');
  const directory = await startSlapd(uids.map((uid) => personEntry(uid)).join(''));
  const service = await startWithMappings(documents, { OUTBOUND_ALLOW: 'localhost' });
  const { tls: url, ca } = directory;
  const properties = { urls: [url], ca, userBase: 'ou=people,dc=example', timeout: 60_000 };
  await post(service, '/authorization/providers', { name: 'corp', type: 'ldap', properties });
  const headerOf = (user: string) => ({ Authorization: basic({ user, password: `password of ${user}` }) });
  const logins = loader(uids.map((uid) => request('GET', '/whoami', headerOf(uid))));
  const program = startProgram('directoryCalls');
  const byHand = (size: number, callers: number) =>
    program.ask<number>({ url, ca, uids: uids.slice(0, size), atOnce: callers } satisfies Calls);
  const others = gets([basic({ user: 'admin', password: 'correct horse battery' })]);

  const first = await inTurn('identity, first logins', {
    service: async () => (await logins.run('', service, { connections: 1, status: 200, count: oneByOne })).milliseconds,
    byHand: () => byHand(oneByOne, 1),
  });
  const p99s: number[] = [];
  const alone: number[] = [];
  const many = await inTurn('identity, many logins', {
    service: async () => {
      const pace = { connections: 4, status: 200, perSecond: 200 };
      alone.push((await others.run('', service, { ...pace, milliseconds: 2000 })).p99);
      const [{ rate, milliseconds: took }, beside] = await Promise.all([
        logins.run('', service, { connections: atOnce, status: 200, count: atOnce }),
        others.run('', service, { ...pace, milliseconds: 2000 }),
      ]);
      progress(`1,000 logins took ${took} ms`);
      p99s.push(beside.p99);
      return rate;
    },
    byHand: async () => (atOnce / (await byHand(atOnce, binds))) * 1000,
  });
  for (const one of [logins, others, program, service, directory]) await one.stop();
  const comparisons: Comparison[] = [
    {
      what: `(identity) ${oneByOne} first Basic logins by LDAP, one after the other, each makes an account`,
      comparedWith: 'search and bind by hand',
      ours: first.service,
      theirs: first.byHand,
      shown: milliseconds,
      goal: { most: 1.5 },
    },
    {
      what: `(identity) ${atOnce.toLocaleString('en')} people log in at once for the first time, ${binds} binds`,
      comparedWith: `search and bind by hand, ${binds} at once`,
      ours: many.service,
      theirs: many.byHand,
      shown: perSecond,
      goal: { least: 0.8 },
    },
    {
      what: '(identity) p99 of GETs of others meanwhile',
      comparedWith: 'alone',
      ours: p99s.slice(1),
      theirs: alone.slice(1),
      shown: milliseconds,
      goal: { most: 2 },
    },
  ];
  return { comparisons };
};
