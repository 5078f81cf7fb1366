import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ours, person, worker, workflow } from '../test/support/workflowSamples.ts';
import { collecting, memoryOf } from './collecting.ts';
import { type Findings, inTurn, median, milliseconds, perSecond, progress, scale, seconds } from './compare.ts';
import { loader } from './loader.ts';
import { cpuSeconds, type Service, startProgram, startService, temporary } from './processes.ts';
import type { AppendingAgain } from './programs/appendsAgain.ts';
import type { Work, Worked } from './programs/workers.ts';
import { ask, metricOf, request } from './requests.ts';
import { ready } from './service.ts';
import { authorization, om, post, start, startJobs, workers } from './workerRequests.ts';

// Jobs that run workflows. Rates are those of a second of processor time of the service where others use the machine, too.

type Document = ReturnType<typeof workflow>;

/** A workflow of so many tasks, one after the other. */
const chain = (length: number, task: (n: number) => object, end: object = worker()): Document => {
  const ids = Array.from({ length }, (_, n) => `t${n}`);
  const tasks = { ...Object.fromEntries(ids.map((id, n) => [id, task(n)])), last: end };
  const all = ['start', ...ids, 'last', 'end'];
  return workflow(
    tasks,
    all.slice(1).map((id, n) => `${all[n]} -> ${id}`),
  );
};

const dataTask = (n: number): object => ours('newVariable', { name: 'x', value: n });
const taskOf = (app: string) => (): object => worker({}, { app });

const save = (service: Service, name: string, document: Document): Promise<unknown> =>
  ask(service.url, 'POST', `${om}/workflows`, { body: { ...document, name } });

const jobsIn = async ({ url }: Service, status: string): Promise<number> => {
  const { body } = await ask(url, 'GET', `${om}/jobs?limit=1&multiEquals[status]=${status}`);
  return JSON.parse(body.toString()).metadata.total;
};

/** Waits until no job of the service goes on by itself. */
const settled = async (service: Service): Promise<void> => {
  while ((await jobsIn(service, 'running')) > 0) await pause(10);
};

/** How often something was done for each second of the service's processor time. */
const timesPerSecond = async ({ pid }: Service, run: () => Promise<number>): Promise<number> => {
  const before = cpuSeconds(pid);
  const times = await run();
  return times / (cpuSeconds(pid) - before);
};

const chains = { jobs: 200, tasks: 1000 };
const saveChains = (service: Service) => save(service, 'Chain', chain(chains.tasks - 1, dataTask, dataTask(0)));

/** Data tasks in chains, all jobs at once. */
export const runningChains = async (): Promise<Findings> => {
  const first = await start();
  await saveChains(first);
  const costs: number[] = [];
  const engine = async (service: Service): Promise<number> => {
    const [began, before] = [performance.now(), cpuSeconds(service.pid)];
    await startJobs(service, 'Chain', chains.jobs);
    await settled(service);
    const runs = chains.jobs * chains.tasks;
    costs.push(((cpuSeconds(service.pid) - before) / runs) * 1e6);
    return (runs / (performance.now() - began)) * 1000;
  };
  await engine(first);
  await first.stop();
  const program = startProgram('appendsAgain');
  const again = (order: AppendingAgain) => program.ask<number>(order);
  await again({ from: join(first.folder, 'events.db') });
  const service = await startService(first.folder);
  await ready(service.url);
  const before = cpuSeconds(program.pid);
  const found = await inTurn('workflows, chains', {
    engine: () => engine(service),
    byHand: async () => again({ to: join(await temporary(), 'events.db') }),
  });
  const byHand = ((cpuSeconds(program.pid) - before) / ((scale.rounds + 1) * chains.jobs * chains.tasks)) * 1e6;
  for (const one of [service, program]) await one.stop();
  const what = `(workflows) data tasks in chains of ${chains.tasks}, ${chains.jobs} jobs at once`;
  return {
    comparisons: [
      {
        what,
        comparedWith: 'the same events straight into the store, in the same batches',
        ours: found.engine,
        theirs: found.byHand,
        shown: perSecond,
        goal: { least: 0.5 },
      },
      {
        what,
        comparedWith: 'the goal',
        ours: found.engine,
        theirs: found.engine.map(() => 1000),
        shown: perSecond,
        goal: { least: 1 },
      },
    ],
    notes: [
      `(workflows) processor time of a data task, in which its event is stored and read models follow: ${Math.round(median(costs))} us, ` +
        `of an append by hand: ${Math.round(byHand)} us.`,
    ],
  };
};

/** A program that works on a service. */
const workersOf = ({ port }: Service, atOnce: number) => {
  const program = startProgram('workers');
  return {
    work: (order: Pick<Work, 'does' | 'milliseconds' | 'count'>) =>
      program.ask<Worked>({ port, workers: atOnce, authorization, ...order } satisfies Work),
    stop: program.stop,
  };
};

const chainOfWork = 100;

/** A task from its claim to its report, and the start of a job that waits for a worker. */
export const claimingTasks = async (): Promise<Findings> => {
  const service = await start();
  await save(service, 'Tasks', chain(chainOfWork, taskOf('Lab')));
  await save(service, 'One task', chain(0, taskOf('Lab')));
  const { work, stop } = workersOf(service, workers);
  const count = 3000;
  const costOfWork = (does: Work['does']) => timesPerSecond(service, async () => (await work({ does, count })).done);
  const startOf = (name: string) => {
    const load = loader([post('/jobs/start', { workflow: name, options: { variables: { site: 'Bonn' } } })]);
    const run = async (): Promise<number> =>
      (await load.run(name, service, { connections: workers, status: 200, count })).count;
    return { rate: () => timesPerSecond(service, run), stop: load.stop };
  };
  const [oneTask, plain] = [startOf('One task'), startOf('Plain')];
  const starts = await inTurn('workflows, starts', { oneTask: oneTask.rate, plain: plain.rate });
  await startJobs(service, 'Tasks', Math.ceil((count * (scale.rounds + 1)) / chainOfWork) + workers);
  await startJobs(service, 'Whole jobs', count * (scale.rounds + 1));
  const claims = await inTurn('workflows, tasks', {
    tasks: () => costOfWork({ tasks: 'Lab' }),
    jobs: () => costOfWork({ jobs: 'Whole jobs' }),
  });
  await stop();
  for (const one of [oneTask, plain, service]) await one.stop();
  const perSecondOfProcessor = (figure: number): string => `${perSecond(figure)} of processor time`;
  return {
    comparisons: [
      {
        what: '(workflows) a task of a worker: claim, finish, the next one waits',
        comparedWith: 'claim and complete of a job',
        ours: claims.tasks,
        theirs: claims.jobs,
        shown: perSecondOfProcessor,
        goal: { least: 0.8 },
      },
      {
        what: '(workflows) start of a job with one task of a worker',
        comparedWith: 'start of a job without a workflow',
        ours: starts.oneTask,
        theirs: starts.plain,
        shown: perSecondOfProcessor,
        goal: { least: 0.9 },
      },
    ],
  };
};

const mostRuns = 10_000;
const few = 300;

/** Milliseconds of processor time of the service for each of so many reports, with their claims. */
const costOf = async ({ url }: Service, count: number, run: () => Promise<unknown>): Promise<number> => {
  const used = () => metricOf(url, 'process_cpu_seconds_total');
  const [first, before] = [await used(), await used()];
  await run();
  // To ask for it takes processor time, too.
  return (((await used()) - before - (before - first)) / count) * 1000;
};

/** The first runs of a job, and those before it has run as many tasks as it may. */
export const longJobs = async (): Promise<Findings> => {
  const service = await start();
  const tasks = { there: worker({}, { app: 'Long' }), back: worker({}, { app: 'Long' }) };
  await save(
    service,
    'Long',
    workflow(tasks, ['start -> there', 'there -> back', 'there <-success- back', 'back -failure-> end']),
  );
  const { work, stop } = workersOf(service, 1);
  const reports = (count: number) => work({ does: { tasks: 'Long' }, count });
  const all: { readonly first: number; readonly last: number }[] = [];
  for (let round = 0; round <= scale.rounds; round++) {
    progress(`workflows, long: round ${round} of ${scale.rounds}`);
    await startJobs(service, 'Long', 1);
    const first = await costOf(service, few, () => reports(few));
    await reports(mostRuns - 1 - 2 * few);
    const last = await costOf(service, few, () => reports(few));
    if ((await jobsIn(service, 'running')) > 0) throw new Error('The job has more runs');
    if (round > 0) all.push({ first, last });
  }
  for (const one of [{ stop }, service]) await one.stop();
  return {
    comparisons: [
      {
        what: `(workflows) claim and report of the last ${few} of ${mostRuns.toLocaleString('en')} runs of a job, processor time`,
        comparedWith: `its first ${few}`,
        ours: all.map(({ last }) => last),
        theirs: all.map(({ first }) => first),
        shown: milliseconds,
        goal: { most: 2 },
      },
    ],
  };
};

const branches = 500;
const joins = 5;

/** Jobs with many branches: the report after which they are joined. */
export const joining = async (): Promise<Findings> => {
  const service = await start();
  const ids = Array.from({ length: branches }, (_, n) => `b${n}`);
  const fork = Object.fromEntries(ids.map((id, n) => [id, worker({}, { app: n === 0 ? 'Last' : 'Branch' })]));
  const edges = ids.flatMap((id) => [`start -> ${id}`, `${id} -> joined`]);
  await save(service, 'Join', workflow({ ...fork, joined: person() }, [...edges, 'joined -> end']));
  await save(service, 'Tasks', chain(joins, taskOf('Chain')));
  const { work, stop } = workersOf(service, 1);
  const costs = { last: [] as number[], branch: [] as number[], chain: [] as number[] };
  for (let round = 0; round <= scale.rounds; round++) {
    progress(`workflows, joins: round ${round} of ${scale.rounds}`);
    await startJobs(service, 'Join', joins);
    await startJobs(service, 'Tasks', 1);
    const cost = (app: string, count: number) => costOf(service, count, () => work({ does: { tasks: app }, count }));
    const [branch, last, link] = [
      await cost('Branch', (branches - 1) * joins),
      await cost('Last', joins),
      await cost('Chain', joins),
    ];
    if (round === 0) continue;
    costs.branch.push(branch);
    costs.last.push(last);
    costs.chain.push(link);
  }
  for (const one of [{ stop }, service]) await one.stop();
  const against = { comparedWith: 'a report in a chain', theirs: costs.chain, shown: milliseconds };
  return {
    comparisons: [
      {
        what: `(workflows) claim and last report before a join of ${branches}, processor time`,
        ours: costs.last,
        ...against,
        goal: { most: 3 },
      },
      { what: `(workflows) the same, the mean of those before`, ours: costs.branch, ...against },
    ],
  };
};

/** Requests of others while many data tasks are carried out. */
export const besideChains = async (): Promise<Findings> => {
  const service = await start();
  await saveChains(service);
  const load = loader(
    Array.from({ length: 100 }, (_, n) =>
      request('GET', `${om}/automations?skip=${n}`, { Authorization: authorization }),
    ),
  );
  const run = () =>
    load.run('others', service, { connections: 8, status: 200, milliseconds: 2 * scale.milliseconds, perSecond: 500 });
  const pauses: number[] = [];
  const found = await inTurn('workflows, others', {
    without: async () => (await run()).p99,
    beside: async () => {
      await metricOf(service.url, 'nodejs_eventloop_lag_max_seconds');
      const all = (async () => {
        await startJobs(service, 'Chain', chains.jobs);
        await settled(service);
      })();
      const { p99 } = await run();
      pauses.push((await metricOf(service.url, 'nodejs_eventloop_lag_max_seconds')) * 1000);
      await all;
      return p99;
    },
  });
  for (const one of [load, service]) await one.stop();
  const longest = pauses.slice(-scale.rounds);
  return {
    comparisons: [
      {
        what: `(workflows) p99 of a list while ${chains.jobs} chains of ${chains.tasks} data tasks run`,
        comparedWith: 'without them',
        ours: found.beside,
        theirs: found.without,
        shown: milliseconds,
        goal: { most: 3 },
      },
      {
        what: '(workflows) the longest pause of the event loop meanwhile',
        comparedWith: 'the goal',
        ours: longest,
        theirs: longest.map(() => 50),
        shown: milliseconds,
        goal: { most: 1 },
      },
    ],
  };
};

const waiting = 10_000;
const before = 29;

/** Memory of jobs that wait for a person, and the start of a node that has them. */
export const waitingJobs = async (): Promise<Findings> => {
  const empty = await temporary();
  const kinds: Readonly<Record<string, Document | undefined>> = {
    plain: undefined,
    person: chain(0, dataTask, person()),
    tasks: chain(before, dataTask, person()),
  };
  const memory: Record<string, number> = {};
  const folders: Record<string, string> = {};
  for (const [name, document] of Object.entries(kinds)) {
    const folder = join(empty, name);
    mkdirSync(folder);
    const service = await startService(folder, collecting);
    await ready(service.url);
    if (document) await save(service, name, document);
    progress(`workflows, waiting: ${name}`);
    await startJobs(service, name, waiting);
    await service.stop();
    folders[name] = folder;
  }
  const node = async (name: string) => {
    const service = await startService(folders[name]!, collecting);
    await ready(service.url);
    return service;
  };
  const measure = (name: string) => async (): Promise<number> => {
    const service = await node(name);
    const took = cpuSeconds(service.pid);
    await service.stop();
    return took;
  };
  for (const name of Object.keys(kinds)) {
    const service = await node(name);
    memory[name] = await memoryOf(service);
    await service.stop();
  }
  const found = await inTurn('workflows, start of a node', { plain: measure('plain'), tasks: measure('tasks') });
  const more = (name: string, than: string, each: number) => [
    ((memory[name]! - memory[than]!) * 2 ** 20) / waiting / each,
  ];
  const bytes = (figure: number): string => `${Math.round(figure)} B`;
  return {
    comparisons: [
      {
        what: `(workflows) memory of each of ${waiting.toLocaleString('en')} jobs that wait for a person, more than of plain jobs`,
        comparedWith: 'the goal',
        ours: more('person', 'plain', 1),
        theirs: [4096],
        shown: bytes,
        goal: { most: 1 },
      },
      {
        what: '(workflows) memory of each task that is done',
        comparedWith: 'a byte',
        ours: more('tasks', 'person', before),
        theirs: [1],
        shown: bytes,
        goal: { most: 1 },
      },
      {
        what: `(workflows) start of a node with ${waiting.toLocaleString('en')} jobs that wait, ${before + 1} tasks each, processor time`,
        comparedWith: 'as many jobs without workflows',
        ours: found.tasks,
        theirs: found.plain,
        shown: seconds,
        goal: { most: 1.5 },
      },
    ],
  };
};
