import assert from 'node:assert/strict';
import { auditKey } from '../../support/auditKey.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';
import { openProxy, type Proxy } from '../../support/proxy.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const token = 'a-token-for-measuring';
const carrying = (text: string) => ({ Authorization: `Bearer ${text}` });
const measured = (text: string, name: string): number =>
  Number(new RegExp(`^automation_platform_${name} (\\S+)$`, 'm').exec(text)?.[1]);
const refuses = async (service: TestService): Promise<boolean> =>
  (await service.ask('GET', '/group-mappings')).status === 503;

describe('METRICS_TOKEN', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ METRICS_TOKEN: token });
  });
  after(() => service.stop());

  it('opens /metrics without a login, and nothing else', async () => {
    const ask = service.as(null);
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      const { status, text } = await ask('GET', '/metrics', undefined, { Authorization: `${scheme} ${token}` });
      assert.equal(status, 200, text);
      assert.equal(measured(text, 'store_connected'), 1);
    }
    for (const path of ['/health/status', '/group-mappings', '/made-up'])
      assert.equal((await ask('GET', path, undefined, carrying(token))).status, 401, path);
    assert.equal((await ask('POST', '/metrics', {}, carrying(token))).status, 401);
  });

  it('is another than what only begins like it, or none', async () => {
    const ask = service.as(null);
    for (const other of [token.slice(0, -1), `${token}.`, token.toUpperCase(), 'Bearer', ''])
      assert.equal((await ask('GET', '/metrics', undefined, carrying(other))).status, 401, other);
    assert.equal((await ask('GET', '/metrics', undefined, { Authorization: `Basic ${token}` })).status, 401);
    assert.equal((await ask('GET', '/metrics')).status, 401);
  });

  it('leaves logins as they are', async () => {
    assert.equal((await service.ask('GET', '/metrics')).status, 200);
    const { text: login } = await service.ask(
      'POST',
      '/login',
      { username: 'admin', password: 'correct horse battery' },
      {},
      null,
    );
    assert.equal((await service.as(null)('GET', '/metrics', undefined, carrying(login))).status, 200);
  });
});

describe('monitoring while the event log is away', () => {
  let log: GrpcLog;
  let way: Proxy;
  let service: TestService;
  before(async () => {
    log = await openGrpcLog({ own: (stream) => !stream.startsWith('$') });
    way = await openProxy(log.port);
    const url = log.url().replace(`:${log.port}`, `:${way.port}`);
    service = await startService({
      EVENTSTORE_URL: url,
      SECRET_KEY: 'sixteen characters',
      AUDIT_KEY: auditKey,
      METRICS_TOKEN: token,
    });
    assert.equal((await service.ask('GET', '/group-mappings')).status, 200);
    way.cut();
    await until(() => refuses(service));
  });
  after(async () => {
    way.resume();
    await until(async () => !(await refuses(service)), 'the service healing');
    await service.stop();
    await way.close();
    await log.close();
  });

  it('is answered to whoever has logged in before', async () => {
    const { status, body, text } = await service.ask('GET', '/health/status');
    assert.equal(status, 200, text);
    assert.deepEqual([body.status, body.eventStore.connected, body.eventStore.position], ['degraded', false, null]);
    const metrics = await service.ask('GET', '/metrics');
    assert.equal(metrics.status, 200, metrics.text);
    assert.equal(measured(metrics.text, 'store_connected'), 0);
    assert.equal((await service.ask('GET', '/health/live', undefined, {}, null)).status, 200);
  });

  it('is answered to who has METRICS_TOKEN, as far as that goes', async () => {
    const ask = service.as(null);
    assert.equal((await ask('GET', '/metrics', undefined, carrying(token))).status, 200);
    for (const path of ['/health/status', '/group-mappings'])
      assert.equal((await ask('GET', path, undefined, carrying(token))).status, 503, path);
  });

  it('is 503 for all others, as everything else is: what passwords are now cannot be known', async () => {
    for (const login of [null, { user: 'admin', password: 'guessed' }, { user: 'somebody', password: 'else' }])
      for (const path of ['/metrics', '/health/status'])
        assert.equal((await service.as(login)('GET', path)).status, 503);
    assert.equal((await service.ask('GET', '/authorization/whoami')).status, 503);
  });
});

describeOwnRedis('monitoring while Redis is away', (redis) => {
  let service: TestService;
  before(async () => {
    service = await startService({ READSTORE_URL: redis().url, METRICS_TOKEN: token, READ_WAIT_MS: '1000' });
  });
  after(() => service.stop());

  it('waits for nothing that reads wait for', async () => {
    const change = (group: string) =>
      service.ask('PATCH', `/group-mappings/ldap/${group}`, { updates: { platformGroups: [] } });
    assert.equal((await change('one')).status, 200);
    await redis().kill();
    try {
      await until(() => refuses(service));
      // Stored, and not shown: every read waits for it from now on, and so does a change, if the service itself stored an
      // event since Redis ended.
      const { status, text: said } = await change('two');
      assert.ok(status === 200 || (status === 503 && said.includes('read models are behind')), said);
      await until(async () => {
        const { status, body, text } = await service.ask('GET', '/health/status');
        assert.equal(status, 200, text);
        assert.ok(body.readStore.lag > 0, text);
        return body.status === 'degraded' && body.readStore.fault !== null;
      }, 'a status that tells of it');
      const metrics = await service.ask('GET', '/metrics');
      assert.equal(metrics.status, 200, metrics.text);
      assert.ok(measured(metrics.text, 'projection_lag') > 0);
      assert.equal(measured(metrics.text, 'store_lag'), measured(metrics.text, 'projection_lag'));
      assert.equal((await service.as(null)('GET', '/metrics', undefined, carrying(token))).status, 200);
      assert.ok(await refuses(service));
    } finally {
      await redis().start();
    }
    await until(async () => !(await refuses(service)), 'the service healing');
  });
});
