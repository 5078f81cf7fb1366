import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SshProperties } from '../src/domain/adapterSchemas.ts';
import { blockList } from '../src/southbound/addresses.ts';
import { outbound } from '../src/southbound/outbound.ts';
import { sshAdapter } from '../src/southbound/ssh.ts';
import { deviceAdapterContract, fails } from './deviceAdapter.contract.ts';
import { describeSsh } from './sshServer.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });
const within = (ms: number) => AbortSignal.timeout(ms);
const anyKey = `SHA256:${'A'.repeat(43)}`;

describeSsh('The adapter ssh, with a real server,', (server) => {
  const device = () => ({ name: 'router-1', host: '127.0.0.1', port: server().port });
  const adapter = (more: Partial<SshProperties> = {}) => {
    const { username, privateKey, hostKey } = server();
    return sshAdapter('tested', { username, privateKey, hostKey, ...more }, guard);
  };

  deviceAdapterContract(async () => ({ adapter: adapter(), device: device() }));

  it('stops at the first line that the device refuses, and says which', async () => {
    const { status, text } = await adapter().apply(device(), '! a comment\nntp server 192.0.2.10\nmistake one\nntp server 192.0.2.11\n', {}, within(15_000));
    assert.deepEqual([status, JSON.parse(text).refused], [422, { line: 2, text: 'mistake one' }]);
    const config = await adapter().configuration(device(), within(15_000));
    assert.ok(config.includes('192.0.2.10') && !config.includes('192.0.2.11'));
  });

  it('follows a change of the host name, and sends a banner as a whole', async () => {
    const { status, text } = await adapter().apply(device(), 'hostname core-7\nbanner motd ^C\nNo entry #\ncore-7#\n^C\nsnmp-server location Bonn\n', {}, within(15_000));
    assert.equal(status, 200, text);
    assert.match(await adapter().configuration(device(), within(15_000)), /banner motd \^C\nNo entry #\ncore-7#\n\^C\nsnmp-server location Bonn/);
  });

  it('refuses lines that are keys rather than text', async () => {
    await assert.rejects(adapter().apply(device(), 'hostname x\u0003', {}, within(5000)), /control characters/);
    await assert.rejects(adapter().run(device(), 'show version\nreload', within(5000)), /one line/);
  });

  it('tells nothing to a host whose key is not the one pinned', () => fails(adapter({ hostKey: anyKey }).run(device(), 'show version', within(10_000)), /host key is SHA256:.*not the one that is pinned/));
  it('knows a host key for each device', async () => {
    assert.match(await adapter({ hostKey: { 'router-1': server().hostKey } }).run(device(), 'show version', within(15_000)), /Version 1/);
    await fails(adapter({ hostKey: { other: anyKey } }).run(device(), 'show version', within(10_000)), /no host key is pinned/);
  });
  it('says that credentials are wrong, and not which', async () => {
    const { username, hostKey } = server();
    const wrong = sshAdapter('tested', { username, password: 'recognisable-secret', hostKey }, guard);
    await fails(wrong.run(device(), 'show version', within(10_000)), /does not accept the credentials$/);
    await fails(adapter({ privateKey: 'no key' }).run(device(), 'show version', within(10_000)), /private key cannot be read/);
  });
  it('ends a command that prints for ever', () => fails(adapter().run(device(), 'show flood', within(20_000)), /too much output/));
  it('ends a command that prints nothing, in time', () => fails(adapter().run(device(), 'show nothing', within(1500)), /no answer in time/));
  it('says that a session broke off', () => fails(adapter().run(device(), 'reload', within(10_000)), /broke off/));
  it('does not go where it may not', () => fails(sshAdapter('tested', { username: 'x', password: 'y', hostKey: anyKey }, outbound({ allowed: { hosts: new Set(), addresses: blockList([]) }, stores: [] })).run(device(), 'x', within(5000)), /OUTBOUND_ALLOW/));
});

describe('The adapter ssh, with a hostile server,', () => {
  let server: Server;
  let behave: (socket: Socket) => void;
  const open = new Set<Socket>();
  before(async () => {
    server = createServer((socket) => { open.add(socket); socket.on('close', () => open.delete(socket)).on('error', () => undefined).resume(); behave(socket); }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => { server.close(); for (const socket of open) socket.destroy(); });
  afterEach('no connection is left', async () => {
    const deadline = Date.now() + 2000;
    while (open.size > 0) {
      assert.ok(Date.now() < deadline, 'a connection is left open');
      await new Promise(setImmediate);
    }
  });
  const run = (ms: number) => sshAdapter('tested', { username: 'x', password: 'y', hostKey: anyKey }, guard).run({ name: 'r', host: '127.0.0.1', port: (server.address() as AddressInfo).port }, 'show version', within(ms));

  it('that says nothing: ends in time', () => { behave = () => undefined; return fails(run(300), /no answer in time/); });
  it('that speaks something else: ends at once', () => { behave = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'); return fails(run(5000), /does not speak SSH|broke off/); });
  it('that says garbage for ever: ends soon, with little read', async () => {
    behave = (socket) => { const more = () => { while (!socket.destroyed && socket.write('x'.repeat(65_536))); }; socket.on('drain', more); more(); };
    await fails(run(10_000), /too much output|does not speak SSH|broke off/);
  });
  it('that dribbles a banner: ends in time', () => {
    behave = (socket) => { const timer = setInterval(() => socket.write('#\r\n'), 20); socket.on('close', () => clearInterval(timer)); };
    return fails(run(300), /no answer in time/);
  });
  it('that resets: ends at once', () => { behave = (socket) => socket.resetAndDestroy(); return fails(run(5000), /broke off/); });
  it('that is not there: ends at once', () => fails(sshAdapter('tested', { username: 'x', password: 'y', hostKey: anyKey }, guard).run({ name: 'r', host: '127.0.0.1', port: 1 }, 'x', within(5000)), /refused/));
});
