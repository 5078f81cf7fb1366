import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import ssh2, { type AuthContext, type ServerChannel, type Session } from 'ssh2';

/** A key with which a server shows who it is. */
export const newHostKey = () => {
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519');
  const key = ssh2.utils.parseKey(hostKey);
  assert.ok(!(key instanceof Error));
  return { hostKey, fingerprint: `SHA256:${hash('sha256', key.getPublicSSH(), 'base64')}` };
};
const usual = newHostKey();
export const { fingerprint } = usual;

/** What a server that speaks SSH does; all that it does not say is as it should be. */
export type Behaviour = {
  /** The key, if not the usual one. */
  readonly hostKey?: string;
  readonly connected?: (connection: ssh2.Connection, socket: Socket) => void;
  readonly auth?: (context: AuthContext, connection: ssh2.Connection) => void;
  readonly refusesSessions?: true;
  readonly session?: (session: Session) => void;
  readonly shell?: (channel: ServerChannel, connection: ssh2.Connection) => void;
};

const opensShell =
  (shell: (channel: ServerChannel) => void) =>
  (session: Session): void => {
    session.on('pty', (accept) => accept?.());
    session.on('shell', (accept) => shell(accept()));
  };

/** Gives a prompt for each line, and the line back before it. */
export const prompts =
  (answer: (channel: ServerChannel, line: string) => void) =>
  (channel: ServerChannel): void => {
    channel.write('router#');
    channel.on('data', (data: Buffer) => {
      for (const line of String(data).split('\n').slice(0, -1)) answer(channel, line);
    });
  };

/** For a socket of `peer()`: a server that speaks SSH and behaves so. */
export const speaks =
  ({
    hostKey = usual.hostKey,
    connected,
    auth = (context) => context.accept(),
    refusesSessions,
    session,
    shell = () => undefined,
  }: Behaviour) =>
  (socket: Socket): void => {
    const speaker = new ssh2.Server({ hostKeys: [hostKey] }, (connection) => {
      connection.on('error', () => undefined);
      connection.on('authentication', (context) => auth(context, connection));
      connected?.(connection, socket);
      connection.on('session', (take, reject) => {
        if (refusesSessions) return reject();
        const opened =
          session ??
          opensShell((channel) => {
            channel.on('error', () => undefined);
            shell(channel, connection);
          });
        opened(take());
      });
    });
    speaker.injectSocket(socket);
  };
