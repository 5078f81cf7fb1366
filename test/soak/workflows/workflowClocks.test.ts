import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { clockedService, describeFaketime, missingFaketime } from '../../support/fakeClock.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { day, hour, minute } from '../../support/scheduling.ts';
import { until } from '../../support/until.ts';
import { ours, person, workflow } from '../../support/workflowSamples.ts';

const om = '/operations-manager';
const monday = Date.parse('2029-01-01T00:00:00Z');
const jobs = 40;

/** Waits, a repeat and a time limit, all of half an hour and more. */
const document = workflow(
  {
    ...Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`wait${n}`, ours('delay', { time: 1800 + n })])),
    again: ours('reattempt', { attemptID: 'a', attempts: 2, minutes: 30 }),
    ask: person({ timeLimit: { seconds: 1800, result: 'success' } }),
  },
  [...Array.from({ length: 6 }, (_, n) => `wait${n}`), 'again', 'ask'].flatMap((id) => [
    `start -> ${id}`,
    `${id} -> end`,
  ]),
);

describeFaketime(`Jobs that wait for a time, and the clock of the machine${missingFaketime}`, function () {
  this.timeout(600_000);
  let folder: string;
  let service: ReturnType<typeof clockedService>;
  const ids: string[] = [];
  before(async () => {
    assert.equal(missingFaketime, '', 'In CI nothing may be missing');
    folder = temporaryFolder();
    service = clockedService(folder);
    await service.startAt(monday);
    ok(await service.ask('POST', `${om}/workflows`, { ...document, name: 'Times' }));
    for (let n = 0; n < jobs; n++)
      ids.push(ok(await service.ask('POST', `${om}/jobs/start`, { workflow: 'Times' })).data._id);
  });
  after(async () => {
    await service?.stop('SIGKILL');
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const ends = async (): Promise<readonly string[]> =>
    (await withLog(join(folder, 'data', 'events.db'), eventsIn)).flatMap(({ stream, topic, data }) =>
      topic === 'taskFinished' || topic === 'jobCompleted'
        ? [`${stream} ${topic} ${(data as { readonly task?: string }).task ?? ''}`]
        : [],
    );
  /** The time in which everything is looked at that could be due. */
  const looks = async (): Promise<void> => {
    const from = performance.now();
    await until(() => performance.now() > from + 3000 || pause(100, false), 'all looks');
  };

  it('wait on when the clock jumps an hour forth or back', async () => {
    const before = await ends();
    for (const jump of [hour, -hour]) {
      service.setClock(monday + 5 * minute + jump);
      await until(async () => (await service.clock()).jumped !== null || pause(50, false), 'the jump in health');
      await looks();
      assert.deepEqual(await ends(), before, `${jump}`);
      service.setClock(monday + 5 * minute);
      await until(async () => (await service.clock()).jumped === null || pause(50, false), 'the corrected clock');
    }
    assert.deepEqual(await ends(), before);
  });

  it('go on after a stopped week, all at once, and each time counts once', async () => {
    const before = await ends();
    await service.stop();
    await service.startAt(monday + 7 * day);
    await looks();
    assert.deepEqual(await ends(), before, 'nothing ends before the operator says that the clock is right');
    ok(await service.ask('POST', '/health/clock'));
    const status = async (id: string) => ok(await service.ask('GET', `${om}/jobs/${id}`)).data.status;
    for (const id of ids)
      await until(async () => (await status(id)) === 'complete' || pause(50, false), `the end of ${id}`);
    const after = await ends();
    assert.deepEqual(after, [...new Set(after)]);
    // Each of eight tasks, the start, the end, and the job.
    assert.equal(after.length, jobs * 11);
  });
});
