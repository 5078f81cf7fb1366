import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { describeSsh } from '../../support/sshServer.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const bgpd = '/usr/lib/frr/bgpd';
const isThere = existsSync(bgpd) && process.getuid?.() === 0;
const folder = isThere ? mkdtempSync(join(tmpdir(), 'frr-')) : '';

/** FRRouting's own shell, over the sockets of its daemon. */
const vtysh = (): string =>
  `#!/bin/sh\nexport VTYSH_PAGER=cat HOME=${folder}\nexec vtysh --vty_socket ${folder} --config_dir ${folder}\n`;

/** A router whose BGP speaks to nobody: it listens on no port, and has no routes to install. */
const suite = (server: () => { port: number; username: string; privateKey: string; hostKey: string }): void => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const path = '/configuration_manager/devices/frr-1/configuration';
  const apply = (config: string, options: object = {}) => service.ask('POST', path, { config: { config }, options });
  const configuration = async (): Promise<string> => ok(await service.ask('GET', path)).config;
  let daemon: ChildProcess;

  before(async () => {
    const at = (name: string): string => join(folder, name);
    const user = ['-u', 'root', '-g', 'root', '-S'];
    const places = ['--vty_socket', folder, '-i', at('pid'), '-z', at('zebra'), '-f', at('bgpd.conf')];
    daemon = spawn(bgpd, [...user, '-p', '0', '-n', ...places], { stdio: 'ignore' });
    await until(() => existsSync(at('bgpd.vty')), 'bgpd listens');
    const { port, hostKey, username, privateKey } = server();
    // One router by two names.
    const devices = ['frr-1', 'frr-2'].map((name) => ({ name, host: '127.0.0.1', port }));
    const properties = { username, privateKey, hostKey };
    ok(await service.ask('POST', '/configuration_manager/adapters', { name: 'frr', type: 'ssh', properties, devices }));
  });
  after(async () => {
    const exit = once(daemon, 'exit');
    daemon.kill('SIGKILL');
    await exit;
    rmSync(folder, { recursive: true, force: true });
  });

  const first =
    'router bgp 65001\n bgp router-id 192.0.2.1\n neighbor 192.0.2.2 remote-as 65002\n neighbor 192.0.2.2 description the other\n';

  it('is changed, read back and copied', async () => {
    const before = await configuration();
    const tried = ok(await apply(first, { dryRun: true }));
    assert.deepEqual([tried.status, tried.predicted], ['dryRun', true]);
    assert.match(tried.diff, /^\+router bgp 65001$/m);
    assert.equal(await configuration(), before);
    const answer = ok(await apply(first));
    assert.deepEqual([answer.status, answer.verified], ['success', true], JSON.stringify(answer));
    assert.match(answer.diff, /^\+ neighbor 192\.0\.2\.2 remote-as 65002$/m);
    const copy = ok(await service.ask('GET', `/configuration_manager/backups/${answer.backups.after}`));
    assert.match(copy.rawConfig, /router bgp 65001/);
  });

  it('refuses a line, and the lines before it stay', async () => {
    const answer = await apply('router bgp 65001\n neighbor 192.0.2.3 remote-as 65003\n neighbor nonsense remote-as\n');
    refused(answer, 502);
    const { body } = answer.body.metadata.adapter;
    assert.deepEqual([body.refused.line, body.left.length], [3, 2], JSON.stringify(body));
    assert.match(await configuration(), /neighbor 192\.0\.2\.3/);
  });

  it('goes back to a copy, line by line', async () => {
    const goal = await configuration();
    const changed = ok(await apply('router bgp 65001\n no neighbor 192.0.2.3\n neighbor 192.0.2.4 remote-as 65004\n'));
    const rollback = (options: object) =>
      service.ask('POST', `${path}/rollback`, { backup: changed.backups.before, options });
    const tried = ok(await rollback({ dryRun: true }));
    assert.ok(
      tried.lines.some((line: string) => line.trim().startsWith('no neighbor 192.0.2.4')),
      tried.lines,
    );
    const back = ok(await rollback({}));
    assert.deepEqual([back.status, back.verified], ['success', true], JSON.stringify(back));
    assert.equal(await configuration(), goal);
  });

  it('is changed with others, tried out first; what it refuses stops the rest', async () => {
    const jobs = builtInOf((...args) => service.ask(...args));
    const change = async (config: string, options: object) => {
      const body = { devices: ['frr-1', 'frr-2'], config, throttle: 1, stopAfterFailures: 1, options };
      const { jobId } = ok(await service.ask('POST', '/configuration_manager/changes', body));
      await jobs.inState(jobId, 'complete', 'error');
      const { list } = ok(await service.ask('GET', `/configuration_manager/changes/${jobId}`));
      return list as readonly { readonly status: string; readonly diff: string | null; readonly reason?: string }[];
    };
    const [one, same] = await change('router bgp 65001\n neighbor 192.0.2.5 remote-as 65005\n', { dryRunFirst: true });
    assert.deepEqual([one?.status, same?.status, same?.diff], ['sent', 'sent', '']);
    assert.match(one?.diff ?? '', /^\+ neighbor 192\.0\.2\.5 remote-as 65005$/m);
    const [failed, rest] = await change('router bgp 65001\n neighbor nonsense remote-as\n', {});
    assert.deepEqual([failed?.status, rest?.status], ['failed', 'notSent'], JSON.stringify([failed, rest]));
  });
};

if (isThere) describeSsh('A router of FRRouting', suite, vtysh);
else
  describe('A router of FRRouting', () => {
    it('is not tested here: needs frr and root (apt-get install frr)');
  });
