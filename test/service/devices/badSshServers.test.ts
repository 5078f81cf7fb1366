import type { Socket } from 'node:net';
import type { AuthContext, ServerChannel } from 'ssh2';
import { blockList } from '../../../src/southbound/addresses.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { sshAdapter } from '../../../src/southbound/ssh.ts';
import { dribbles, floods, late } from '../../support/badUpstreams.ts';
import { fails } from '../../support/deviceAdapter.contract.ts';
import { peer } from '../../support/peer.ts';
import { type Behaviour, fingerprint, prompts, speaks } from '../../support/sshPeer.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });
const more = (socket: ServerChannel, text: string): void => {
  const go = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', go).on('close', () => socket.off('drain', go));
  go();
};

const asksAgain = (context: AuthContext): void => {
  if (context.method !== 'keyboard-interactive') context.reject(['keyboard-interactive']);
  else context.prompt([{ prompt: 'Again: ', echo: false }], () => asksAgain(context));
};

const broken = /broke off|does not speak SSH|too much output/;

const bad: Readonly<Record<string, readonly [Behaviour, RegExp]>> = {
  'never answers a login': [{ auth: () => undefined }, late],
  'asks for the password again and again': [{ auth: asksAgain }, late],
  'refuses every login': [{ auth: (context) => context.reject([]) }, /does not accept the credentials/],
  'ends at the login': [{ auth: (_, connection) => connection.end() }, broken],
  'refuses a session': [{ refusesSessions: true }, /gives no shell/],
  'never answers the wish for a shell': [
    {
      session: (session) => {
        session.on('pty', (accept) => accept?.()).on('shell', () => undefined);
      },
    },
    late,
  ],
  'refuses a shell': [
    {
      session: (session) => {
        session.on('pty', (accept) => accept?.()).on('shell', (_, reject) => reject?.());
      },
    },
    /gives no shell/,
  ],
  'says nothing in its shell': [{ shell: () => undefined }, late],
  'ends its shell at once': [{ shell: (channel) => void channel.end() }, /broke off/],
  'has another prompt each time': [
    {
      shell: (channel) => {
        let n = 0;
        prompts((to) => void to.write(`\r\nrouter${n++}#`))(channel);
      },
    },
    late,
  ],
  'prints without an end': [{ shell: (channel) => more(channel, 'x'.repeat(32_768)) }, /too much output/],
  'prints lines without an end': [{ shell: (channel) => more(channel, 'line#\r\n'.repeat(4096)) }, /too much output/],
  'prints escape sequences without an end': [
    { shell: (channel) => more(channel, '\u001b]0;'.repeat(8192)) },
    /too much output/,
  ],
  'goes silent after a command': [
    {
      shell: prompts((channel, line) => {
        if (line === '') channel.write('\r\nrouter#');
      }),
    },
    late,
  ],
  'breaks off after a command': [
    {
      shell: (channel, connection) =>
        prompts((to, line) => {
          if (line === '') to.write('\r\nrouter#');
          else connection.end();
        })(channel),
    },
    broken,
  ],
  'resets within a session': [
    { connected: (connection, socket) => connection.on('session', () => setImmediate(() => socket.resetAndDestroy())) },
    broken,
  ],
};

const text =
  (said: string | Buffer) =>
  (socket: Socket): void =>
    void socket.write(said);
const packet = (length: number, ...bytes: readonly number[]): Buffer => {
  const made = Buffer.alloc(5 + bytes.length);
  made.writeUInt32BE(length);
  made.set(bytes, 5);
  return made;
};

/** Those that do not even get as far as keys. */
const raw: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp]>> = {
  'says nothing': [() => undefined, late],
  'speaks something else': [(socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), broken],
  'says garbage for ever': [floods('', 'x'), broken],
  'dribbles a banner': [dribbles('', '#\r\n'), late],
  resets: [(socket) => socket.resetAndDestroy(), broken],
  'says who it is, and nothing more': [text('SSH-2.0-x\r\n'), late],
  'speaks SSH 1': [text('SSH-1.5-x\r\n'), broken],
  'announces a packet of 4 GiB': [text(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), packet(0xffffffff, 20)])), broken],
  'announces a packet of nothing': [text(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), packet(0)])), broken],
  'offers keys that are garbage': [
    text(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), packet(12, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)])),
    broken,
  ],
  'begins with the last message': [
    text(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), packet(12, 94, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)])),
    broken,
  ],
};

describe('The adapter ssh, with a bad server that', () => {
  const { port, behave } = peer();

  const adapter = () => sshAdapter('tested', { username: 'x', password: 'y', hostKey: fingerprint }, guard);
  const ends = (reason: RegExp): Promise<void> =>
    fails(
      adapter().run(
        { name: 'r', host: '127.0.0.1', port: port() },
        'show version',
        AbortSignal.timeout(reason === late ? 1000 : 100_000),
      ),
      reason,
    );

  for (const [kind, [behaviour, reason]] of Object.entries(bad)) {
    it(`${kind}: a call ends`, () => {
      behave(speaks(behaviour));
      return ends(reason);
    });
  }
  for (const [kind, [says, reason]] of Object.entries(raw)) {
    it(`${kind}: a call ends`, () => {
      behave((socket) => says(socket.resume()));
      return ends(reason);
    });
  }
  it('is not there: a call ends', () =>
    fails(adapter().run({ name: 'r', host: '127.0.0.1', port: 1 }, 'x', AbortSignal.timeout(100_000)), /refused/));
});
