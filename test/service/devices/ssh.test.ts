import assert from 'node:assert/strict';
import { sessionsOfWork, sshSessions } from '@automation-platform/devices';
import type { SshProperties } from '../../../src/domain/configuration-manager/adapterSchemas.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { sshAdapter } from '../../../src/southbound/ssh.ts';
import { deviceAdapterContract, fails } from '../../support/deviceAdapter.contract.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { describeSsh } from '../../support/sshServer.ts';
import { until } from '../../support/until.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });
const patient = () => new AbortController().signal;
const anyKey = `SHA256:${'A'.repeat(43)}`;

describeSsh('The adapter ssh, with a real server,', (server) => {
  const device = () => ({ name: 'router-1', host: '127.0.0.1', port: server().port });
  const adapter = (more: Partial<SshProperties> = {}) => {
    const { username, privateKey, hostKey } = server();
    return sshAdapter('tested', { username, privateKey, hostKey, ...more }, guard);
  };

  deviceAdapterContract(async () => ({ adapter: adapter(), device: device() }));

  it('stops at the first line that the device refuses, and says which', async () => {
    const { status, text } = await adapter().apply(
      device(),
      '! a comment\nntp server 192.0.2.10\nmistake one\nntp server 192.0.2.11\n',
      {},
      patient(),
    );
    const { refused, message } = JSON.parse(text);
    assert.deepEqual([status, refused], [422, { line: 2, text: 'mistake one' }]);
    assert.equal(message, "% Invalid input detected at '^' marker.");
    const config = await adapter().configuration(device(), patient());
    assert.ok(config.includes('192.0.2.10') && !config.includes('192.0.2.11'));
  });

  it('takes no answer for a success that it does not know', async () => {
    const applied = async (config: string, more: Partial<SshProperties> = {}, ostype?: string) => {
      const on = ostype === undefined ? device() : { ...device(), ostype };
      const { status, text, unverified = false } = await adapter(more).apply(on, config, {}, patient());
      const { status: word, message, unrecognized, warnings } = JSON.parse(text);
      return [status, word, unverified, message ?? unrecognized, ...(warnings ?? [])];
    };
    const strange = 'ntp server 192.0.2.9\nsay The flux is unstable\n';
    assert.deepEqual(await applied('ntp server 192.0.2.9\n'), [200, 'success', false, undefined]);
    const notShown = 'The configuration does not show: say The flux is unstable';
    assert.deepEqual(await applied(strange), [200, 'unverified', true, ['The flux is unstable'], notShown]);
    assert.deepEqual(await applied(strange, { harmless: ['flux is'] }), [200, 'success', false, undefined, notShown]);
    assert.deepEqual(await applied(strange, { refusals: ['flux is'] }), [422, 'error', false, 'The flux is unstable']);
    assert.deepEqual(await applied('say Bad mask /24 for address\n'), [
      422,
      'error',
      false,
      'Bad mask /24 for address',
    ]);
    const uncommitted = await applied('ntp server 192.0.2.9\n', { leave: ['end'] }, 'cisco-ios-xr');
    assert.deepEqual(uncommitted, [...[200, 'unverified', true, []], 'No line commits the configuration']);
    // What is refused at the end is refused.
    const late = await applied('ntp server 192.0.2.9\n', { leave: ['say % Failed to commit one', 'end'] });
    assert.deepEqual(late, [422, 'error', false, '% Failed to commit one']);
  });

  it('reads back what it sent, masks secrets, and says what stays of a change that is refused', async () => {
    const ask = async (config: string, options: Readonly<Record<string, unknown>> = {}) => {
      const { status, text, unverified = false, account } = await adapter().apply(device(), config, options, patient());
      return { status, unverified, account, ...JSON.parse(text) };
    };
    const right = await ask('interface Loopback3\n description three\n');
    assert.deepEqual([right.status, right.verified, right.account], ['success', true, { verified: true, output: '' }]);
    assert.equal('verified' in (await ask('interface Loopback3\n', { verify: false })), false);

    // The words are not known, but each line stands there.
    const said = await ask('interface Loopback5\n description say\n');
    assert.equal(said.status, 'success');
    const secret = 'say password Hunter2.5 is weak';
    const weak = await ask(`interface Loopback6\n${secret}\n`);
    assert.deepEqual(
      [weak.status, weak.unverified, weak.verified, weak.unrecognized, weak.output],
      ['unverified', true, false, ['password ******** is weak'], 'password ******** is weak\n'],
    );
    const strict = await ask(`interface Loopback7\n${secret}\nntp server 192.0.2.77\n`, { strict: true });
    assert.deepEqual(
      [strict.status, strict.refused, strict.message, strict.left, strict.account.refused.text],
      [
        'error',
        { line: 2, text: secret },
        'password ******** is weak',
        ['interface Loopback7'],
        'say password ******** is weak',
      ],
    );
    assert.doesNotMatch(JSON.stringify([weak.account, strict.account]), /Hunter2/);
    assert.doesNotMatch(await adapter().configuration(device(), patient()), /192\.0\.2\.77/);
  });

  it('uses a session again for its device and credential, and opens another one where it has ended', async () => {
    const sessions = sshSessions();
    const { username, privateKey, hostKey } = server();
    const kept = (more: Partial<SshProperties> = {}) =>
      sshAdapter('tested', { username, privateKey, hostKey, ...more }, guard, { sessions });
    const shell = async (one = kept()) => one.run(device(), 'show shell', patient());
    try {
      const first = await shell();
      assert.match(first, /^\d+$/);
      assert.equal(await shell(), first);
      await kept().apply(device(), 'ntp server 192.0.2.55\n', {}, patient());
      assert.equal(await shell(), first, 'after a change');
      assert.notEqual(await shell(kept({ setup: [] })), first, 'of another way to log in');
      assert.notEqual(await shell(kept({ keepSession: 0 })), first);
      await fails(kept().run(device(), 'reload', patient()), /broke off/);
      const second = await shell();
      assert.notEqual(second, first, 'after it broke off');
      // It ends while nobody uses it.
      process.kill(Number(second), 'SIGKILL');
      assert.notEqual(await shell(), second);
    } finally {
      sessions.close();
    }
  });

  it('keeps a session for the calls of one work, and for any call once that is over', async () => {
    const sessions = sshSessions();
    const ofWork = sessionsOfWork(sessions);
    const { username, privateKey, hostKey } = server();
    const shell = (within: Parameters<typeof sshAdapter>[3]) =>
      sshAdapter('tested', { username, privateKey, hostKey }, guard, within).run(device(), 'show shell', patient());
    try {
      const first = await shell({ sessions: ofWork });
      assert.equal(await shell({ sessions: ofWork }), first);
      assert.notEqual(await shell({ sessions }), first);
      ofWork.end();
      assert.equal(await shell({ sessions }), first);
      const second = await shell({ sessions: ofWork });
      assert.equal(second, first);
      process.kill(Number(second), 'SIGKILL');
      await until(async () => (await shell({ sessions: ofWork }).catch(() => second)) !== second, 'another session');
    } finally {
      ofWork.end();
      sessions.close();
    }
  });

  it('gives no refusal for a configuration', () =>
    fails(adapter({ show: 'show nonsense' }).configuration(device(), patient()), /Invalid input detected/));

  it('follows a change of the host name, and sends a banner as a whole', async () => {
    const { status, text } = await adapter().apply(
      device(),
      'hostname core-7\nbanner motd ^C\nNo entry #\ncore-7#\n^C\nsnmp-server location Bonn\n',
      {},
      patient(),
    );
    assert.equal(status, 200, text);
    assert.match(
      await adapter().configuration(device(), patient()),
      /banner motd \^C\nNo entry #\ncore-7#\n\^C\nsnmp-server location Bonn/,
    );
  });

  itInSoak('waits for no acknowledgement between two lines', async () => {
    const lines = Array.from({ length: 80 }, (_, n) => `ntp server 192.0.2.${n + 1}\n`);
    const began = performance.now();
    const { status } = await adapter().apply(device(), lines.join(''), {}, patient());
    // An acknowledgement is delayed by 40 ms.
    const ms = performance.now() - began;
    assert.equal(status, 200);
    assert.ok(ms < lines.length * 30, `${lines.length} lines took ${Math.round(ms)} ms`);
  });

  it('refuses lines that are keys rather than text', async () => {
    for (const key of ['\0', '\u0003', '\u0004', '\u001a', '\u001b[A', '\u007f'])
      for (const options of [{}, { dryRun: true }, { replace: true }])
        await assert.rejects(
          adapter().apply(device(), `hostname x${key}\n`, options, patient()),
          /control characters/,
          JSON.stringify(key),
        );
    await assert.rejects(adapter().run(device(), 'show version\nreload', patient()), /one line/);
  });

  it('tells nothing to a host whose key is not the one pinned', () =>
    fails(
      adapter({ hostKey: anyKey }).run(device(), 'show version', patient()),
      /host key is SHA256:.*not the one that is pinned/,
    ));
  it('knows a host key for each device', async () => {
    assert.match(
      await adapter({ hostKey: { 'router-1': server().hostKey } }).run(device(), 'show version', patient()),
      /Version 1/,
    );
    await fails(
      adapter({ hostKey: { other: anyKey } }).run(device(), 'show version', patient()),
      /no host key is pinned/,
    );
  });
  it('says that credentials are wrong, and not which', async () => {
    const { username, hostKey } = server();
    const wrong = sshAdapter('tested', { username, password: 'recognisable-secret', hostKey }, guard);
    await fails(wrong.run(device(), 'show version', patient()), /does not accept the credentials$/);
    await fails(
      adapter({ privateKey: 'no key' }).run(device(), 'show version', patient()),
      /private key cannot be read/,
    );
  });
  it('ends a command that prints for ever', () =>
    fails(adapter().run(device(), 'show flood', patient()), /too much output/));
  it('ends a command that prints nothing, in time', () =>
    fails(adapter().run(device(), 'show nothing', AbortSignal.timeout(1500)), /no answer in time/));
  it('says that a session broke off', () => fails(adapter().run(device(), 'reload', patient()), /broke off/));
  it('does not go where it may not', () =>
    fails(
      sshAdapter(
        'tested',
        { username: 'x', password: 'y', hostKey: anyKey },
        outbound({ allowed: { hosts: new Set(), addresses: blockList([]) }, stores: [] }),
      ).run(device(), 'x', patient()),
      /OUTBOUND_ALLOW/,
    ));
});
