import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('Devices over HTTP', () => {
  let service: TestService;
  let controller: Server;
  let answering: (response: ServerResponse) => void;
  let calls = 0;
  const area = '/configuration_manager';
  const apply = (device: string, config: string, headers = {}, more = {}) =>
    service.ask('POST', `${area}/devices/${device}/configuration`, { config: { device, config }, ...more }, headers);
  const running = async (device: string) =>
    ok(await service.ask('GET', `${area}/devices/${device}/configuration`)).config;
  const listed = async (options?: object) => ok(await service.ask('POST', `${area}/devices`, options && { options }));
  const baseUrl = () => `http://127.0.0.1:${(controller.address() as AddressInfo).port}`;
  const json = (status: number, body: unknown) => (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

  before(async () => {
    controller = createServer((request, response) => {
      calls++;
      request.resume().on('end', () => answering(response));
    }).listen(0, '127.0.0.1');
    await once(controller, 'listening');
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    ok(
      await service.ask('POST', `${area}/adapters`, {
        name: 'controller',
        type: 'http',
        properties: { baseUrl: baseUrl(), token: 'recognisable-token', timeout: 1000 },
        devices: [
          { name: 'pe-1', host: '198.51.100.1', ostype: 'junos' },
          { name: 'lab-01', ostype: 'junos' },
        ],
      }),
    );
  });
  after(async () => {
    await service.stop();
    controller.close();
    controller.closeAllConnections();
  });

  it("are listed with their adapters, each once, the first adapter's", async () => {
    const { entity, total, list } = await listed();
    assert.deepEqual(
      [entity, total, list.map(({ name, adapter }: any) => `${name} ${adapter}`)],
      ['device', 4, ['lab-01 controller', 'lab-02 lab', 'lab-03 lab', 'pe-1 controller']],
    );
    assert.deepEqual((await listed({ filter: { ostype: 'CISCO' } })).list, [
      {
        name: 'lab-02',
        host: '192.0.2.2',
        ipaddress: '192.0.2.2',
        ostype: 'cisco-ios-xe',
        'device-type': 'lab',
        origin: 'lab',
        chosenAdapter: 'lab',
        adapter: 'lab',
      },
    ]);
    assert.deepEqual(
      (({ total, list }) => [total, list.length, list[0].name])(
        await listed({ filter: { name: 'lab', adapter: 'lab' }, start: 1, limit: 1 }),
      ),
      [2, 1, 'lab-03'],
    );
  });

  it('are of the adapter that comes first in the active profile', async () => {
    ok(
      await service.ask('PUT', '/profiles/ordered', {
        properties: { adapterStrategy: { device: { order: ['lab'] } } },
      }),
    );
    ok(await service.ask('PUT', '/profiles/ordered/active', {}));
    assert.equal((await listed({ filter: { name: 'lab-01' } })).list[0].adapter, 'lab');
    assert.match(await running('lab-01'), /hostname lab-01/);
    ok(
      await service.ask('PUT', '/profiles/ordered', {
        properties: { adapterStrategy: { device: { order: ['nobody', 'controller'] } } },
      }),
    );
    assert.equal((await listed({ filter: { name: 'lab-01' } })).list[0].adapter, 'controller');
  });

  it('take a configuration, show it, and keep it over a restart', async () => {
    const answer = await apply(
      'lab-02',
      'interface Loopback42\n description Kept\n ip address 10.255.42.1 255.255.255.255\n',
    );
    const { change, diff, backups, ...said } = ok(answer);
    assert.deepEqual(said, { device: 'lab-02', status: 'success', changed: true, verified: true });
    assert.deepEqual([typeof change, typeof diff, Object.keys(backups)], ['string', 'string', ['before', 'after']]);
    assert.ok(Number(answer.headers.get('x-event-position')) > 0);
    assert.match(await running('lab-02'), /interface Loopback42\n description Kept/);
    service = await service.restart();
    assert.match(await running('lab-02'), /interface Loopback42\n description Kept/);
  });

  it("pass the adapter's answer through, and say 502 with it when it is no success", async () => {
    answering = json(202, { job: 7 });
    assert.deepEqual(ok(await apply('pe-1', 'set system host-name pe-1')), { job: 7 });
    answering = json(409, { locked: 'by nora' });
    const locked = await apply('pe-1', 'set system host-name pe-2');
    refused(locked, 502, /adapter_failed.*status 409|status 409.*adapter_failed/);
    assert.deepEqual(locked.body.metadata.adapter, { name: 'controller', status: 409, body: { locked: 'by nora' } });
    const wrong = await apply('lab-02', 'no such thing\nfrobnicate\n');
    refused(wrong, 502);
    assert.deepEqual(
      [
        wrong.body.metadata.adapter.name,
        wrong.body.metadata.adapter.status,
        wrong.body.metadata.adapter.body.errors[0].text,
      ],
      ['lab', 422, 'no such thing'],
    );
  });

  it('say 502 when there is no answer', async () => {
    answering = () => undefined;
    const late = await apply('pe-1', 'set x');
    refused(late, 502, /no answer in time/);
    assert.deepEqual(late.body.metadata.adapter, { name: 'controller', status: null, body: null });
    refused(await service.ask('GET', `${area}/devices/pe-1/configuration`), 502, /no answer in time/);
    answering = json(200, { config: 'half of a pair: \ud800' });
    refused(await service.ask('GET', `${area}/devices/pe-1/configuration`), 502, /lone surrogate/);
    answering = (response) => response.socket!.resetAndDestroy();
    refused(await apply('pe-1', 'set x'), 502, /broke off/);
  });

  it('are called once per Idempotency-Key, and answer the same again', async () => {
    answering = json(200, { done: 'first' });
    const headers = { 'Idempotency-Key': 'apply-1' };
    calls = 0;
    ok(await apply('pe-1', 'set a', headers));
    answering = json(200, { done: 'second' });
    const again = await apply('pe-1', 'set a', headers);
    assert.deepEqual([ok(again), again.headers.get('idempotency-replayed'), calls], [{ done: 'first' }, 'true', 1]);
    refused(await apply('pe-1', 'set b', headers), 422, /Idempotency-Key/);

    answering = json(500, { why: 'full' });
    const failed = await apply('pe-1', 'set a', { 'Idempotency-Key': 'apply-2' });
    const failedAgain = await apply('pe-1', 'set a', { 'Idempotency-Key': 'apply-2' });
    assert.deepEqual([failedAgain.status, failedAgain.body, calls], [502, failed.body, 2]);
  });

  it('are not called again as long as the outcome of an attempt is unknown', async () => {
    const headers = { 'Idempotency-Key': 'apply-3' };
    let reply = (_: void) => undefined as void;
    const asked = new Promise<void>((resolve) => {
      answering = (response) => {
        reply = () => json(200, { done: true })(response);
        resolve();
      };
    });
    calls = 0;
    const first = apply('pe-1', 'set c', headers);
    await asked;
    const second = await apply('pe-1', 'set c', headers);
    refused(second, 503, /not known/);
    assert.ok(second.headers.get('retry-after'));
    reply();
    ok(await first);
    assert.deepEqual([ok(await apply('pe-1', 'set c', headers)), calls], [{ done: true }, 1]);
  });

  it('leave events before and after the call, and never the text', async () => {
    answering = json(200, { echo: 'recognisable-answer' });
    ok(await apply('pe-1', 'set snmp community recognisable-text\nset b\n'));
    ok(await apply('lab-03', 'snmp-server community recognisable-text ro\n'));
    const log = Buffer.concat(
      keptFiles(service.folder)
        .filter(({ name }) => name.startsWith('events.db'))
        .map(({ bytes }) => bytes),
    );
    for (const topic of ['deviceConfigurationAttempted', 'deviceConfigurationApplied'])
      assert.ok(log.includes(topic), topic);
    for (const secret of ['recognisable-text', 'recognisable-answer', 'recognisable-token'])
      assert.ok(!log.includes(secret), secret);
    assert.ok(!service.lines.join('').includes('recognisable'));
  });

  it('do not lead to where ways out may not lead', async () => {
    service = await service.restart({ OUTBOUND_ALLOW: '' });
    refused(await apply('pe-1', 'set x'), 502, /OUTBOUND_ALLOW/);
    service = await service.restart({ OUTBOUND_ALLOW: '127.0.0.1' });
  });

  it('are let go when the service stops, with the outcome stored', async function () {
    this.timeout(300_000);
    ok(
      await service.ask('PUT', `${area}/adapters/controller`, {
        type: 'http',
        properties: { baseUrl: baseUrl(), timeout: 60_000 },
        devices: [{ name: 'pe-1' }],
      }),
    );
    const asked = new Promise<void>((resolve) => {
      answering = () => resolve();
    });
    const under = apply('pe-1', 'set z', { 'Idempotency-Key': 'apply-9' });
    await asked;
    const next = service.restart();
    refused(await under, 502, /shutting down/);
    service = await next;
    calls = 0;
    refused(await apply('pe-1', 'set z', { 'Idempotency-Key': 'apply-9' }), 502, /shutting down/);
    assert.equal(calls, 0);
  });
});
