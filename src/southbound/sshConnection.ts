import { hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import ssh2, { type ClientChannel, type ConnectConfig, type PseudoTtyOptions } from 'ssh2';
import type { SshProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { abortable, reasonOf } from './failure.ts';
import { type Outbound, OutboundRefused, pinned } from './outbound.ts';
import type { Device } from './port.ts';

/** A session cannot begin or go on. The message contains no secrets. */
export class SshFailure extends Error {}

// Bytes beside the output itself: key exchange, banners, packets.
const overhead = 1024 * 1024;

type Target = {
  readonly device: Device;
  readonly properties: SshProperties;
  readonly guard: Outbound;
  /** The most bytes of output. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
};

/** The ways to log in. A way that is not configured must not be a member at all. */
const credentialsOf = ({ password, privateKey, passphrase }: SshProperties): ConnectConfig => {
  const credentials: ConnectConfig = {};
  if (password !== undefined) {
    credentials.password = password;
    credentials.tryKeyboard = true;
  }
  if (privateKey !== undefined) credentials.privateKey = privateKey;
  if (passphrase !== undefined) credentials.passphrase = passphrase;
  credentials.authHandler = privateKey === undefined ? ['password', 'keyboard-interactive'] : ['publickey'];
  return credentials;
};

/**
 * Opens a shell on the device, does the work with it, and then closes everything. Throws `SshFailure`, or the error of
 * the work. The host key of the device is checked before the device gets any credentials.
 */
export const withShell = async <T>(
  { device, properties, guard, maxBytes, signal }: Target,
  work: (shell: ClientChannel) => Promise<T>,
): Promise<T> => {
  const { username, password, privateKey, passphrase } = properties;
  const key = privateKey === undefined ? undefined : ssh2.utils.parseKey(privateKey, passphrase);
  if (key instanceof Error) throw new SshFailure('the private key cannot be read, or its passphrase is wrong');
  const wanted = typeof properties.hostKey === 'string' ? properties.hostKey : properties.hostKey[device.name];
  if (wanted === undefined) throw new SshFailure('no host key is pinned for this device');

  const [host, port] = [device.host ?? device.name, device.port ?? 22];
  const client = new ssh2.Client();
  let socket: Socket | undefined;
  let shown: string | undefined;
  let tooMuch = false;
  // The first error ends the work, whatever the work waits for.
  const broken = new Promise<never>((_, reject) => {
    client.on('error', (error) =>
      reject(tooMuch ? new SshFailure('there is too much output') : failureOf(error, shown, wanted)),
    );
    client.on('keyboard-interactive', (_name, _text, _language, ...[prompts, answer]) =>
      answer(prompts.map(() => password ?? '')),
    );
    client.on('close', () => reject(new SshFailure(tooMuch ? 'there is too much output' : 'the connection broke off')));
  });
  broken.catch(() => undefined);
  const orBroken = <R>(promise: Promise<R>): Promise<R> => abortable(Promise.race([promise, broken]), signal);

  try {
    const addresses = await abortable(guard.addresses(host), signal);
    // A line is a few bytes that wait for nothing, and the next line waits for its answer.
    socket = connect({ host, port, lookup: pinned(addresses), noDelay: true });
    const ready = new Promise<void>((resolve) => {
      client.on('ready', resolve);
    });
    client.connect({
      sock: socket,
      username,
      readyTimeout: 0,
      keepaliveInterval: 0,
      ...credentialsOf(properties),
      algorithms: { compress: ['none'] },
      hostVerifier: (offered: Buffer) => {
        shown = `SHA256:${hash('sha256', offered, 'base64').replace(/=+$/, '')}`;
        return shown === wanted.replace(/=+$/, '');
      },
    });
    const bytes = socket;
    bytes.on('data', () => {
      if (bytes.bytesRead <= maxBytes + overhead) return;
      tooMuch = true;
      bytes.destroy();
    });
    await orBroken(ready);
    const shell = await orBroken(
      shellOf(client, { term: 'dumb', cols: 511, rows: 1000 }).catch(() => shellOf(client, false)),
    );
    return await orBroken(work(shell));
  } catch (error) {
    if (signal.aborted) throw new SshFailure(reasonOf(signal.reason));
    const known =
      error instanceof SshFailure ||
      !((error as NodeJS.ErrnoException).code !== undefined || error instanceof OutboundRefused);
    throw known ? error : new SshFailure(reasonOf(error));
  } finally {
    client.end();
    client.destroy();
    socket?.destroy();
  }
};

const shellOf = (client: ssh2.Client, terminal: PseudoTtyOptions | false): Promise<ClientChannel> =>
  new Promise((resolve, reject) => {
    try {
      client.shell(terminal, (error, channel) =>
        error ? reject(new SshFailure('the device gives no shell')) : resolve(channel),
      );
    } catch {
      // ssh2 throws when the connection has ended in the meantime.
      reject(new SshFailure('the connection broke off'));
    }
  });

const failureOf = (
  error: Error & { readonly level?: string; readonly code?: string },
  shown: string | undefined,
  wanted: string,
): SshFailure => {
  if (shown !== undefined && shown !== wanted.replace(/=+$/, ''))
    return new SshFailure(`the host key is ${shown}, which is not the one that is pinned`);
  if (error.level === 'client-authentication') return new SshFailure('the device does not accept the credentials');
  if (error.code !== undefined) return new SshFailure(reasonOf(error));
  return new SshFailure('the device does not speak SSH as it should');
};
