import assert from 'node:assert/strict';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { ok } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

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
