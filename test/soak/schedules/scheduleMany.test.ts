import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { collecting } from '../../../bench/collecting.ts';
import { encode } from '../../../src/store/event.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { day, hour, minute, second } from '../../support/scheduling.ts';
import { until } from '../../support/until.ts';

/*
 * What many schedules cost. `SCHEDULES=100000 npx mocha test/scheduleMany.test.ts` measures as many as the service is made
 * for, and holds the figures to its limits; without it there are few, and only what happens is looked at.
 */
const asked = process.env.SCHEDULES;
const many = Number(asked ?? 400);
const due = Math.min(1000, many / 2);

const about = (at: number) => ({
  $correlationId: 'made',
  $causationId: 'made',
  at: new Date(at).toISOString(),
  operation: 'made',
  requestId: 'made',
  schemaVersion: 1,
  actor: { id: 'a'.repeat(24), username: 'maker', provenance: 'local' },
});

const idOf = (n: number): string => n.toString(16).padStart(24, '0');
const actionId = 'f'.repeat(24);

/** A log with so many enabled schedules, or manual triggers. */
const fill = async (folder: string, type: 'schedule' | 'manual'): Promise<void> => {
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  const now = Date.now();
  const append = async (stream: string, topic: string, data: unknown, causation = 'made'): Promise<string> => {
    const id = randomUUID();
    const source = '@platform/operations-manager';
    const metadata = { ...about(now), $causationId: causation };
    await store.append(stream, -1, [encode({ stream, revision: 0, id, source }, { topic, data }, metadata, '')]);
    return id;
  };
  const open = { read: [], write: [] };
  const automation = { name: 'a', description: '', componentType: null, componentName: null, gbac: open };
  await append(`automation-${actionId}`, 'automationCreated', automation);
  const trigger = async (n: number): Promise<void> => {
    const common = {
      name: `Trigger ${n}`,
      enabled: true,
      actionType: 'automations',
      actionId,
      migrationVersion: 3,
      formData: null,
      formId: null,
      formSchemaHash: null,
      legacyWrapper: true,
    };
    const timing = {
      firstRunAt: now + day + n * second,
      repeatInterval: hour,
      processMissedRuns: 'last',
    };
    const data = type === 'manual' ? { ...common, type } : { ...common, type, ...timing };
    const cause = await append(`trigger-${idOf(n)}`, 'triggerCreated', data);
    if (type === 'schedule') await append(`triggerSchedule-${idOf(n)}`, 'scheduleSet', { since: now - minute }, cause);
  };
  for (let n = 0; n < many; n += 1000)
    await Promise.all(Array.from({ length: Math.min(1000, many - n) }, (_, i) => trigger(n + i)));
  await store.setCheckpoint('schedules', await store.head());
  await store.setCheckpoint('triggers', await store.head());
  await store.setCheckpoint('reactions', await store.head());
  await store.close();
};

const metric = async (server: Server, name: string): Promise<number> => {
  const { text } = await server.ask('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

/** Megabytes that are in use. */
const memory = async (server: Server): Promise<number> => {
  server.child.kill('SIGUSR2');
  await pause(1000);
  const [heap, external] = ['nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'];
  return ((await metric(server, heap)) + (await metric(server, external))) / 2 ** 20;
};

/** Starts the service on a log that it has read before. */
const startAgain = async (folder: string) => {
  const began = performance.now();
  const server = await startServer(folder, collecting);
  await until(async () => (await server.ask('GET', '/health/ready')).status === 200 || pause(20, false));
  return { server, ms: performance.now() - began };
};

const show = (text: string): void => void process.stderr.write(`    ${text}\n`);

describe(`${many} schedules`, function () {
  this.timeout(3_600_000);
  const folders: string[] = [];
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const filled = async (type: 'schedule' | 'manual'): Promise<string> => {
    const folder = temporaryFolder();
    folders.push(folder);
    await fill(folder, type);
    // The first start makes a snapshot.
    const server = await startServer(folder);
    await until(async () => (await server.ask('GET', '/health/ready')).status === 200 || pause(20, false));
    if (many > 20_000)
      await until(
        async () => ok(await server.ask('GET', '/health/status')).readStore.snapshot > 0 || pause(200, false),
        'a snapshot',
      );
    await server.stop();
    return folder;
  };

  it('start and take memory', async () => {
    const figures: Record<string, { ms: number; mb: number }> = {};
    for (const type of ['manual', 'schedule'] as const) {
      const folder = await filled(type);
      const { server, ms } = await startAgain(folder);
      if (type === 'schedule')
        await until(
          async () => (await metric(server, 'automation_platform_schedules_set')) === many || pause(50, false),
        );
      figures[type] = { ms, mb: await memory(server) };
      await server.stop();
    }
    const { manual, schedule } = figures;
    assert.ok(manual && schedule);
    const [ms, mb] = [schedule.ms - manual.ms, schedule.mb - manual.mb];
    show(`start: ${Math.round(schedule.ms)} ms, ${Math.round(ms)} ms more than with as many manual triggers`);
    show(`memory: ${Math.round(schedule.mb)} MB, ${Math.round(mb)} MB more than with as many manual triggers`);
    if (!asked) return;
    assert.ok(ms < 3000, `${ms} ms`);
    assert.ok(mb < 120, `${mb} MB`);
  });

  it(`decide ${due} that are due in one second`, async () => {
    const folder = await filled('schedule');
    const { server } = await startAgain(folder);
    await until(async () => (await metric(server, 'automation_platform_schedules_set')) === many || pause(50, false));
    /** Makes many due at one instant, for which the machine is given the time. */
    const makeDue = async (wait: number): Promise<number> => {
      const at = Date.now() + wait;
      const change = async (n: number): Promise<void> => {
        ok(await server.ask('PATCH', `/operations-manager/triggers/${idOf(n)}`, { firstRunAt: at }));
      };
      for (let n = 0; n < due; n += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => change(n + i)));
      return Date.now() + 5 * second < at ? at : makeDue(3 * wait);
    };
    const dueAt = await makeDue(15 * second);
    const meanwhileFrom = dueAt - 500;
    const about = { type: 'eventSystem', source: 's', topic: 't', schema: null, jst: null };
    const common = { name: 'Trigger of events', enabled: true, actionType: 'automations', actionId };
    ok(await server.ask('POST', '/operations-manager/triggers', { ...common, ...about }));
    /** When events were published, by their ids. */
    const published = new Map<string, number>();
    const publish = async (to: number): Promise<void> => {
      while (Date.now() < to) {
        const at = Date.now();
        const { data } = ok(await server.ask('POST', '/operations-manager/events/s/t', {}));
        published.set(data.id, at);
        // Fewer than TRIGGER_RATE.
        await pause(110);
      }
    };
    const latencies = async (to: number): Promise<number[]> => {
      const found: number[] = [];
      while (Date.now() < to) {
        const began = performance.now();
        ok(await server.ask('GET', `/operations-manager/triggers/${idOf(0)}`));
        found.push(performance.now() - began);
        await pause(5);
      }
      return found.sort((a, b) => a - b);
    };
    const [before] = await Promise.all([latencies(dueAt - second), publish(dueAt - second)]);
    await pause(Math.max(0, meanwhileFrom - Date.now()));
    const cpu = await metric(server, 'process_cpu_seconds_total');
    const [during] = await Promise.all([latencies(dueAt + 2 * second), publish(dueAt + 2 * second)]);
    const count = async (topic: string): Promise<readonly number[]> => {
      const store = await openSqliteReader(join(folder, 'events.db'));
      const times: number[] = [];
      for await (const { events } of store.readAll(0, [`@platform/operations-manager:${topic}`]))
        for (const { data, metadata } of events)
          if (JSON.parse(data).instant === dueAt) times.push(Date.parse(JSON.parse(metadata).at));
      await store.close();
      return times;
    };
    await until(async () => (await count('jobStarted')).length === due || pause(200, false), 'the jobs');
    /** How long events waited for their jobs, by when they were published. */
    const delays = async (from: number, to: number): Promise<number[]> => {
      const store = await openSqliteReader(join(folder, 'events.db'));
      const found: number[] = [];
      for await (const { events } of store.readAll(0, ['@platform/operations-manager:jobStarted']))
        for (const { data, metadata } of events) {
          const at = published.get(JSON.parse(data).event);
          if (at !== undefined && at >= from && at < to) found.push(Date.parse(JSON.parse(metadata).at) - at);
        }
      await store.close();
      return found.sort((a, b) => a - b);
    };
    // An event that waits for long has no job yet, and an event may begin to wait shortly before the instant.
    await until(async () => (await delays(0, Infinity)).length === published.size || pause(200, false), 'their jobs');
    const waits = { before: await delays(0, meanwhileFrom), during: await delays(meanwhileFrom, Infinity) };
    const used = (await metric(server, 'process_cpu_seconds_total')) - cpu;
    await server.stop();
    const [decided, started] = [await count('scheduleFired'), await count('jobStarted')];
    assert.equal(decided.length, due);
    const last = (times: readonly number[]) => Math.max(...times) - dueAt;
    const p99 = (all: readonly number[]): number => all[Math.floor(all.length * 0.99)] ?? 0;
    show(`${due} due at once: decided within ${last(decided)} ms, jobs started within ${last(started)} ms`);
    show(`processor time per decision with its job: ${((used / due) * 1000).toFixed(2)} ms`);
    show(`p99 from event to job: ${p99(waits.before)} ms before, ${p99(waits.during)} ms meanwhile`);
    show(`p99 of requests: ${p99(before).toFixed(1)} ms before, ${p99(during).toFixed(1)} ms meanwhile`);
    if (!asked) return;
    assert.ok(last(decided) < 2000, `${last(decided)} ms`);
    const [usual, meanwhile] = [p99(waits.before), p99(waits.during)];
    assert.ok(meanwhile < 2 * usual + 20, `${meanwhile} ms from event to job, ${usual} ms before`);
    const ratio = p99(during) / p99(before);
    assert.ok(ratio < 2, `requests take ${ratio} times as long`);
  });
});
