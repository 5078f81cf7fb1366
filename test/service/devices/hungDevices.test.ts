import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { builtInOf } from '../../support/builtIn.ts';
import { note } from '../../support/cluster.ts';
import { peer } from '../../support/peer.ts';
import { ok } from '../../support/people.ts';
import { type Behaviour, fingerprint, prompts, speaks } from '../../support/sshPeer.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

type Hang = (reached: () => void) => (socket: Socket) => void;

const shellThat = (shell: NonNullable<Behaviour['shell']>) => speaks({ shell });

/** Where a device never answers. It says when it has come there. */
const hangs: Readonly<Record<string, Hang>> = {
  'before it says who it is': (reached) => (socket) => void socket.once('data', reached),
  'at the login': (reached) => speaks({ auth: reached }),
  'before it gives a shell': (reached) =>
    speaks({ session: (session) => void session.on('pty', (accept) => accept?.()).on('shell', reached) }),
  'before its first prompt': (reached) => shellThat(reached),
  'in the command': (reached) =>
    shellThat(
      prompts((channel, line) => {
        channel.write(line === 'show hung' ? `${line}\r\nThe first line\r\n` : `${line}\r\nrouter#`);
        if (line === 'show hung') reached();
      }),
    ),
};

describe('The cancel of a job whose device hangs over SSH', function () {
  this.timeout(120_000);
  const { port, behave } = peer();
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  let admin: ReturnType<typeof builtInOf>;
  before(async () => {
    admin = builtInOf(service.ask);
    // By themselves calls end after ten minutes, long after a test.
    const properties = { username: 'x', password: 'y', hostKey: fingerprint, timeout: 600_000 };
    const devices = [{ name: 'r1', host: '127.0.0.1', port: port() }];
    ok(
      await service.ask('POST', '/configuration_manager/adapters', { name: 'lines', type: 'ssh', properties, devices }),
    );
    await admin.commandTemplate('Hung', [{ command: 'show hung' }, { command: 'show more' }]);
    await admin.automation('mop-template', 'Hung');
  });

  for (const [where, hang] of Object.entries(hangs))
    it(`breaks the connection off: ${where}`, async () => {
      let isReached = false;
      let connections = 0;
      let isClosed = false;
      const hung = hang(() => {
        isReached = true;
      });
      behave((socket) => {
        connections++;
        socket.once('close', () => {
          isClosed = true;
        });
        hung(socket);
      });
      const id = await admin.start('Hung', { devices: ['r1'] });
      await until(() => isReached, 'the device that hangs');
      assert.equal((await admin.get(id)).status, 'running');

      const began = performance.now();
      await admin.move('cancel', id);
      assert.equal((await admin.get(id)).status, 'canceled');
      await until(() => isClosed, 'the end of the connection');
      note(`cancel of a command that hangs over SSH ${where}: ${Math.round(performance.now() - began)} ms`);

      // The next job may begin, and the one that was canceled sends nothing more.
      await admin.template(`After ${where}`, 'x');
      await admin.automation('template', `After ${where}`);
      await admin.inState(await admin.start(`After ${where}`), 'complete');
      assert.equal(connections, 1);
      const { results } = ok(await service.ask('GET', `/audit/events?resource=job/${id}`));
      assert.deepEqual(
        results.map(({ topic }: any) => topic),
        ['jobCanceled', 'jobClaimed', 'jobStarted'],
      );
    });
});
