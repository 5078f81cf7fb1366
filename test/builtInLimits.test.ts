import assert from 'node:assert/strict';
import type { Tools } from '../src/commands/engine/define.ts';
import { readConfig } from '../src/config.ts';
import { activeProfile } from '../src/domain/profiles/profiles.ts';
import { activeSettings } from '../src/http/profiles/settings.ts';
import { jobQueue } from '../src/runners/jobs/jobQueue.ts';
import { type StartLimit, starts } from '../src/runners/jobs/starts.ts';
import { openWaysOut } from '../src/service/waysOut.ts';
import { builtInOf, type Controller, controller, says } from './builtIn.ts';
import { ok } from './people.ts';
import { startService, type TestService } from './service.ts';
import { until } from './until.ts';
import { says as answers, webhookServer } from './webhookServer.ts';

describe('Starts of jobs', () => {
  const setUp = (first: StartLimit) => {
    let time = 10_500;
    let limit = first;
    let opened = 0;
    const count = starts({ limit: () => limit, now: () => time, opened: () => void opened++ });
    const most = (): number => {
      let begun = 0;
      while (begun < 100 && count.take()) begun++;
      return begun;
    };
    return {
      count,
      most,
      pass: (ms: number) => {
        time += ms;
      },
      become: (next: StartLimit) => {
        limit = next;
        count.changed();
      },
      opened: () => opened,
    };
  };

  it('are as many as the limit in each window', () => {
    const { count, most, pass } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    pass(499);
    assert.equal(most(), 0);
    pass(1);
    assert.equal(most(), 3);
    pass(10_000);
    assert.equal(most(), 3);
    count.stop();
  });

  it('are any number without a limit', () => {
    assert.equal(setUp({ most: 0, windowMs: 1000 }).most(), 100);
  });

  it('do not count what did not begin', () => {
    const { count, most } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    count.giveBack();
    assert.equal(most(), 1);
    count.stop();
  });

  it('follow a changed limit at once, and count what has begun', () => {
    const { count, most, become, opened } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    become({ most: 5, windowMs: 1000 });
    assert.equal(opened(), 1);
    assert.equal(most(), 2);
    become({ most: 0, windowMs: 1000 });
    assert.equal(most(), 100);
    count.stop();
  });

  it('tell when the next window begins', async () => {
    let opened = false;
    const count = starts({
      limit: () => ({ most: 1, windowMs: 50 }),
      now: () => performance.now(),
      opened: () => {
        opened = true;
      },
    });
    while (count.take());
    // A timer may be a moment early: then it is told again.
    await until(() => opened && count.take());
    count.stop();
  });
});

describe('A queue whose starts are limited', () => {
  const job = (id: string, created = 1) => ({ id, component: 'c', turn: 'A', guard: undefined, created });
  const wish = { components: new Set(['c']), may: () => true };
  const never = new AbortController().signal;
  /** So many jobs may begin. */
  const startsOf = (most: number) => {
    const count = { left: most };
    const take = (): boolean => {
      if (count.left === 0) return false;
      count.left--;
      return true;
    };
    const giveBack = (): void => {
      count.left++;
    };
    return { count, take, giveBack };
  };

  it('lets those wait who may not begin yet, and serves them in their order', async () => {
    const { count, ...starting } = startsOf(1);
    const queue = jobQueue(starting);
    for (const id of ['a', 'b', 'c']) queue.add(job(id));
    assert.equal((await queue.next(wish, never))?.id, 'a');
    const given: string[] = [];
    for (const who of ['first', 'second']) void queue.next(wish, never).then((one) => given.push(`${who} ${one?.id}`));
    assert.equal(queue.take(wish), undefined);
    count.left = 1;
    queue.serve();
    await until(() => given.length === 1);
    count.left = 1;
    queue.serve();
    await until(() => given.length === 2);
    assert.deepEqual(given, ['first b', 'second c']);
  });

  it('keeps a job that comes while none may begin, though somebody waits for one', async () => {
    const { count, ...starting } = startsOf(0);
    const queue = jobQueue(starting);
    const next = queue.next(wish, never);
    queue.add(job('a'));
    assert.equal(queue.size(), 1);
    count.left = 1;
    queue.serve();
    assert.equal((await next)?.id, 'a');
  });

  it('gives what has waited longer to who waits, when a job comes as soon as one may begin', async () => {
    const { count, ...starting } = startsOf(0);
    const queue = jobQueue(starting);
    const next = queue.next(wish, never);
    queue.add(job('older'));
    count.left = 1;
    queue.add(job('newer', 2));
    assert.equal((await next)?.id, 'older');
    assert.equal(queue.size(), 1);
  });

  it('counts no start where there is no job', () => {
    const { count, ...starting } = startsOf(2);
    const queue = jobQueue(starting);
    queue.add(job('a'));
    assert.equal(queue.take({ ...wish, components: new Set(['other']) }), undefined);
    assert.equal(count.left, 2);
  });
});

describe('The engines of templates and expressions', function () {
  this.timeout(60_000);

  it('become as many at once as transformationWorkerCount of the active profile says', async () => {
    let transformationWorkerCount = 1;
    const state = async ({ category }: { category: string }) =>
      category === activeProfile.category
        ? { id: 'p' }
        : { properties: { systemProps: { transformationWorkerCount } } };
    const settings = activeSettings({
      ...{ state: state as unknown as Tools['state'], onChange: () => undefined },
      log: (message) => assert.fail(message),
    });
    await settings.refresh();
    const { renderer } = openWaysOut({
      config: readConfig({}),
      node: {} as Parameters<typeof openWaysOut>[0]['node'],
      settings,
    });
    const { signal } = new AbortController();
    const over: string[] = [];
    // The template that the first one uses comes when the test is at its end.
    let supply: ((text: string) => void) | undefined;
    const find = () => new Promise<string>((resolve) => (supply = resolve));
    const first = renderer.render('{% include "other" %}', {}, { account: 'a', signal, find });
    void first.finally(() => over.push('first'));
    await until(() => supply !== undefined, 'the first render');
    const second = renderer.render('2', {}, { account: 'b', signal, find });
    transformationWorkerCount = 3;
    await settings.refresh();
    assert.equal(await second, '2');
    assert.deepEqual(over, []);
    supply?.('1');
    assert.equal(await first, '1');
    await renderer.close();
  });
});

describe('Limits of the active profile', function () {
  this.timeout(180_000);
  let service: TestService;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  let admin: ReturnType<typeof builtInOf>;
  const profile = async (systemProps: object): Promise<void> => {
    ok(await service.ask('PUT', '/profiles/limits', { properties: { systemProps } }));
  };
  beforeEach(async () => {
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    devices = await controller();
    agents = await webhookServer({ '/hang': () => undefined, '/done': answers({ status: 'COMPLETE' }) });
    ok(await service.ask('POST', '/configuration_manager/adapters', devices.adapter()));
    ok(await service.ask('POST', '/profiles', { id: 'limits', systemProps: {} }));
    ok(await service.ask('PUT', '/profiles/limits/active'));
    admin = builtInOf(service.ask);
  });
  afterEach(async () => {
    await service.stop();
    agents.close();
    devices.close();
  });

  /** What has claimed a job, of all jobs that have not ended. */
  const atWork = async (): Promise<number> => {
    const { data } = ok(await service.ask('GET', '/operations-manager/jobs?limit=1000&multiEquals[status]=running'));
    return data.filter(({ claim }: any) => claim !== null).length;
  };

  it('let 16 jobs run at once for each thread, and a change acts at once', async () => {
    await admin.agent('One', { runner: 'webhook', url: agents.url('/hang') });
    await admin.agent('Two', { runner: 'webhook', url: agents.url('/hang') });
    for (const name of ['One', 'Two']) await admin.automation('agent', name);
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push(await admin.start(i % 2 ? 'One' : 'Two'));
    await until(() => agents.called.length === 16);
    assert.equal(await atWork(), 16);
    await profile({ taskWorkerThreadCount: 2 });
    await until(() => agents.called.length === 32);
    assert.equal(await atWork(), 32);
    // Of one agent 16 sessions are called at once, however many places there are.
    await profile({ taskWorkerThreadCount: 4 });
    await until(async () => (await atWork()) === 40);
    const calls = (name: string): number => agents.called.filter(({ body }) => body.agent === name).length;
    assert.deepEqual([calls('One'), calls('Two')], [16, 16]);
    // Fewer places: none is taken until enough have ended.
    await profile({ taskWorkerThreadCount: 1 });
    const late = await admin.start('One');
    await admin.move('cancel', ...ids.slice(0, 24));
    await until(async () => (await atWork()) === 16);
    assert.equal((await admin.get(late)).claim, null);
    await admin.move('cancel', ids[24] ?? '');
    await until(async () => (await admin.get(late)).claim !== null);
    await admin.move('cancel', late, ...ids.slice(25));
  });

  it('count starts of jobs here and claims of workers together, in windows', async () => {
    await admin.commandTemplate('Check', [{ command: 'show' }]);
    await admin.automation('mop-template', 'Check');
    await profile({ taskWorkerRateLimit: 5, taskWorkerRateLimitPeriod: 86_400 });
    devices.answer = says('fine');
    const claim = async (max: number, wait = 0): Promise<number> => {
      const body = { components: ['By hand'], worker: 'w', max, wait };
      return ok(await service.ask('POST', '/operations-manager/jobs/claim', body)).data.length;
    };
    for (let i = 0; i < 10; i++) await admin.start('By hand');
    assert.equal(await claim(3), 3);
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push(await admin.start('Check', { devices: ['r1'] }));
    for (const id of ids.slice(0, 2)) await admin.inState(id, 'complete');
    assert.equal(await claim(3), 0);
    assert.equal(devices.commands.length, 2);
    // A worker that waits is served with a change, and so are the jobs that wait.
    const waiting = claim(3, 30);
    await profile({ taskWorkerRateLimit: 100 });
    assert.ok((await waiting) >= 1);
    for (const id of ids) await admin.inState(id, 'complete');
    assert.equal(await claim(10), 10 - 3 - (await waiting));
  });

  it('serve who waits when the next window begins', async () => {
    await profile({ taskWorkerRateLimit: 2, taskWorkerRateLimitPeriod: 1 });
    await admin.agent('Quick', { runner: 'webhook', url: agents.url('/done') });
    await admin.automation('agent', 'Quick');
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push(await admin.start('Quick'));
    for (const id of ids) await admin.inState(id, 'complete');
    const claimed: number[] = [];
    for (const id of ids) {
      const { results } = ok(await service.ask('GET', `/audit/events?resource=job/${id}`));
      claimed.push(Date.parse(results.find(({ topic }: any) => topic === 'jobClaimed').at));
    }
    const perSecond = new Map<number, number>();
    for (const at of claimed) perSecond.set(Math.floor(at / 1000), (perSecond.get(Math.floor(at / 1000)) ?? 0) + 1);
    // A claim is stored a little after it was counted: the last of one window may be in the next one's second.
    assert.ok(perSecond.size >= 3, `${[...perSecond.values()]}`);
    assert.ok(Math.max(...perSecond.values()) <= 4, `${[...perSecond.values()]}`);
  });
});
