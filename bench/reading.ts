import { startBare } from './bare.ts';
import { type Comparison, type Findings, inTurn, perSecond, progress, scale } from './compare.ts';
import { mappingOf } from './kinds.ts';
import { type Loader, loader, type Server } from './loader.ts';
import { type Answer, ask, basic, type Login, request } from './requests.ts';
import { startWithMappings } from './service.ts';

const documents = 10_000;
const connections = 32;
const perPage = 25;

const range = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** 200 lists of 25 mappings: pages in both orders, and every kind of filter. */
const paths: readonly string[] = [
  ...range(80, (n) => `skip=${n * 125}`),
  ...range(40, (n) => `order=-1&skip=${n * 250}`),
  ...range(20, (n) => `multiEquals[provenance]=${mappingOf(n).provenance}&skip=${n}`),
  ...range(20, (n) => `multiStartsWith[externalGroup]=TEAM-00${n % 10}&skip=${n * 40}`),
  ...range(20, (n) => `multiContains[name]=-00${n % 10}&order=-1&skip=${n * 30}`),
  ...range(20, (n) => `multiEquals[platformGroups]=platform-${String(n * 20).padStart(3, '0')}&skip=${n}`),
].map((query) => `/group-mappings?${query}`);

const users: readonly Login[] = range(50, (n) => ({ user: `reader-${n}`, password: `password of reader ${n}` }));

const compare = async (
  what: string,
  load: Loader,
  {
    ours,
    bare,
    status,
    recorded,
  }: {
    readonly ours: Server;
    readonly bare: Server;
    readonly status: number;
    readonly recorded: readonly Answer[];
  },
): Promise<Comparison> => {
  const measure = (name: string, server: Server) => async (): Promise<number> => {
    const { rate, first, body } = await load.run(name, server, {
      connections,
      status,
      milliseconds: scale.milliseconds,
    });
    if (!recorded[first % recorded.length]!.body.equals(body))
      throw new Error(`${name} answered something else to ${paths[first % paths.length]}`);
    return rate;
  };
  const { service, koa } = await inTurn(what, { service: measure('service', ours), koa: measure('bare Koa', bare) });
  return {
    what,
    comparedWith: 'bare Koa, same bytes and headers from a buffer',
    ours: service,
    theirs: koa,
    shown: perSecond,
    goal: { least: 0.6 },
  };
};

/** (a) Lists read by many, in full and unchanged (304), compared with Koa that does nothing but send them. */
export const reading = async (): Promise<Findings> => {
  const service = await startWithMappings(documents);
  progress('a: making accounts');
  for (const login of users) {
    await ask(service.url, 'POST', '/authorization/accounts', {
      body: { username: login.user, password: login.password, memberOf: ['readers'] },
    });
    await ask(service.url, 'GET', paths[0]!, { login });
  }

  const comparisons: Comparison[] = [];
  const notes: string[] = [];
  const full = await Promise.all(paths.map((path) => ask(service.url, 'GET', path)));
  for (const [n, { body }] of full.entries()) {
    const { length } = (JSON.parse(body.toString()) as { results: unknown[] }).results;
    if (length !== perPage) throw new Error(`${paths[n]} gives ${length} mappings`);
  }
  const conditions = full.map(({ headers }) => ({ 'If-None-Match': headers.etag! }));
  const unchanged = await Promise.all(
    paths.map((path, n) => ask(service.url, 'GET', path, { headers: conditions[n]!, status: 304 })),
  );

  for (const { title, status, recorded, headersOf } of [
    { title: '200', status: 200, recorded: full, headersOf: () => ({}) },
    { title: '304', status: 304, recorded: unchanged, headersOf: (n: number) => conditions[n]! },
  ]) {
    const what = `(a) GET ${perPage} of ${documents.toLocaleString('en')} group mappings, ${paths.length} queries, ${users.length} users, ${title}`;
    const load = loader(
      range(paths.length * users.length, (n) => {
        const at = n % paths.length;
        // Each query comes from each user, and no two neighbours from the same one.
        const login = users[(n + Math.floor(n / paths.length)) % users.length]!;
        return request('GET', paths[at]!, { Authorization: basic(login), ...headersOf(at) });
      }),
    );
    const bare = await startBare({ kind: 'recorded', answers: new Map(paths.map((path, n) => [path, recorded[n]!])) });
    comparisons.push(await compare(what, load, { ours: service, bare, status, recorded }));
    notes.push(`(a) ${title}, cores in use: ${load.shares()}.`);
    await bare.stop();
    await load.stop();
  }
  await service.stop();
  return { comparisons, notes };
};
