import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { typeOf } from '@automation-platform/devices';
import type { AuthContext, Connection } from 'ssh2';
import { peer } from '../../support/peer.ts';
import { ok, refused } from '../../support/people.ts';
import { type Played, play, recordedDevices, type Scene } from '../../support/recordedDevices.ts';
import { fingerprint, speaks } from '../../support/sshPeer.ts';
import { useService } from '../../support/useService.ts';

const recorded = (type: string) =>
  recordedDevices.find((device) => device.type === type) ?? assert.fail(`no device ${type}`);

/** Takes keyboard-interactive alone: the password must be the answer to the one hidden question. */
const asksForPassword =
  (password: string) =>
  (context: AuthContext): void => {
    const questions = [
      { prompt: 'Login: ', echo: true },
      { prompt: 'Password: ', echo: false },
    ];
    if (context.method !== 'keyboard-interactive') context.reject(['keyboard-interactive']);
    else
      context.prompt(questions, ([login, secret]) => {
        if (login === 'ops' && secret === password) context.accept();
        else context.reject([]);
      });
  };

/** Passes connections on, and opens no shell. */
const passesOn = (connection: Connection): void => {
  connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
    if (destIP !== '127.0.0.1') {
      reject?.();
      return;
    }
    const socket = connect(destPort, destIP);
    const channel = accept();
    socket.on('error', () => channel.end());
    channel.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(channel).pipe(socket);
  });
};

describe('Devices over SSH, in the service', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const device = peer();
  const jump = peer();
  const area = '/configuration_manager';
  let played: Played;
  let n = 0;

  const serve = (type: string, scene: Scene = {}, auth?: (context: AuthContext) => void): void => {
    played = { received: [], running: [] };
    const shell = play(recorded(type), scene, played);
    device.behave(speaks({ shell, ...(auth && { auth }) }));
  };
  /** A device of a new adapter. Sessions end with their call, since each test waits for their end. */
  const made = async (ostype: string, properties: object = {}, port = device.port()): Promise<string> => {
    const name = `d-${++n}`;
    const login = { username: 'ops', password: 'recognisable-secret', hostKey: fingerprint, keepSession: 0 };
    const devices = [{ name, host: '127.0.0.1', port, ostype }];
    const body = { name: `a-${n}`, type: 'ssh', properties: { ...login, ...properties }, devices };
    ok(await service.ask('POST', `${area}/adapters`, body));
    return name;
  };
  const apply = (name: string, config: string, headers: Record<string, string> = {}) =>
    service.ask('POST', `${area}/devices/${name}/configuration`, { config: { config } }, headers);
  const text = (type: string): string => `${recorded(type).lines.join('\n')}\n`;

  it('log in where a password is asked for', async () => {
    serve('cisco-ios', {}, asksForPassword('recognisable-secret'));
    assert.equal(ok(await apply(await made('cisco-ios'), text('cisco-ios'))).verified, true);
    refused(await apply(await made('cisco-ios', { password: 'wrong' }), text('cisco-ios')), 502, /credentials/);
  });

  for (const { type } of recordedDevices.filter(
    ({ type, user }) => user !== undefined && typeOf(type).enable !== undefined,
  ))
    it(`get the rights to configure: ${type}`, async () => {
      serve(type, { enabledBy: 'let me in' });
      const answer = ok(await apply(await made(type, { enablePassword: 'let me in' }), text(type)));
      assert.deepEqual([answer.status, played.running], ['success', recorded(type).lines]);
      const wrong = await apply(await made(type, { enablePassword: 'another' }), text(type));
      refused(wrong, 502, /enable password/);
      assert.doesNotMatch(wrong.text, /another/);
    });

  it('are reached by way of another device, with the credentials of each', async () => {
    serve('cisco-ios', {}, (context) =>
      context.method === 'password' && context.password === 'of the device' ? context.accept() : context.reject([]),
    );
    jump.behave(
      speaks({
        connected: passesOn,
        auth: (context) =>
          context.method === 'password' && context.password === 'of the jump host'
            ? context.accept()
            : context.reject(['password']),
      }),
    );
    const way = await made('linux', { password: 'of the jump host' }, jump.port());
    const behind = await made('cisco-ios', { password: 'of the device', jumpHost: way });
    assert.equal(ok(await apply(behind, text('cisco-ios'))).status, 'success');
    const closed = await made('linux', { password: 'wrong' }, jump.port());
    refused(await apply(await made('cisco-ios', { jumpHost: closed }), 'x'), 502, /jump host: .*credentials/);
    const chained = await made('cisco-ios', { jumpHost: behind });
    refused(await apply(chained, 'x'), 502, /has a jump host itself/);
    refused(await apply(await made('cisco-ios', { jumpHost: 'nobody' }), 'x'), 502, /nobody.*is not known/);
    refused(await apply(await made('cisco-ios', { jumpHost: 'lab-01' }), 'x'), 502, /is not reached over SSH/);
  });

  it('are never called again where nobody knows if a commit was taken', async () => {
    let commits = 0;
    serve('juniper-junos', {
      takes: (line, { channel }) => {
        if (line !== 'commit') return false;
        commits++;
        channel.end();
        return true;
      },
    });
    const name = await made('juniper-junos');
    const headers = { 'Idempotency-Key': 'lost-commit' };
    refused(await apply(name, text('juniper-junos'), headers), 503, /nobody knows|broke off/);
    const lines = played.received.length;
    refused(await apply(name, text('juniper-junos'), headers), 503, /outcome of this attempt is not known/);
    assert.deepEqual([commits, played.received.length], [1, lines]);
    refused(await apply(name, 'set snmp contact other\n', headers), 422, /Idempotency-Key/);
  });
});
