import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type JobEvent, job, originless } from '../src/domain/operations-manager/jobs.ts';
import { snapshotName } from '../src/projections/snapshots/snapshot.ts';
import { collecting, memoryOf } from './collecting.ts';
import { type Findings, inTurn, median, milliseconds, progress, scale, seconds } from './compare.ts';
import { hexId, type Kind } from './kinds.ts';
import { type Loader, loader } from './loader.ts';
import { writeLog } from './logs.ts';
import { type Service, startService, temporary } from './processes.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const list = '/operations-manager/jobs';
const running = 1_000;
const few = 10_000;
const authorization = { Authorization: basic(admin) };

const started = (n: number): JobEvent => ({
  topic: 'jobStarted',
  data: {
    name: `job-${n}`,
    description: 'Backs up the configurations of the devices of a site',
    type: 'workflow',
    variables: { site: `site-${n % 500}`, devices: [`edge-${n}`, `core-${n % 100}`] },
    component: { type: 'workflows', name: `workflow-${n % 300}` },
    automation: null,
    trigger: null,
    execution: null,
    groups: [],
    watchers: [],
    ...originless,
  },
});

/** Jobs that ended at the beginning of 2026, each soon after its start. */
export const endedJobs: Kind = {
  aggregate: job,
  share: 1,
  id: hexId,
  created: started,
  changed: () => ({ topic: 'jobCompleted', data: { variables: { saved: true } } }),
};

// The memory is what Node takes by itself, also for a million jobs.
const settings = { JOB_TIMEOUT: '0', ...collecting };

const serviceOn = async (folder: string, days: number): Promise<Service> => {
  const service = await startService(folder, { ...settings, RETENTION_DAYS: String(days) });
  await ready(service.url);
  return service;
};

/** A folder with the log of a service that has so many jobs that ended, and 1,000 that run. */
const newFolder = async (ended: number): Promise<string> => {
  progress(`writing a log of ${ended} jobs`);
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  writeLog(join(folder, 'events.db'), { kinds: [endedJobs], documents: ended, eventsEach: 2, oneByOne: true });
  const service = await serviceOn(folder, 0);
  const starting = loader([request('POST', `${list}/start`, authorization, JSON.stringify({ workflow: 'Running' }))]);
  await starting.run('start', service, { connections: 32, status: 200, count: running });
  await starting.stop();
  // The next starts read a snapshot, as those of a service that has run for long.
  while (ended > few && !existsSync(join(folder, snapshotName))) await pause(100);
  await service.stop();
  return folder;
};

/** The same. With BENCH_FOLDER it is a copy of one that is kept there: to write a million jobs takes minutes. */
const folderWith = async (ended: number): Promise<string> => {
  const place = process.env.BENCH_FOLDER;
  if (!place) return newFolder(ended);
  const kept = join(place, `jobs-${ended}`);
  if (!existsSync(kept)) cpSync(await newFolder(ended), kept, { recursive: true });
  const folder = join(await temporary(), 'data');
  cpSync(kept, folder, { recursive: true });
  return folder;
};

const totalOf = async ({ url }: Service): Promise<number> => {
  const { body } = await ask(url, 'GET', `${list}?limit=1`);
  return JSON.parse(body.toString()).metadata.total;
};

const ofJobs = `@platform/${job.area}`;

/** Seconds from a time to the last retirement of jobs. */
const retiredSince = async (began: number, { url }: Service): Promise<number> => {
  const times: number[] = [];
  for (let cursor = ''; ; ) {
    const path = `/audit/events?topic=endedRetired&limit=1000${cursor}`;
    const page = JSON.parse((await ask(url, 'GET', path)).body.toString());
    for (const { at, source } of page.results) if (source === ofJobs) times.push(Date.parse(at));
    if (page.cursor === null) return (Math.max(...times) - began) / 1000;
    cursor = `&cursor=${encodeURIComponent(page.cursor)}`;
  }
};

const listing = async (services: Readonly<Record<'many' | 'few', Service>>, path: string) => {
  const load = loader([request('GET', path, authorization)]);
  const first = async (service: Service): Promise<number> => {
    const { p50 } = await load.run('lists', service, { connections: 1, status: 200, milliseconds: scale.milliseconds });
    return p50;
  };
  const found = await inTurn(`t, ${path}`, { many: () => first(services.many), few: () => first(services.few) });
  await load.stop();
  return found;
};

/** The longest time that another request takes while a list is made that nobody has asked for. */
const besideFirstList = async ({ url }: Service): Promise<number> => {
  let isMade = false;
  const made = ask(url, 'GET', `${list}?limit=25&sort=last_updated`).then(() => {
    isMade = true;
  });
  let longest = 0;
  while (!isMade) {
    const began = performance.now();
    await ask(url, 'GET', '/health/live');
    longest = Math.max(longest, performance.now() - began);
  }
  await made;
  return longest;
};

/** The 99th percentiles of rounds of requests, until all jobs are retired. */
const whileRetiring = async (service: Service, others: Loader): Promise<readonly number[]> => {
  const rounds: number[] = [];
  while ((await totalOf(service)) > running) {
    progress('t: retiring');
    rounds.push((await others.run('retiring', service, { connections: 4, status: 200, milliseconds: 1000 })).p99);
  }
  return rounds;
};

/** (t) Lists beside many jobs that have ended, and their retirement. */
export const retiring = async (): Promise<Findings> => {
  const many = await folderWith(scale.ended);
  const services = { many: await serviceOn(many, 0), few: await serviceOn(await folderWith(few), 0) };
  const lists = await listing(services, `${list}?limit=25`);
  const runningLists = await listing(services, `${list}?limit=25&multiEquals[status]=running`);
  const besideFirst = { many: await besideFirstList(services.many), few: await besideFirstList(services.few) };
  const none = await serviceOn(await folderWith(0), 0);
  const before = { full: await memoryOf(services.many), empty: await memoryOf(none) };

  const others = loader([request('GET', `${list}?limit=25&multiEquals[name]=Running`, authorization)]);
  const alone: number[] = [];
  for (let round = 0; round < scale.rounds; round++)
    alone.push((await others.run('alone', services.many, { connections: 4, status: 200, milliseconds: 1000 })).p99);
  await services.many.stop();
  const service = await serviceOn(many, 30);
  const began = Date.now();
  const beside = await whileRetiring(service, others);
  const took = await retiredSince(began, service);
  const after = await memoryOf(service);
  await others.stop();
  for (const one of [service, services.few, none]) await one.stop();

  const count = scale.ended.toLocaleString('en');
  const p99 = median(alone);
  return {
    comparisons: [
      {
        what: `(t) first page of jobs, ${count} of which ended and 1,000 run, median`,
        comparedWith: 'with 10,000 that ended',
        ours: lists.many,
        theirs: lists.few,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(t) first page of those that run, median',
        comparedWith: 'the same',
        ours: runningLists.many,
        theirs: runningLists.few,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(t) longest wait of another request while a first sorted list is made',
        comparedWith: 'with 10,000 that ended',
        ours: [besideFirst.many],
        theirs: [besideFirst.few],
        shown: milliseconds,
      },
      {
        what: `(t) retirement of ${count} jobs, all after the start, per 1,000,000`,
        comparedWith: '60 s',
        ours: [(took * 1_000_000) / scale.ended],
        theirs: [60],
        shown: seconds,
        goal: { most: 1 },
      },
      {
        what: '(t) p99 of a list of running jobs meanwhile',
        comparedWith: 'the same before',
        ours: beside,
        theirs: beside.map(() => p99),
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(t) memory in use after the retirement',
        comparedWith: 'that of a service without jobs that ended',
        ours: [after],
        theirs: [before.empty],
        shown: (megabytes) => `${Math.round(megabytes)} MB`,
        goal: { most: 1.2 },
      },
    ],
    notes: [
      `(t) ${count} jobs that ended took ${Math.round(before.full - before.empty)} MB; retired in ${seconds(took)}.`,
    ],
  };
};
