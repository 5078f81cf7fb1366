import { execFileSync, execSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Comparison, type Findings, inTurn, progress } from './compare.ts';
import { loader, type Server } from './loader.ts';
import { cpuSeconds, kept, type Service, startService, temporary } from './processes.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const root = new URL('..', import.meta.url);
const om = '/operations-manager';
const documents = 1000;
const connections = 32;
const count = 3000;
const body = { site: 'Bonn', ports: [1, 2, 3], reason: 'The uplink of the site is down' };
const fire = `${om}/triggers/endpoint/down`;

const pathOf = (n: number): string => `/group-mappings/ldap/team-${n % documents}`;
const headers = { Authorization: basic(admin) };

/** A folder that is kept from run to run, made when it lacks a file; undefined if it cannot be made. */
const folderWith = (name: string, file: string, make: (folder: string) => void): string | undefined => {
  const folder = join(tmpdir(), name);
  if (existsSync(join(folder, file))) return folder;
  progress(`making ${folder}`);
  try {
    mkdirSync(folder, { recursive: true });
    make(folder);
    return existsSync(join(folder, file)) ? folder : undefined;
  } catch {
    return undefined;
  }
};

/** An older commit of this repository, built. */
const older = (commit: string): string | undefined =>
  folderWith(`automation-platform-${commit}`, 'dist/main.js', (folder) => {
    execSync(`git archive ${commit} | tar x -C ${folder}`, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    for (const words of ['ci --no-audit --no-fund', 'run build'])
      execFileSync('npm', words.split(' '), { cwd: folder, stdio: 'ignore' });
  });

/** Node-RED with a flow that answers a request and stores nothing; undefined if npm cannot get it. */
const startNodeRed = async (): Promise<(Server & { readonly stop: () => void }) | undefined> => {
  const program = 'node_modules/node-red/red.js';
  const folder = folderWith('automation-platform-node-red', program, (where) => {
    execFileSync('npm', ['install', 'node-red@4', '--no-audit', '--no-fund', '--prefix', where], { stdio: 'ignore' });
  });
  if (folder === undefined) return undefined;
  const port = 20_000 + (process.pid % 10_000);
  // Not below this repository, whose files are modules.
  const data = await temporary(tmpdir());
  const flow = [
    { id: 't', type: 'tab' },
    { id: 'a', type: 'http in', z: 't', url: fire, method: 'post', wires: [['b']] },
    { id: 'b', type: 'http response', z: 't', wires: [] },
  ];
  writeFileSync(join(data, 'flows.json'), JSON.stringify(flow));
  const settings = { uiPort: port, uiHost: '127.0.0.1', flowFile: 'flows.json', httpAdminRoot: false };
  writeFileSync(join(data, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`);
  const child = kept(
    spawn(process.execPath, [join(folder, program), '-u', data, '-s', join(data, 'settings.js')], { stdio: 'ignore' }),
  );
  const answers = () =>
    fetch(`http://127.0.0.1:${port}${fire}`, { method: 'POST' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (child.exitCode === null && !(await answers()))
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  return child.exitCode === null ? { pid: child.pid!, port, stop: () => child.kill('SIGKILL') } : undefined;
};

const post = async (service: Service, path: string, document: object): Promise<string> =>
  JSON.parse((await ask(service.url, 'POST', om + path, { body: document })).body.toString()).data._id;

/** The service of a folder with an automation, a trigger and group mappings. */
const startWithAll = async (dist?: string) => {
  const service = await startService(await temporary(), {}, dist);
  await ready(service.url);
  const automation = await post(service, '/automations', { name: 'Look at the site' });
  const action = { actionType: 'automations', actionId: automation };
  const schema = { type: 'object', required: ['site'], properties: { site: { type: 'string' } } };
  const about = { type: 'endpoint', verb: 'POST', routeName: 'down', enabled: true, schema, jst: null };
  await post(service, '/triggers', { name: 'The site is down', ...action, ...about });
  for (let n = 0; n < documents; n++)
    await ask(service.url, 'PATCH', pathOf(n), { body: { updates: { platformGroups: ['operators'] } } });
  return { service, automation };
};

const requestsOf = (automation: string): Readonly<Record<string, readonly Buffer[]>> => ({
  'PATCH of a group mapping': Array.from({ length: 2 * documents }, (_, n) =>
    request(
      'PATCH',
      pathOf(n),
      headers,
      JSON.stringify({ updates: { platformGroups: [`changed-${Math.floor(n / documents)}`, 'operators'] } }),
    ),
  ),
  'POST /jobs/start': [
    request(
      'POST',
      `${om}/jobs/start`,
      headers,
      JSON.stringify({ workflow: automation, options: { variables: body } }),
    ),
  ],
  'list of 25': Array.from({ length: 200 }, (_, n) => request('GET', `/group-mappings?skip=${4 * n}`, headers)),
  GET: Array.from({ length: documents }, (_, n) => request('GET', pathOf(n), headers)),
});

/** Microseconds of processor time that a request takes, all threads of the process. */
const costOf = (requests: readonly Buffer[], server: Server) => {
  const load = loader(requests);
  const cost = async (): Promise<number> => {
    const before = cpuSeconds(server.pid);
    await load.run('', server, { connections, status: 200, count });
    return ((cpuSeconds(server.pid) - before) / count) * 1e6;
  };
  return { cost, stop: load.stop };
};

const micro = (figure: number): string => `${Math.round(figure)} us`;

/** (v) Processor time of a request beside that of an older commit (`BENCH_OLDER`, 0.1.0), and of Node-RED. */
export const costing = async (): Promise<Findings> => {
  const commit = process.env.BENCH_OLDER ?? '40169da';
  const comparisons: Comparison[] = [];
  const notes: string[] = [];
  const compare = async (
    name: string,
    other: string,
    most: number,
    [ours, theirs]: readonly ReturnType<typeof costOf>[],
  ): Promise<void> => {
    const found = await inTurn(`v, ${name}`, { ours: ours!.cost, theirs: theirs!.cost });
    comparisons.push({
      what: `(v) processor time of a ${name}`,
      comparedWith: other,
      ...found,
      shown: micro,
      goal: { most },
    });
    for (const one of [ours!, theirs!]) await one.stop();
  };
  const present = await startWithAll();
  const folder = older(commit);
  if (folder === undefined)
    notes.push(`(v) commit ${commit} cannot be had and built here: nothing is compared with it.`);
  else {
    const before = await startWithAll(join(folder, 'dist'));
    const theirs = requestsOf(before.automation);
    for (const [name, requests] of Object.entries(requestsOf(present.automation)))
      await compare(name, `commit ${commit}`, name.startsWith('P') ? 0.8 : 1, [
        costOf(requests, present.service),
        costOf(theirs[name]!, before.service),
      ]);
    await before.service.stop();
  }
  const nodeRed = await startNodeRed();
  if (!nodeRed) notes.push('(v) Node-RED cannot be had here: the endpoint trigger is compared with nothing.');
  else {
    const requests = [request('POST', fire, headers, JSON.stringify(body))];
    await compare('POST to an endpoint trigger', 'Node-RED, which stores nothing', 1, [
      costOf(requests, present.service),
      costOf(requests, nodeRed),
    ]);
    nodeRed.stop();
  }
  await present.service.stop();
  return { comparisons, notes };
};
