import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

describe('the program', function () {
  this.timeout(300_000);
  let folder: string;
  const servers = new Set<Server>();
  const start = async (settings?: Record<string, string>, limit?: string): Promise<Server> => {
    const server = await startServer(folder, settings, limit);
    servers.add(server);
    return server;
  };
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    for (const server of servers) await server.stop('SIGKILL');
    servers.clear();
    rmSync(folder, { recursive: true, force: true });
  });

  it('makes up the password of admin at the first start, says it once, and keeps its files to itself', async () => {
    const first = await start({ ADMIN_PASSWORD: '' });
    const password = /Account admin has the password (\S+);/.exec(first.output().err)?.[1];
    assert.ok(password, first.output().err);
    const response = await fetch(`${first.url}/authorization/whoami`, {
      headers: { Authorization: `Basic ${btoa(`admin:${password}`)}` },
    });
    assert.equal(response.status, 200);
    assert.equal(await first.stop(), 0);
    for (const file of ['events.db', 'secret.key']) assert.equal(statSync(join(folder, file)).mode & 0o077, 0, file);
    const second = await start({ ADMIN_PASSWORD: '' });
    assert.doesNotMatch(second.output().err, /has the password/);
    // Two signals at once are one: npm passes a Ctrl-C on.
    second.child.kill('SIGINT');
    assert.equal(await second.stop('SIGINT'), 0);
  });

  it('on SIGTERM under load finishes what is under way, loses nothing acknowledged, and exits with 0', async () => {
    const server = await start();
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    let stopping = false;
    const client = async (n: number): Promise<void> => {
      for (let i = 0; ; i++) {
        const name = `load-${n}-${i}`;
        const { status } = await server.ask('PATCH', `/group-mappings/ldap/${name}`, {
          updates: { platformGroups: [name] },
        });
        statuses.add(status);
        if (status === 200) acknowledged.push(name);
        else if (stopping) return;
      }
    };
    const clients = Array.from({ length: 32 }, (_, n) => client(n));
    await until(() => acknowledged.length >= 200);
    stopping = true;
    assert.equal(await server.stop(), 0);
    await Promise.all(clients);
    for (const status of statuses) assert.ok([0, 200, 503].includes(status), `status ${status}`);
    const again = await start();
    const found = new Set<string>();
    for (let skip = 0; ; skip += 1000) {
      const { body } = await again.ask('GET', `/group-mappings?skip=${skip}&limit=1000`);
      for (const { externalGroup } of body.results) found.add(externalGroup);
      if (skip + 1000 >= body.total) break;
    }
    assert.deepEqual(
      acknowledged.filter((name) => !found.has(name)),
      [],
    );
  });

  it('at a later SIGTERM is killed, whatever is under way, and has lost nothing acknowledged', async () => {
    const server = await start();
    const body = { updates: { platformGroups: ['x'] } };
    assert.equal((await server.ask('PATCH', '/group-mappings/ldap/kept', body)).status, 200);
    // Who sends half a request is waited for.
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const head = ['POST /login HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 9'];
    socket.write([...head, 'Expect: 100-continue', '', '{'].join('\r\n'));
    // The answer 100 tells that the service has begun with the request.
    await once(socket, 'data');
    // The first one stops it, and those within a second of it count as the same.
    await until(() => !server.child.kill('SIGTERM'), 'the end');
    assert.equal(server.child.signalCode, 'SIGKILL');
    socket.destroy();
    const again = await start();
    assert.equal((await again.ask('GET', '/group-mappings/ldap/kept')).status, 200);
  });

  it('ends though the calls out of it never would', async () => {
    const mute = createServer((socket) => {
      calls.add(socket);
      socket
        .on('close', () => calls.delete(socket))
        .on('error', () => undefined)
        .once('data', (asked) => {
          if (String(asked).includes('/switches/'))
            socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
          called();
        });
    }).listen(0, '127.0.0.1');
    const calls = new Set<Socket>();
    let left = 3;
    let called = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      called = () => {
        if (--left === 0) resolve();
      };
    });
    try {
      await once(mute, 'listening');
      const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
      const server = await start({ OUTBOUND_ALLOW: '127.0.0.1' });
      const done = async (method: string, path: string, body: unknown) => {
        const { status, text } = await server.ask(method, path, body);
        assert.equal(status, 200, text);
      };
      await done('PUT', '/profiles/quick', { properties: { systemProps: { shutdownTimeout: 2 } } });
      await done('PUT', '/profiles/quick/active', {});
      for (const name of ['switches', 'silent'])
        await done('POST', '/configuration_manager/adapters', {
          name,
          type: 'http',
          properties: { baseUrl: `${url}/${name}`, timeout: 600_000 },
          devices: [{ name: `${name}-1` }],
        });
      await done('POST', '/agent-session-manager/agents', {
        name: 'Mute',
        runner: 'webhook',
        url: `${url}/agent`,
        inputSchema: {},
        timeout: 3600,
      });
      await done('POST', '/agent-session-manager/sessions/run-agent', { agent: 'Mute', inputs: {} });
      const asked = ['switches-1', 'silent-1'].map((device) =>
        server.ask('GET', `/configuration_manager/devices/${device}/configuration`),
      );
      await all;
      assert.equal((await asked[0]!).status, 502);
      assert.equal(await server.stop(), 0, 'it had to be killed');
      assert.ok([0, 502].includes((await asked[1]!).status));
    } finally {
      mute.close();
      for (const socket of calls) socket.destroy();
    }
  });
});
