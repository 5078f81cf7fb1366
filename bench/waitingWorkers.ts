import { setTimeout as pause } from 'node:timers/promises';
import { startBare } from './bare.ts';
import { type Findings, median, progress, scale } from './compare.ts';
import { type Loader, loader, type Server } from './loader.ts';
import { cpuSeconds } from './processes.ts';
import { ask, metricOf } from './requests.ts';
import { om, post, start, startJobs, workers } from './workerRequests.ts';

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

/** The share of a core that a server needs, one round after the other. */
const sharesOf = async ({ pid }: Server, rounds: number, milliseconds: number): Promise<readonly number[]> => {
  const shares: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`w: round ${round} of ${rounds}`);
    const [began, before] = [performance.now(), cpuSeconds(pid)];
    await pause(milliseconds);
    shares.push(((cpuSeconds(pid) - before) / (performance.now() - began)) * 1000);
  }
  return shares;
};

const longestWait = 30;
const idle = 1000;

/** (w) Workers that have nothing to do: each asks again when it has waited for as long as it may. */
export const idleWorkers = async (): Promise<Findings> => {
  const service = await start();
  const milliseconds = longestWait * 1000;
  const claim = (wait: number): Loader =>
    loader([post('/jobs/claim', { components: ['Nothing'], worker: 'bench', wait })]);
  // What is compiled while it runs is compiled before.
  const warming = claim(0);
  await warming.run('warming', service, { connections: workers, status: 200, count: 20_000 });
  await warming.stop();
  const load = claim(longestWait);
  const without = await sharesOf(service, 1, milliseconds);
  const all = (scale.rounds + 1) * milliseconds;
  const done = load.run('waiting', service, { connections: idle, status: 200, milliseconds: all });
  // Until all have asked a first time.
  await pause(milliseconds / 2);
  const shares = await sharesOf(service, scale.rounds, milliseconds);
  await done;
  for (const one of [load, service]) await one.stop();
  return {
    comparisons: [
      {
        what: `(w) processor time of ${idle.toLocaleString('en')} workers that wait, of a core`,
        comparedWith: 'a hundredth of a core',
        ours: shares.map((share) => share - median(without)),
        theirs: shares.map(() => 0.01),
        shown: percent,
        goal: { most: 1 },
      },
    ],
    notes: [`(w) without workers the service took ${percent(median(without))} of a core.`],
  };
};

const running = 10_000;
const atOnce = 100;
const beatSeconds = 20;
/** So long after a claim, or its last extension, a heartbeat extends it: the first one after half of the lease. */
const extensionSeconds = 160;
/** The jobs are heard of one after the other, too. So claims over this time are extended evenly over the other one. */
const claimSeconds = extensionSeconds + beatSeconds;
const warmRounds = 3;

/** (w) Jobs that run, whose workers are heard of. Their claims are extended evenly. */
export const heartbeats = async (): Promise<Findings> => {
  const service = await start();
  await startJobs(service, 'Long', running);
  const beats: Buffer[] = [];
  const began = performance.now();
  for (let n = 1; beats.length < running; n++) {
    progress(`w: claims, ${beats.length} of ${running}`);
    const body = { components: ['Long'], worker: 'bench', max: atOnce };
    const { data } = JSON.parse((await ask(service.url, 'POST', `${om}/jobs/claim`, { body })).body.toString());
    for (const { job, claim } of data) {
      const beat = { claim, progress: { percent: 40, message: 'Half of the devices' } };
      beats.push(post(`/jobs/${job._id}/heartbeat`, beat));
    }
    const due = (n * atOnce * claimSeconds * 1000) / running;
    await pause(Math.max(0, began + due - performance.now()));
  }
  const milliseconds = beatSeconds * 1000;
  const load = loader(beats);
  const perSecond = running / beatSeconds;
  const beat = (name: string, server: Server) =>
    load.run(name, server, {
      connections: workers,
      status: 200,
      milliseconds: (warmRounds + scale.rounds) * milliseconds,
      perSecond,
    });
  const done = beat('heartbeats', service);
  // What is compiled while it runs is compiled before.
  await pause(warmRounds * milliseconds);
  const before = await metricOf(service.url, 'store_events_total');
  const measured = performance.now();
  const shares = await sharesOf(service, scale.rounds, milliseconds);
  const events =
    (((await metricOf(service.url, 'store_events_total')) - before) / (performance.now() - measured)) * 1000;
  const { rate, p99, body } = await done;
  const without = await sharesOf(service, 1, milliseconds);

  const bare = await startBare({ kind: 'body', answer: { status: 200, body: Buffer.from(body), headers: {} } });
  const bareDone = beat('Koa with koa-body', bare);
  await pause(warmRounds * milliseconds);
  const bareShares = await sharesOf(bare, scale.rounds, milliseconds);
  await bareDone;
  for (const one of [load, service, bare]) await one.stop();
  return {
    comparisons: [
      {
        what: `(w) processor time of ${perSecond} heartbeats/s of ${running.toLocaleString('en')} jobs, of a core`,
        comparedWith: 'a tenth of a core',
        ours: shares,
        theirs: shares.map(() => 0.1),
        shown: percent,
        goal: { most: 1 },
      },
      {
        what: '(w) the same',
        comparedWith: 'Koa + koa-body, as many requests and answers a second',
        ours: shares,
        theirs: bareShares,
        shown: percent,
      },
      {
        what: '(w) events stored for them',
        comparedWith: 'the goal',
        ours: [events],
        theirs: [70],
        shown: (figure) => `${figure.toFixed(1)}/s`,
        goal: { most: 1 },
      },
    ],
    notes: [
      `(w) ${rate.toFixed(1)} heartbeats/s were answered, p99 ${p99.toFixed(2)} ms.`,
      `(w) with these jobs, and without heartbeats, the service took ${percent(median(without))} of a core.`,
    ],
  };
};
