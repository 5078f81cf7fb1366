import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { positionOf } from '../../support/hostile.ts';
import { eventsOf, storedEarlier, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const om = '/operations-manager';
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('Schedules over HTTP', () => {
  const service = useService();
  let automation: string;
  let count = 0;
  const asks = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.ask(method, `${om}${path}`, body, headers);
  const schedule = async (more: object = {}) =>
    ok(
      await asks('POST', '/triggers', {
        name: `Schedule ${++count}`,
        type: 'schedule',
        enabled: true,
        actionType: 'automations',
        actionId: automation,
        formId: null,
        formData: null,
        firstRunAt: Date.now() + day,
        processMissedRuns: 'none',
        ...more,
      }),
    ).data;
  const shown = async ({ _id }: { readonly _id: string }) => ok(await asks('GET', `/triggers/${_id}`)).data;
  const jobsOf = async ({ _id }: { readonly _id: string }): Promise<readonly any[]> =>
    ok(await asks('GET', '/jobs?limit=1000')).data.filter(({ trigger }: any) => trigger === _id);
  const events = (stream: string): Promise<readonly any[]> =>
    withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, stream));

  before(async () => {
    automation = ok(await asks('POST', '/automations', { name: 'Back up' })).data._id;
  });

  it('show when they run next, in the answer of each change', async () => {
    const at = Date.now() + day;
    const made = await schedule({ firstRunAt: at, repeatInterval: hour });
    assert.deepEqual([made.nextRunAt, made.lastIntervalStart, made.lastExecuted], [at, null, null]);
    assert.deepEqual(await shown(made), made);
    const patch = async (body: object) => ok(await asks('PATCH', `/triggers/${made._id}`, body)).data.nextRunAt;
    assert.equal(await patch({ enabled: false }), null);
    assert.equal(await patch({ firstRunAt: at + hour }), null);
    assert.equal(await patch({ enabled: true }), at + hour);
    const past = Date.now() - 10 * day;
    const next = await patch({ firstRunAt: past, repeatInterval: 30 * day });
    assert.equal(next, past + 30 * day);
    assert.equal((await shown(made)).nextRunAt, next);
  });

  it('start a job, which makes no If-Match stale and no other answer', async () => {
    const at = Date.now() + 300;
    const made = await schedule({ firstRunAt: at, formData: { site: 'Bonn' } });
    const before = await asks('GET', `/triggers/${made._id}`);
    await until(async () => (await shown(made)).lastExecuted !== null);
    const after = await asks('GET', `/triggers/${made._id}`);
    const [job, ...others] = await jobsOf(made);
    assert.deepEqual(others, []);
    assert.deepEqual(job.variables, {
      formData: { site: 'Bonn' },
      _trigger: { id: made._id, name: made.name, type: 'schedule' },
    });
    assert.deepEqual([job.instant, job.event, job.created_by, job.watchers], [at, null, 'admin', []]);
    const { nextRunAt, lastIntervalStart, lastExecuted, ...rest } = ok(after).data;
    assert.deepEqual([nextRunAt, lastIntervalStart], [null, at]);
    assert.equal(lastExecuted, Date.parse(job.created));
    assert.deepEqual({ ...rest, nextRunAt: at, lastIntervalStart: null, lastExecuted: null }, made);
    const [tag, tagAfter] = [before, after].map(({ headers }) => headers.get('etag') ?? '');
    assert.notEqual(tag, tagAfter);
    assert.equal(tag?.split('-')[0], tagAfter?.split('-')[0]);
    ok(await asks('PATCH', `/triggers/${made._id}`, { description: 'new' }, { 'If-Match': tag ?? '' }));
  });

  it('mark in a preview what was settled and what is to come', async () => {
    const at = Date.now() + 300;
    const made = await schedule({ firstRunAt: at, repeatInterval: hour });
    await until(async () => (await shown(made)).lastIntervalStart === at);
    const { data } = ok(await asks('GET', `/triggers/${made._id}/preview?count=2&after=${at - 1}`));
    assert.deepEqual(data, [
      { at, state: 'settled' },
      { at: at + hour, state: 'next' },
    ]);
  });

  it('show their last run after a change of when they run', async () => {
    const at = Date.now();
    const made = await schedule({ firstRunAt: at, repeatInterval: hour });
    await until(async () => (await shown(made)).lastIntervalStart === at);
    // With the first run of before, the instant that has run would be due again.
    const timing = { firstRunAt: at + day, repeatInterval: 2 * hour };
    const changed = ok(await asks('PATCH', `/triggers/${made._id}`, timing)).data;
    assert.deepEqual([changed.lastIntervalStart, changed.nextRunAt], [at, at + day]);
    const topics = (await events(`triggerSchedule-${made._id}`)).map(({ topic }) => topic);
    assert.deepEqual(topics, ['scheduleSet', 'scheduleFired', 'scheduleSet']);
    assert.equal((await shown(made)).lastIntervalStart, at);
  });

  it('never decide again what has run, nor miss what was never due, in whatever way they begin anew', async () => {
    const seconds = { firstRunAt: Date.now() - day, repeatInterval: second };
    const made = await schedule({ ...seconds, processMissedRuns: 'last' });
    const [path, stream] = [`/triggers/${made._id}`, `triggerSchedule-${made._id}`];
    const other = { repeatInterval: 1500 };
    const ofTopic = (all: readonly any[], topic: string) =>
      all.filter((one) => one.topic === topic).map(({ data }) => data);
    /** Waits until it has begun so often, and has run since. */
    const ran = (begun: number) =>
      until(async () => {
        const all = await events(stream);
        return ofTopic(all, 'scheduleSet').length === begun && all.at(-1).topic === 'scheduleFired';
      }, `a run after begin ${begun}`);
    await ran(1);
    const created = Date.parse(made.created);
    const preview = ok(await asks('GET', `${path}/preview?count=5&after=${created - minute}`)).data;
    assert.ok(preview[1].at > created && preview[0].state === 'settled', 'of before, what has run is shown');
    ok(await asks('PATCH', path, other));
    ok(await asks('PATCH', path, seconds));
    await ran(3);
    const position = await positionOf(service);
    const restore = async () =>
      ok(await service.ask('POST', '/audit/restore', { kind: 'trigger', id: made._id, position }));
    const triggers = [{ ...(await shown(made)), ...other }];
    ok(await asks('PUT', '/triggers', { triggers, overwrite: true }));
    await ran(4);
    await restore();
    await ran(5);
    ok(await asks('DELETE', path));
    await restore();
    await ran(6);
    ok(await asks('DELETE', path));
    const all = await events(stream);
    const runs = ofTopic(all, 'scheduleFired').map(({ instant }) => instant);
    assert.equal(new Set(runs).size, runs.length, 'each instant has fired once');
    for (const { first, last } of ofTopic(all, 'runsMissed')) {
      assert.ok(!runs.some((instant) => first <= instant && instant <= last), 'what has run is not missed');
      assert.ok(first > created, 'what was never due is not missed');
    }
  });

  it('make up for the last run after a stop with `last`, and say what was missed', async () => {
    const at = Date.now() + 700;
    const made = await schedule({ firstRunAt: at, repeatInterval: second, processMissedRuns: 'last' });
    ok(await asks('PATCH', `/triggers/${made._id}`, { enabled: false }));
    await until(() => Date.now() > at + 3 * second);
    ok(await asks('PATCH', `/triggers/${made._id}`, { enabled: true }));
    await until(async () => (await shown(made)).lastIntervalStart !== null);
    ok(await asks('PATCH', `/triggers/${made._id}`, { enabled: false }));
    const [set, missed, fired] = await events(`triggerSchedule-${made._id}`);
    assert.equal(set.data.since, Date.parse(made.created) - minute);
    assert.equal(missed.data.first, at);
    assert.equal(missed.data.last, fired.data.instant - second);
    assert.equal(missed.data.count, (fired.data.instant - at) / second);
    const { data } = ok(await asks('GET', `/triggers/${made._id}/preview?count=1&after=${at - 1}`));
    assert.deepEqual(data, [{ at, state: 'missed' }]);
  });

  it('that were scheduled jobs before have missed nothing from before their migration', async () => {
    const catalog = '/automation_catalog';
    const at = Date.now() - 10 * day - 2 * hour;
    const job = {
      _id: '7'.repeat(24),
      name: 'WorkflowJob',
      data: { workflowId: 'Back up every day', formId: null, formData: null },
      type: 'normal',
      nextRunAt: new Date(at).toISOString(),
      repeatInterval: '1 day',
    };
    ok(await service.ask('POST', `${catalog}/import/scheduled-jobs`, { scheduledJobs: [job] }));
    ok(await service.ask('POST', `${catalog}/automations/migration`, { agendaJobs: [job._id] }));
    const migrated = async (): Promise<any> =>
      ok(await asks('GET', '/triggers?limit=1000')).data.find(({ firstRunAt }: any) => firstRunAt === at);
    await until(async () => (await migrated()) !== undefined, 'the trigger');
    const made = await migrated();
    await until(async () => (await events(`triggerSchedule-${made._id}`)).length > 0);
    const [set, ...more] = await events(`triggerSchedule-${made._id}`);
    const [created] = await events(`trigger-${made._id}`);
    assert.equal(set.data.since, Date.parse(created.metadata.at) - minute);
    assert.deepEqual(
      more.map(({ data }) => data),
      [],
    );
    ok(await asks('PATCH', `/triggers/${made._id}`, { enabled: true }));
    assert.equal((await shown(made)).nextRunAt, at + 11 * day);
  });

  it('are refused in words by a form that has changed, and go on', async () => {
    const schema = { title: 'Ports', type: 'object', properties: { vlan: { type: 'integer' } } };
    ok(await service.ask('POST', '/json-forms/forms', { name: 'Ports', schema }));
    const made = await schedule({ formId: 'Ports', formData: { vlan: 10 } });
    const changed = { ...schema, properties: { vlan: { type: 'integer', minimum: 0 } } };
    ok(await service.ask('PUT', '/json-forms/forms', { options: { name: 'Ports', schema: changed } }));
    const at = Date.now() + 300;
    ok(await asks('PATCH', `/triggers/${made._id}`, { firstRunAt: at, repeatInterval: hour }));
    await until(async () => (await events(`triggerRuns-${made._id}`)).length === 1);
    const [{ topic, data }] = await events(`triggerRuns-${made._id}`);
    assert.equal(topic, 'runsRefused');
    assert.deepEqual([data.reason, data.count, data.instant], ['form', 1, at]);
    assert.match(data.message, /has changed/);
    const { lastIntervalStart, lastExecuted, nextRunAt } = await shown(made);
    assert.deepEqual([lastIntervalStart, lastExecuted, nextRunAt], [at, null, at + hour]);
    assert.deepEqual(await jobsOf(made), []);
  });

  it('that are imported over the same trigger go on, and those that were not there begin', async () => {
    const at = Date.now() - 10 * day;
    const made = await schedule({ firstRunAt: at, repeatInterval: 30 * day });
    const path = `triggerSchedule-${made._id}`;
    const imported = async (document: object) =>
      ok(await asks('PUT', '/triggers', { triggers: [document], overwrite: true })).data;
    await imported({ ...made, name: 'Renamed', nextRunAt: 1, lastIntervalStart: 2, lastExecuted: 3 });
    assert.equal((await events(path)).length, 1);
    const { nextRunAt, lastIntervalStart, lastExecuted } = await shown(made);
    assert.deepEqual([nextRunAt, lastIntervalStart, lastExecuted], [at + 30 * day, null, null]);
    await imported({ ...made, firstRunAt: at + 1 });
    assert.equal((await events(path)).length, 2);
    ok(await asks('DELETE', `/triggers/${made._id}`));
    await imported({ ...made, firstRunAt: at + 1 });
    const sets = await events(path);
    assert.equal(sets.length, 3);
    for (const { data, metadata } of sets) assert.ok(Date.parse(metadata.at) - data.since >= minute);
  });

  it('that are made what they were begin anew if the timing changes, else they go on', async () => {
    const made = await schedule({ repeatInterval: hour });
    const sets = async () => (await events(`triggerSchedule-${made._id}`)).length;
    const change = async (patch: object): Promise<number> => {
      const position = await positionOf(service);
      ok(await asks('PATCH', `/triggers/${made._id}`, patch));
      return position;
    };
    const restore = async (position: number) =>
      ok(await service.ask('POST', '/audit/restore', { kind: 'trigger', id: made._id, position }));
    await restore(await change({ name: 'Renamed' }));
    assert.equal(await sets(), 1);
    const position = await change({ repeatInterval: 2 * hour });
    assert.equal(await sets(), 2);
    await restore(position);
    assert.equal(await sets(), 3);
    assert.equal((await shown(made)).repeatInterval, hour);
  });

  it('are in health and metrics, with how many mean nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const actionId = '6a0c1e2d3a4b5c6d7e8f9a01';
    const [mended, deleted] = ['5f0c1e2d3a4b5c6d7e8f9a0b', '5f0c1e2d3a4b5c6d7e8f9a0c'];
    const data = {
      name: 'Without end',
      type: 'schedule',
      enabled: true,
      actionType: 'automations',
      actionId,
      formId: null,
      formData: null,
      firstRunAt: 0,
      repeatInterval: 1,
      processMissedRuns: 'last',
    };
    const open = { read: [], write: [] };
    const automation = { name: 'Old', description: '', componentType: null, componentName: null, gbac: open };
    const source = 'operations-manager';
    await storedEarlier(folder, [
      { stream: `automation-${actionId}`, source, topic: 'automationCreated', data: automation },
      { stream: `trigger-${mended}`, source, topic: 'triggerCreated', data },
      { stream: `trigger-${deleted}`, source, topic: 'triggerCreated', data: { ...data, name: 'Without end either' } },
    ]);
    const other = await startService({}, folder);
    try {
      // It starts months after the newest event: that is confirmed.
      assert.ok(ok(await other.ask('GET', '/health/status')).clock.jumped > 24 * hour);
      assert.deepEqual(ok(await other.ask('POST', '/health/clock')), {
        clock: { jumped: null, until: null, why: null },
      });
      const good = { ...data, name: 'Good', firstRunAt: Date.now() + 500, repeatInterval: hour };
      const made = ok(await other.ask('POST', `${om}/triggers`, good)).data;
      const status = async () => ok(await other.ask('GET', '/health/status'));
      const faults = async (): Promise<number> => (await status()).schedules.faults;
      await until(async () => (await faults()) === 2, 'both faults');
      assert.deepEqual((await status()).clock, { jumped: null, until: null, why: null });
      const shownOld = ok(await other.ask('GET', `${om}/triggers/${mended}`)).data;
      assert.deepEqual([shownOld.nextRunAt, shownOld.fault.path], [null, '/repeatInterval']);
      await until(
        async () => ok(await other.ask('GET', `${om}/triggers/${made._id}`)).data.lastIntervalStart === good.firstRunAt,
      );
      const lines = [
        'schedules_set 1',
        'schedules_faults 2',
        'schedules_starting 0',
        'clock_jumped 0',
        'trigger_runs_total{type="schedule",outcome="job"} 1',
      ];
      await until(async () => {
        const { text } = await other.ask('GET', '/metrics');
        return lines.every((line) => text.includes(`\nautomation_platform_${line}\n`));
      }, 'the metrics');
      ok(await other.ask('PATCH', `${om}/triggers/${mended}`, { firstRunAt: Date.now() + day, repeatInterval: hour }));
      await until(async () => (await faults()) === 1, 'one fault less');
      ok(await other.ask('DELETE', `${om}/triggers/${deleted}`));
      await until(async () => (await faults()) === 0, 'no faults');
    } finally {
      await other.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('have their events in the list of events', async () => {
    await schedule();
    const { data } = ok(await asks('GET', '/events?limit=1000'));
    const topics = data.map(({ topic }: any) => topic);
    for (const topic of ['scheduleSet', 'runsMissed', 'scheduleFired']) assert.ok(topics.includes(topic), topic);
  });
});
