import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

describe('A process that dies while a device is called', function () {
  this.timeout(300_000);
  const folder = temporaryFolder();
  let controller: Server;
  let calls = 0;
  let called = () => undefined as void;
  /** The devices that were sent a configuration, in order; undefined: the controller answers nobody. */
  let sent: string[] | undefined;
  before(async () => {
    controller = createServer((request, response) => {
      request.resume().on('end', () => {
        calls++;
        sent?.push((request.url ?? '').split('/')[2] ?? '');
        if (sent) response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
        called();
      });
    }).listen(0, '127.0.0.1');
    await once(controller, 'listening');
  });
  after(() => {
    controller.close();
    controller.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  it('leaves an attempt without outcome: a retry is told so, and calls nobody', async () => {
    const area = '/configuration_manager';
    const settings = { OUTBOUND_ALLOW: '127.0.0.1' };
    const apply = (server: Awaited<ReturnType<typeof startServer>>, key: string) =>
      server.ask(
        'POST',
        `${area}/devices/pe-1/configuration`,
        { config: { config: 'set a' } },
        { 'Idempotency-Key': key },
      );
    const dying = await startServer(folder, settings);
    const baseUrl = `http://127.0.0.1:${(controller.address() as AddressInfo).port}`;
    assert.equal(
      (
        await dying.ask('POST', `${area}/adapters`, {
          name: 'controller',
          type: 'http',
          properties: { baseUrl, timeout: 60_000 },
          devices: [{ name: 'pe-1' }],
        })
      ).status,
      200,
    );
    const asked = new Promise<void>((resolve) => {
      called = resolve;
    });
    const broken = apply(dying, 'once');
    await asked;
    await dying.stop('SIGKILL');
    assert.equal((await broken).status, 0);

    const next = await startServer(folder, settings);
    try {
      const retry = await apply(next, 'once');
      assert.deepEqual([retry.status, retry.body.metadata.errors[0].code, calls], [503, 'unavailable', 1]);
      const again = new Promise<void>((resolve) => {
        called = resolve;
      });
      const anew = apply(next, 'anew');
      await again;
      assert.equal(calls, 2, 'another key is another attempt');
      controller.closeAllConnections();
      assert.equal((await anew).status, 502);
    } finally {
      await next.stop();
    }
  });

  const kills = process.env.SOAK_ROUNDS === undefined ? [20] : [1, 2, 10, 20, 30, 45, 49, 50];
  for (const kill of kills)
    it(`leaves a change of 50 devices, killed at its call ${kill}: the next one goes on and sends nothing twice`, async () => {
      const data = temporaryFolder();
      const settings = { OUTBOUND_ALLOW: '127.0.0.1' };
      const devices = Array.from({ length: 50 }, (_, i) => ({ name: `pe-${i}` }));
      const { port } = controller.address() as AddressInfo;
      const properties = { baseUrl: `http://127.0.0.1:${port}` };
      const adapter = { name: 'controller', type: 'http', properties, devices };
      const path = '/configuration_manager/changes';
      const dying = await startServer(data, settings);
      let next: typeof dying | undefined;
      const made: string[] = [];
      sent = made;
      try {
        assert.equal((await dying.ask('POST', '/configuration_manager/adapters', adapter)).status, 200);
        const reached = new Promise<void>((resolve) => {
          called = () => {
            if (made.length >= kill) resolve();
          };
        });
        const body = { devices: devices.map(({ name }) => name), config: 'set a', throttle: 5 };
        const { jobId } = (await dying.ask('POST', path, body)).body;
        await reached;
        await dying.stop('SIGKILL');
        next = await startServer(data, settings);
        const after = next;
        const rows = async () => (await after.ask('GET', `${path}/${jobId}?limit=50`)).body;
        await until(async () => ['complete', 'error'].includes((await rows()).status), 'the job has ended');
        const { totals, list } = await rows();
        assert.deepEqual([totals.sent + totals.unknown, list.length], [50, 50]);
        assert.ok(totals.unknown <= 5, `${totals.unknown} are unknown`);
        assert.deepEqual(made.toSorted(), [...new Set(made)].toSorted(), 'no device was sent it twice');
        for (const { device, status } of list) if (status === 'sent') assert.ok(made.includes(device), device);
      } finally {
        sent = undefined;
        await dying.stop('SIGKILL');
        await next?.stop();
        rmSync(data, { recursive: true, force: true });
      }
    });
});
