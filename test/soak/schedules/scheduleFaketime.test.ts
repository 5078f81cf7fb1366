import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Recorded } from '../../../src/store/event.ts';
import { clockedService, describeFaketime, missingFaketime } from '../../support/fakeClock.ts';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, temporaryFolder } from '../../support/process.ts';
import { day, hour, minute, second } from '../../support/scheduling.ts';
import { adminPassword } from '../../support/service.ts';
import { walked } from '../../support/slowSchedules.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const at = (text: string): number => Date.parse(`${text}Z`);
const begin = at('2026-03-28T00:00:00');

describeFaketime(`Schedules and the clock of the machine${missingFaketime}`, function () {
  this.timeout(1_800_000);
  let folder: string;
  let service: ReturnType<typeof clockedService>;
  before(() => {
    assert.equal(missingFaketime, '', 'In CI nothing may be missing');
    folder = temporaryFolder();
    service = clockedService(folder);
  });
  after(async () => {
    await service?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const setClock = (time: number): void => service.setClock(time);
  const startAt = (time: number): Promise<Server> => service.startAt(time);
  const stop = (): Promise<void> => service.stop();
  const clock = () => service.clock();
  const asks = async (method: string, path: string, body?: unknown) => {
    return ok(await service.ask(method, `${om}${path}`, body));
  };
  /** The operator says that the clock is right, after a start that is more than a day after the newest event. */
  const confirm = async (): Promise<void> => {
    ok(await service.ask('POST', '/health/clock'));
    assert.deepEqual(await clock(), { jumped: null, until: null, why: null });
  };
  let count = 0;
  const schedule = async (more: object): Promise<any> => {
    const automations = (await asks('GET', '/automations')).data;
    const automation = automations[0] ?? (await asks('POST', '/automations', { name: 'a' })).data;
    const common = { type: 'schedule', enabled: true, actionType: 'automations', actionId: automation._id };
    const form = { formId: null, formData: null };
    const body = { name: `Schedule ${++count}`, ...common, ...form, processMissedRuns: 'none', ...more };
    return (await asks('POST', '/triggers', body)).data;
  };
  const decidedOf = async (id: string): Promise<readonly Recorded<any>[]> => {
    const file = join(folder, 'data', 'events.db');
    const events = await withLog(file, (log) => eventsOf(log, `triggerSchedule-${id}`));
    return events.filter(({ topic }) => topic !== 'scheduleSet');
  };
  /** Waits until a schedule has run that is due now: so everything that was due before was decided. */
  const looked = async (now: number): Promise<void> => {
    const { _id } = await schedule({ firstRunAt: now });
    await until(
      async () => (await asks('GET', `/triggers/${_id}`)).data.lastIntervalStart === now || pause(100, false),
      'the run of a schedule that is due',
    );
  };

  /** What an hourly schedule does, by walking through its instants. */
  const hourly = (id: string, policy: 'none' | 'last', since: number) => {
    let through = since;
    const expected: unknown[] = [];
    return {
      id,
      look: (now: number): void => {
        const due = walked({ firstRunAt: begin, repeatInterval: hour }, now).filter((instant) => instant > through);
        const last = due.at(-1);
        if (last === undefined) return;
        const runs = now - last <= minute || policy === 'last';
        const missed = runs ? due.slice(0, -1) : due;
        if (missed.length > 0) expected.push({ count: missed.length, first: missed[0], last: missed.at(-1) });
        if (runs) expected.push(last);
        through = last;
      },
      check: async (): Promise<void> => {
        const found = (await decidedOf(id)).map(({ topic, data }) => (topic === 'scheduleFired' ? data.instant : data));
        assert.deepEqual(found, expected);
      },
    };
  };

  it('settle each instant once, whatever the clock says at each start', async () => {
    const first = at('2026-03-29T00:20:00');
    await startAt(first);
    const models = [];
    for (const processMissedRuns of ['none', 'last'] as const) {
      const made = await schedule({ firstRunAt: begin, repeatInterval: hour, processMissedRuns });
      models.push(hourly(made._id, processMissedRuns, Date.parse(made.created) - minute));
    }
    const [start, exactly] = [true, false];
    for (const [text, isBefore] of [
      ['2026-03-29T01:00:00', exactly], // clocks go forward in Berlin
      ['2026-03-29T02:20:00', start], // an hour ahead
      ['2026-03-29T01:20:00', start], // an hour back
      ['2026-03-30T02:20:00', start], // a day ahead
      ['2026-03-29T03:20:00', start], // a day back
      ['2026-10-25T01:00:00', exactly], // clocks go back in Berlin
      ['2028-02-29T00:00:00', exactly], // a leap day begins
      ['2028-03-01T00:00:00', exactly], // and ends
      ['2038-03-01T00:20:00', start], // ten years ahead
      ['2028-03-01T01:20:00', start], // and back
    ] as const) {
      const time = at(text);
      await stop();
      // Steps of less than five minutes are believed at once.
      await startAt(isBefore ? time : time - 4 * minute);
      await confirm();
      if (!isBefore) {
        for (const model of models) model.look(time - 4 * minute);
        setClock(time - second);
      }
      await looked(time);
      for (const model of models) model.look(time);
      for (const model of models) await model.check();
    }
    const [none] = models;
    assert.ok(none);
    const { data } = await asks('PATCH', `/triggers/${none.id}`, { repeatInterval: 2 * hour });
    assert.equal(data.nextRunAt, at('2028-03-01T02:00:00'));
    await stop();
  });

  it('wait when the clock jumps while they run, and go on when it is corrected', async () => {
    const now = at('2028-03-01T05:20:00');
    await startAt(now);
    await looked(now);
    const { _id } = await schedule({ firstRunAt: now + 30 * minute });
    for (const jump of [hour, -hour, 24 * hour, -24 * hour]) {
      assert.deepEqual(await clock(), { jumped: null, until: null, why: null });
      setClock(now + 5 * minute + jump);
      await until(async () => (await clock()).jumped !== null || pause(50, false), 'the jump in health');
      const { jumped, until: end } = await clock();
      assert.ok(Math.abs(jumped - jump) < 5 * minute, `${jumped} for ${jump}`);
      assert.ok(Math.abs(end - (now + jump)) < 10 * minute);
      setClock(now);
      await until(async () => (await clock()).jumped === null || pause(50, false), 'the end of the jump in health');
    }
    assert.deepEqual(await decidedOf(_id), []);
    await stop();
  });

  it('end nothing by a clock that is wrong for seconds, while they run or at a start', async () => {
    rmSync(join(folder, 'data'), { recursive: true, force: true });
    const now = at('2030-01-01T00:00:00');
    await startAt(now);
    await asks('POST', '/automations', { name: 'Back up', componentType: 'workflows', componentName: 'back up' });
    const job = async (): Promise<string> => (await asks('POST', '/jobs/start', { workflow: 'Back up' })).data._id;
    const [done, claimed, paused, running] = [await job(), await job(), await job(), await job()];
    await asks('POST', `/jobs/${done}/complete`, { variables: {} });
    await asks('POST', '/jobs/claim', { components: ['back up'], worker: 'w', lease: 10 });
    await asks('POST', '/jobs/pause', { jobIds: [paused] });
    await schedule({ firstRunAt: now, repeatInterval: hour, processMissedRuns: 'last' });
    const { text: token } = await service.ask('POST', '/login', { username: 'admin', password: adminPassword });
    const byToken = async () =>
      (await service.ask('GET', '/whoami', undefined, { Authorization: `Bearer ${token}` })).status;
    const status = async (id: string) => (await service.ask('GET', `${om}/jobs/${id}`)).body?.data?.status ?? 'gone';
    const all = () => Promise.all([done, claimed, paused, running].map(status));
    const kept = ['complete', 'running', 'paused', 'running'];
    /** The time in which everything is looked at that could end. */
    const looks = async (): Promise<void> => {
      const from = performance.now();
      await until(() => performance.now() > from + 5000 || pause(100, false), 'all looks');
      assert.deepEqual(await all(), kept);
    };
    const lost = async (): Promise<number> =>
      (await withLog(join(folder, 'data', 'events.db'), (log) => eventsOf(log, `job-${claimed}`))).filter(
        ({ topic, data }) => topic === 'jobReleased' && data.reason === 'lapsed',
      ).length;

    setClock(now + 365 * day);
    await until(async () => (await clock()).jumped !== null || pause(50, false), 'the jump in health');
    await looks();
    const meanwhile = await job();
    const { created } = (await asks('GET', `/jobs/${meanwhile}`)).data;
    assert.ok(Date.parse(created) < now + hour, `${created} shows the time from before the jump`);
    assert.equal(await byToken(), 200);
    setClock(now + minute);
    await until(async () => (await clock()).jumped === null || pause(50, false), 'the end of the jump');
    assert.equal(await byToken(), 200);
    assert.deepEqual(await all(), kept);
    await stop();

    for (const stored of [true, false]) {
      await startAt(now + 31 * day);
      assert.ok((await clock()).jumped > 30 * day);
      await looks();
      // The time of this event proves nothing to the next start.
      if (stored) await job();
      await stop();
    }
    assert.equal(await lost(), 0);

    await startAt(now + 31 * day);
    setClock(now + 2 * minute);
    await until(async () => (await clock()).jumped === null || pause(50, false), 'the corrected clock');
    assert.deepEqual(await all(), kept);
    await stop();
    await startAt(now + 31 * day);
    await confirm();
    await until(
      async () => (await all()).join() === 'gone,error,error,error' || pause(100, false),
      'what is to end after a month',
    );
    await stop();
  });
});
