import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer, temporaryFolder } from '../../support/process.ts';

const manager = '/configuration_manager';

describe('A process that dies while a device is called', function () {
  this.timeout(300_000);
  const folder = temporaryFolder();
  let controller: Server;
  let calls = 0;
  let called = () => undefined as void;
  before(async () => {
    // It answers nobody.
    controller = createServer((request) => {
      request.resume().on('end', () => {
        calls++;
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
    const settings = { OUTBOUND_ALLOW: '127.0.0.1' };
    const apply = (server: Awaited<ReturnType<typeof startServer>>, key: string) =>
      server.ask(
        'POST',
        `${manager}/devices/pe-1/configuration`,
        { config: { config: 'set a' } },
        { 'Idempotency-Key': key },
      );
    const dying = await startServer(folder, settings);
    const baseUrl = `http://127.0.0.1:${(controller.address() as AddressInfo).port}`;
    assert.equal(
      (
        await dying.ask('POST', `${manager}/adapters`, {
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
    } finally {
      await next.stop();
    }
  });
});
