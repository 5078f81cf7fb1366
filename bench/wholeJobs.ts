import { type Findings, inTurn, median, perSecond, scale } from './compare.ts';
import { type Loader, loader } from './loader.ts';
import { cpuSeconds, startProgram } from './processes.ts';
import type { Work, Worked } from './programs/workers.ts';
import { authorization, post, start, startJobs, workers } from './workerRequests.ts';

/** More than are completed in a round. */
const waiting = Math.max(5000, scale.milliseconds * 3);

/** (w) Whole jobs, from the claim to the report, compared with plain requests that store an event each. */
export const claimToReport = async (): Promise<Findings> => {
  const service = await start();
  const program = startProgram('workers');
  const order: Work = {
    port: service.port,
    workers,
    authorization,
    does: { jobs: 'Whole jobs' },
    milliseconds: scale.milliseconds,
  };
  await startJobs(service, 'Whole jobs', waiting);
  // Microseconds of the service's processor time for a job, or what it is compared with.
  const costs = { jobs: [] as number[], publish: [] as number[], begin: [] as number[] };
  const jobs = async (): Promise<number> => {
    const before = cpuSeconds(service.pid);
    const worked = await program.ask<Worked>(order);
    costs.jobs.push(((cpuSeconds(service.pid) - before) / worked.done) * 1e6);
    await startJobs(service, 'Whole jobs', worked.done);
    return (worked.done / worked.milliseconds) * 1000;
  };

  const publish = loader([post('/events/monitor/linkDown', { site: 'Bonn', ports: [1, 2, 3] })]);
  const begin = loader([post('/jobs/start', { workflow: 'Plain', options: { variables: { site: 'Bonn' } } })]);
  const twoOf = (load: Loader, name: 'publish' | 'begin') => async (): Promise<number> => {
    const before = cpuSeconds(service.pid);
    const { milliseconds } = scale;
    const { count, rate } = await load.run(name, service, { connections: workers, status: 200, milliseconds });
    costs[name].push(((cpuSeconds(service.pid) - before) / (count / 2)) * 1e6);
    return rate / 2;
  };
  const found = await inTurn('w, claim to report', {
    jobs,
    publish: twoOf(publish, 'publish'),
    begin: twoOf(begin, 'begin'),
  });
  for (const one of [program, publish, begin, service]) await one.stop();

  const against = (comparedWith: string, theirs: readonly number[]) => ({
    what: `(w) jobs from claim to report, ${workers} workers`,
    comparedWith,
    ours: found.jobs,
    theirs,
    shown: perSecond,
    goal: { least: 0.5 },
  });
  return {
    comparisons: [
      against('two POSTs of an event for each job', found.publish),
      against('two POST /jobs/start for each job', found.begin),
    ],
    notes: [
      `(w) processor time of the service: a job ${Math.round(median(costs.jobs))} us, two POSTs of an event ` +
        `${Math.round(median(costs.publish))} us, two POST /jobs/start ${Math.round(median(costs.begin))} us.`,
    ],
  };
};
