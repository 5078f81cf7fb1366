import { hash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { abortable } from '@automation-platform/concurrency';
import { own } from '@automation-platform/json';
import type { AlgorithmList, Client, ClientChannel, ConnectConfig, KexAlgorithm, PseudoTtyOptions } from 'ssh2';
import type { Device, HostKey, Network, SshProperties } from '../device.ts';

/** A session cannot begin or go on. The message contains no secrets. */
export class SshFailure extends Error {}

/** The device shows a host key that is not the pinned one, or none is pinned. */
class OtherHostKey extends SshFailure {
  readonly key: HostKey;

  constructor(key: HostKey, expected: string | undefined) {
    const { fingerprint } = key;
    super(
      expected === undefined
        ? `no host key is pinned: the device shows ${fingerprint}`
        : `the host key is ${fingerprint}, which is not the one that is pinned`,
    );
    this.key = key;
  }
}

// Bytes beside the output itself: key exchange, banners, packets.
const overhead = 1024 * 1024;

/** A device, and what its adapter says of it. */
export type SshTarget = { readonly device: Device; readonly properties: SshProperties };

type Opening = SshTarget & {
  /** The device by whose connection it is reached. */
  readonly jump?: SshTarget | undefined;
  readonly network: Network;
  /** The most bytes of output of a call. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
};

/** A shell on a device. */
export type SshShell = {
  readonly shell: ClientChannel;
  /** Does what the work does, unless the connection breaks off or the signal aborts first. */
  during<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
  /** Tells why the connection breaks off, if it does. */
  onBreak(tell: (error: Error) => void): void;
  /** A call begins: its bytes are counted anew. */
  begin(): void;
  close(): void;
};

/** The library takes a tenth of a start, and many services call no device over SSH. */
const ssh2 = async () => (await import('ssh2')).default;

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

type Login = SshTarget & Pick<Opening, 'network' | 'maxBytes' | 'signal'>;

/** A connection that is logged in. */
type Connection = Omit<SshShell, 'shell'> & { readonly client: Client };

/**
 * Logs in over a stream that leads to the device; `open` gives it. The host key of the device is checked before the device
 * gets any credentials.
 */
const logIn = async (
  open: () => Promise<Duplex>,
  { device, properties, network, maxBytes, signal }: Login,
): Promise<Connection> => {
  const { username = '', password } = properties;
  const expected = pinnedKeyOf({ device, properties });
  const client = new (await ssh2()).Client();
  const stream = await open();
  let refused: OtherHostKey | undefined;
  let [bytes, tooMuch] = [0, false];
  // The first error ends the work, whatever the work waits for.
  const broken = new Promise<never>((_, reject) => {
    client.on('error', (error) =>
      reject(tooMuch ? new SshFailure('there is too much output') : (refused ?? failureOf(error, network))),
    );
    client.on('keyboard-interactive', (_name, _text, _language, ...[prompts, answer]) =>
      answer(prompts.map(({ prompt }) => (/\b(?:user ?name|login)\b/i.test(prompt) ? username : (password ?? '')))),
    );
    client.on('close', () => reject(new SshFailure(tooMuch ? 'there is too much output' : 'the connection broke off')));
  });
  broken.catch(() => undefined);
  const connection: Connection = {
    client,
    during: (work, during) => abortable(Promise.race([work, broken]), during),
    onBreak: (tell) => void broken.catch(tell),
    begin: () => {
      bytes = 0;
    },
    close: () => {
      client.end();
      client.destroy();
      stream.destroy();
    },
  };
  try {
    const ready = new Promise<void>((resolve) => {
      client.on('ready', resolve);
    });
    client.connect({
      sock: stream,
      username,
      readyTimeout: 0,
      keepaliveInterval: 0,
      ...credentialsOf(properties),
      algorithms: { compress: ['none'], kex: cheapestFirst },
      hostVerifier: (offered: Buffer) => {
        const key = hostKeyIn(offered);
        if (key.fingerprint !== expected) refused = new OtherHostKey(key, expected);
        return refused === undefined;
      },
    });
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes + overhead) return;
      tooMuch = true;
      stream.destroy();
    });
    await connection.during(ready, signal);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
};

const cheapest = 'ecdh-sha2-nistp256';
/** The key exchange that takes a third of the work of the library's first one moves to the front. */
const cheapestFirst: AlgorithmList<KexAlgorithm> = { remove: cheapest, prepend: cheapest, append: [] };

/** Fingerprint and type of a public key as it travels: its first member is its type (RFC 4253, 6.6). */
const hostKeyIn = (key: Buffer): HostKey => ({
  fingerprint: `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`,
  type: key.toString('latin1', 4, 4 + key.readUInt32BE(0)),
});

/** The fingerprint that the device must show; undefined if there is none. */
const pinnedKeyOf = ({ device, properties: { hostKey } }: SshTarget): string | undefined => {
  const expected = typeof hostKey === 'object' ? own(hostKey, device.name) : hostKey;
  return expected?.replace(/=+$/, '');
};

/** Throws `SshFailure` for a key that cannot be read. */
const checkPrivateKey = async ({ properties: { privateKey, passphrase } }: SshTarget): Promise<void> => {
  const key = privateKey === undefined ? undefined : (await ssh2()).utils.parseKey(privateKey, passphrase);
  if (key instanceof Error) throw new SshFailure('the private key cannot be read, or its passphrase is wrong');
};

/** The place where a device listens. */
const placeOf = ({ name, host = name, port = 22 }: Device) => ({ host, port });

/** A stream to the device from another one, which looks its name up. */
const through = (client: Client, device: Device): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const { host, port } = placeOf(device);
    client.forwardOut('127.0.0.1', 0, host, port, (error, stream) =>
      error ? reject(new SshFailure('the jump host does not reach the device')) : resolve(stream),
    );
  });

/** A stream to the device, by way of its jump host if it has one. `opened` gets the connection to that. */
const reach = async ({ device, jump, network, maxBytes, signal }: Opening, opened: Connection[]): Promise<Duplex> => {
  if (!jump) return network.connect(placeOf(device), signal);
  await checkPrivateKey(jump);
  const login = logIn(() => network.connect(placeOf(jump.device), signal), { ...jump, network, maxBytes, signal });
  const way = await login.catch((error: unknown) => {
    throw error instanceof SshFailure ? new SshFailure(`jump host: ${error.message}`) : error;
  });
  opened.push(way);
  return way.during(through(way.client, device), signal);
};

/** The host key that the device shows. Nobody logs in there. Throws `SshFailure`. */
export const askHostKey = async (opening: Opening): Promise<HostKey> => {
  const opened: Connection[] = [];
  try {
    const stream = () => reach(opening, opened);
    opened.push(await logIn(stream, { ...opening, properties: { username: 'nobody' } }));
  } catch (error) {
    if (error instanceof OtherHostKey) return error.key;
    throw sshFailureOf(error, opening);
  } finally {
    for (const one of opened.toReversed()) one.close();
  }
  throw new SshFailure('the device shows no host key');
};

/** Opens a shell on the device. Throws `SshFailure`. */
export const openShell = async (opening: Opening): Promise<SshShell> => {
  const { signal } = opening;
  const opened: Connection[] = [];
  const close = (): void => {
    for (const one of opened.toReversed()) one.close();
  };
  try {
    await checkPrivateKey(opening);
    const last = await logIn(() => reach(opening, opened), opening);
    opened.push(last);
    const terminal = { term: 'dumb', cols: 511, rows: 1000 };
    const shell = await last.during(
      shellOf(last.client, terminal).catch(() => shellOf(last.client, false)),
      signal,
    );
    return {
      shell,
      during: last.during,
      onBreak: last.onBreak,
      begin: () => {
        for (const one of opened) one.begin();
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
};

/** Why a session ended: an `SshFailure` for all that is no fault of this program. */
export const sshFailureOf = (error: unknown, { network, signal }: Pick<Opening, 'network' | 'signal'>): unknown => {
  if (signal.aborted) return new SshFailure(network.reasonOf(signal.reason));
  if (error instanceof SshFailure) return error;
  return (error as NodeJS.ErrnoException).code === undefined ? error : new SshFailure(network.reasonOf(error));
};

const shellOf = (client: Client, terminal: PseudoTtyOptions | false): Promise<ClientChannel> =>
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
  { reasonOf }: Network,
): SshFailure => {
  if (error.level === 'client-authentication') return new SshFailure('the device does not accept the credentials');
  if (error.code !== undefined) return new SshFailure(reasonOf(error));
  return new SshFailure('the device does not speak SSH as it should');
};
