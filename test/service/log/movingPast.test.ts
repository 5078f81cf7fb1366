import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reactionsReader } from '../../../src/store/readers.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { eventsIn, eventsOf, storedEarlier, withLog } from '../../support/logged.ts';
import { copyOfLog, waysBack } from '../../support/movedLogs.ts';
import { ok } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { sampled } from '../../support/sample.ts';
import { outcomeOf, ranOf } from '../../support/scheduleOutcome.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const day = 24 * 60 * 60 * 1000;

for (const [way, bring] of sampled(Object.entries(waysBack), 1)) {
  describe(`a past that ${way} bring back`, function () {
    this.timeout(300_000);
    let folder: string;
    let service: TestService;
    beforeEach(async () => {
      folder = temporaryFolder();
      mkdirSync(join(folder, 'b'));
      service = await startService({ TRIGGER_RATE: '1' }, join(folder, 'a'));
    });
    afterEach(async () => {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const asks = async (method: string, path: string, body?: unknown) =>
      ok(await service.ask(method, `${om}${path}`, body)).data;
    const trigger = async (name: string, more: object): Promise<string> => {
      const [known] = await asks('GET', '/automations');
      const { _id: actionId } = known ?? (await asks('POST', '/automations', { name: 'a' }));
      const about = { name, enabled: true, actionType: 'automations', actionId, ...more };
      return (await asks('POST', '/triggers', about))._id;
    };
    const moved = async (): Promise<void> => {
      await service.stop();
      await bring(join(folder, 'a'), join(folder, 'b'));
      copyFileSync(join(folder, 'a', 'secret.key'), join(folder, 'b', 'secret.key'));
    };
    const startAgain = async (): Promise<void> => {
      service = await startService({ TRIGGER_RATE: '1000' }, join(folder, 'b'));
    };

    it('starts no job for what was waiting, and goes on with what happens from now on', async () => {
      const about = { type: 'eventSystem', source: 's', topic: 't', schema: null, jst: null };
      await trigger('t', about);
      for (let n = 0; n < 4; n++) await asks('POST', '/events/s/t', { n });
      const status = async () => ok(await service.ask('GET', '/health/status')).triggers;
      await until(async () => (await status()).behind === 1, 'the trigger that is behind');
      assert.equal((await asks('GET', '/jobs')).length, 1);
      await moved();
      await startAgain();
      const { id } = await asks('POST', '/events/s/t', { n: 'new' });
      const started = async (): Promise<readonly string[]> =>
        (await asks('GET', '/jobs?limit=100')).map(({ event }: { event: string }) => event);
      await until(async () => (await started()).includes(id), 'the job of the new event');
      assert.equal((await started()).length, 2);
      await until(async () => (await status()).waiting === 0 && (await status()).behind === 0);
      assert.equal((await started()).length, 2);
    });

    it('begins enabled schedules at its own time, and no others', async () => {
      const about = {
        type: 'schedule',
        formId: null,
        formData: null,
        firstRunAt: Date.now() + day,
        repeatInterval: day,
      };
      const on = await trigger('on', { ...about, processMissedRuns: 'last' });
      const off = await trigger('off', { ...about, enabled: false, processMissedRuns: 'last' });
      const set = async (id: string, of: string): Promise<readonly number[]> => {
        const file = join(folder, of, 'events.db');
        const events = await withLog(file, (log) => eventsOf(log, `triggerSchedule-${id}`));
        for (const { topic } of events) assert.equal(topic, 'scheduleSet');
        return events.map(({ data }) => data.since);
      };
      await until(async () => (await set(off, 'a')).length === 1, 'the schedules');
      const before = Date.now();
      await moved();
      const [first, second, ...more] = await set(on, 'b');
      assert.ok(first! < before && second! >= before && second! <= Date.now(), `${first} ${second} ${before}`);
      assert.deepEqual([more, (await set(off, 'b')).length], [[], 1]);
      await startAgain();
      const shown = await asks('GET', `/triggers/${on}`);
      assert.equal(shown.nextRunAt, about.firstRunAt);
      assert.equal((await set(on, 'b')).length, 2);
    });

    it('begins those that are disabled in a log of a version that ran none, with the next start', async () => {
      const [earlier, id, actionId] = [join(folder, 'earlier'), '1'.repeat(24), '2'.repeat(24)];
      mkdirSync(earlier);
      const source = 'operations-manager';
      const gbac = { read: [], write: [] };
      const automation = { name: 'a', description: '', componentType: null, componentName: null, gbac };
      const timing = { firstRunAt: Date.now() + day, repeatInterval: day, processMissedRuns: 'last' };
      const about = { name: 'off', type: 'schedule', enabled: false, actionType: 'automations', actionId, ...timing };
      await storedEarlier(earlier, [
        { stream: `automation-${actionId}`, source, topic: 'automationCreated', data: automation },
        { stream: `trigger-${id}`, source, topic: 'triggerCreated', data: { ...about, formId: null, formData: null } },
      ]);
      const log = await openSqliteStore({ file: join(earlier, 'events.db') });
      await log.setCheckpoint(reactionsReader, await log.head());
      await log.close();
      await service.stop();
      await bring(earlier, join(folder, 'b'));
      await startAgain();
      assert.equal((await asks('PATCH', `/triggers/${id}`, { enabled: true })).nextRunAt, timing.firstRunAt);
    });
  });
}

describe('a log that log copy moves', function () {
  this.timeout(300_000);
  let folder: string;
  let service: TestService;
  beforeEach(async () => {
    folder = temporaryFolder();
    for (const name of ['a', 'b']) mkdirSync(join(folder, name));
    service = await startService({}, join(folder, 'a'));
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has schedules that go on as after a stop: each instant is settled once, and what was due is missed', async () => {
    const asks = async (method: string, path: string, body?: unknown) =>
      ok(await service.ask(method, `${om}${path}`, body)).data;
    const { _id: actionId } = await asks('POST', '/automations', { name: 'a' });
    const first = Date.now() + 500;
    const about = { name: 's', type: 'schedule', enabled: true, actionType: 'automations', actionId };
    const timing = { firstRunAt: first, repeatInterval: 1000, processMissedRuns: 'last' };
    const { _id } = await asks('POST', '/triggers', { ...about, ...timing, formId: null, formData: null });
    const lastRun = async (): Promise<number> => (await asks('GET', `/triggers/${_id}`)).lastIntervalStart ?? 0;
    await until(async () => (await lastRun()) > first, 'two runs');
    await service.stop();
    const to = join(folder, 'b', 'events.db');
    await copyOfLog(join(folder, 'a'), join(folder, 'b'));
    copyFileSync(join(folder, 'a', 'secret.key'), join(folder, 'b', 'secret.key'));
    const moved = Date.now();
    await until(() => Date.now() > moved + 2500);
    service = await startService({}, join(folder, 'b'));
    await until(async () => (await lastRun()) > moved + 2500, 'a run after the move');
    await asks('PATCH', `/triggers/${_id}`, { enabled: false });
    await service.stop();
    const events = await withLog(to, eventsIn);
    const { decided, jobs } = outcomeOf(events, _id);
    const ran = ranOf(decided, first, 1000);
    assert.ok(decided.some(({ topic }) => topic === 'runsMissed'));
    assert.deepEqual(
      jobs.map(({ data }) => data.instant),
      ran.slice(0, jobs.length),
    );
    assert.ok(ran.length - jobs.length <= 1, 'a stop may leave the last job to the next start');
    assert.equal(events.filter(({ stream, topic }) => stream.endsWith(_id) && topic === 'scheduleSet').length, 1);
  });
});
