import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labDevices } from '@automation-platform/devices';
import { adapterFailure } from '../../../src/southbound/failure.ts';
import type { DeviceAdapter } from '../../../src/southbound/port.ts';
import { deviceAdapterContract } from '../../support/deviceAdapter.contract.ts';

const never = new AbortController().signal;

describe('The adapter lab', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lab-'));
  const device = { name: 'lab-01', host: '192.0.2.1', ostype: 'cisco-ios-xe' };
  const made = '2026-01-01T00:00:00.000Z';
  const lab = (more = {}): DeviceAdapter =>
    labDevices({
      name: 'tested',
      createdAt: made,
      folder,
      failure: (reason) => adapterFailure('tested', reason),
      now: () => Date.parse('2026-01-03T01:05:00.000Z'),
      ...more,
    });
  after(() => rmSync(folder, { recursive: true }));

  deviceAdapterContract(async () => ({ adapter: lab(), device }));

  it('keeps what was applied for whoever opens it next, readable by its owner only', async () => {
    const { text } = await lab().apply(device, 'ntp server 192.0.2.99\n', {}, never);
    assert.deepEqual(JSON.parse(text), { device: 'lab-01', status: 'success', changed: true, verified: true });
    assert.match(await lab().configuration(device, never), /ntp server 192\.0\.2\.99/);
    for (const file of readdirSync(folder)) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
    assert.equal(JSON.parse((await lab().apply(device, 'ntp server 192.0.2.99\n', {}, never)).text).changed, false);
  });

  it('begins anew when it is made again', async () =>
    assert.doesNotMatch(
      await lab({ createdAt: '2026-02-01T00:00:00.000Z' }).configuration(device, never),
      /192\.0\.2\.99/,
    ));

  it('replaces the whole configuration when asked to', async () => {
    const other = { name: 'lab-09' };
    await lab().apply(other, 'hostname fresh\n', { replace: true }, never);
    assert.equal(await lab().configuration(other, never), '!\nhostname fresh\nend\n');
  });

  it('goes back to the configuration before the last commit, where its type has words for that', async () => {
    const router = { name: 'lab-10', ostype: 'junos' };
    const apply = (config: string) => lab().apply(router, config, {}, never);
    const before = await lab().configuration(router, never);
    assert.equal((await apply('rollback 1\ncommit')).status, 422, 'there was no commit yet');
    await apply('set system time-zone UTC\ncommit');
    assert.notEqual(await lab().configuration(router, never), before);
    assert.equal(JSON.parse((await apply('rollback 1\ncommit')).text).changed, true);
    assert.equal(await lab().configuration(router, never), before);
    const replaced = await lab().apply(router, before.replace('lab-10', 'other'), { replace: true }, never);
    assert.deepEqual(JSON.parse(replaced.text), { device: 'lab-10', status: 'success', changed: true, verified: true });
  });

  it('says so where its type has no configuration', async () => {
    const host = { name: 'lab-11', ostype: 'linux' };
    const { text } = await lab().apply(host, 'hostnamectl set-hostname h2', {}, never);
    assert.deepEqual(JSON.parse(text), { device: 'lab-11', status: 'success', changed: true });
    assert.equal(await lab().run(host, 'hostname', never), 'h2\n');
    await assert.rejects(lab().configuration(host, never), /no configuration/);
  });

  it('changes nothing when a line is refused', async () => {
    const before = await lab().configuration(device, never);
    const { status, text } = await lab().apply(device, 'ntp server 192.0.2.55\nfrobnicate\n', {}, never);
    assert.deepEqual(
      [status, JSON.parse(text).errors],
      [422, [{ line: 2, text: 'frobnicate', message: "% Invalid input detected at '^' marker." }]],
    );
    assert.equal(await lab().configuration(device, never), before);
  });

  it('prints what follows from its configuration', async () => {
    const router = { name: 'edge-07', host: '198.51.100.7', ostype: 'cisco-ios-xe' };
    const run = (command: string) => lab().run(router, command, never);
    await lab().apply(
      router,
      'hostname bonn-edge\ninterface GigabitEthernet3\n description To Köln\n ip address 203.0.113.1 255.255.255.252\n mtu 9000\n no shutdown\nip route 10.0.0.0 255.0.0.0 203.0.113.2\nvlan 20\n name voice\n',
      {},
      never,
    );
    assert.match(await run('show version'), /bonn-edge uptime is 2 days, 1 hour, 5 minutes/);
    assert.match(
      await run('sh ip int br'),
      /GigabitEthernet1 +198\.51\.100\.7 +YES up +up\n.*\nGigabitEthernet3 +203\.0\.113\.1 +YES up +up\nGigabitEthernet4 +unassigned +YES administratively down down/,
    );
    assert.match(
      await run('show interfaces GigabitEthernet3'),
      /^GigabitEthernet3 is up, line protocol is up\n.*\n {2}Description: To Köln\n {2}Internet address is 203\.0\.113\.1\/30\n {2}MTU 9000 bytes/,
    );
    assert.match(
      await run('show ip route'),
      /C +203\.0\.113\.0\/30 is directly connected, GigabitEthernet3\n.*\nS +10\.0\.0\.0\/8 \[1\/0\] via 203\.0\.113\.2/s,
    );
    assert.match(await run('show vlan brief'), /20 +voice +active/);
    assert.equal(await run('show running-config | include hostname'), 'hostname bonn-edge');
    assert.equal(await run('show run | section vlan'), 'vlan 20\n name voice');
    assert.match(
      await run('show running-config interface GigabitEthernet3'),
      /interface GigabitEthernet3\n description To Köln/,
    );
    assert.match(await run('show'), /Incomplete/);
    assert.match(await run('__proto__'), /Invalid/);
  });
});
