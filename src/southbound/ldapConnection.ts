import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { abortable, idleSessions } from '@automation-platform/concurrency';
import { Client } from 'ldapts';
import type { LdapProperties } from '../domain/authorization/providerSchemas.ts';
import { blockList, within } from './addresses.ts';
import { TooMuch, Unexpected } from './failure.ts';
import { type Outbound, pinned } from './outbound.ts';

/** The most bytes and messages that a directory may answer to one request. */
const [mostBytes, mostMessages] = [1024 * 1024, 6_000];
/** The bytes of a message with an id, and something with a length. */
const leastBytes = 7;

/** How many bytes the first message in the buffer has; undefined: it has not begun enough to tell. */
const lengthOfMessage = (buffer: Buffer): number | undefined => {
  const [tag, size] = buffer;
  if (tag !== undefined && tag !== 0x30) throw new Unexpected('the answer is not LDAP');
  if (size === undefined) return undefined;
  if (size < 0x80) return 2 + size;
  const digits = size & 0x7f;
  if (digits === 0 || digits > 4) throw new Unexpected('the answer is not LDAP');
  return buffer.length < 2 + digits ? undefined : 2 + digits + buffer.readUIntBE(2, digits);
};

/**
 * The messages of LDAP over a socket, one at a time and within bounds. ldapts reads the messages of a chunk by recursion,
 * so a directory that sends many small ones would end the process, and it copies all that it has with each chunk.
 */
const ldapMessages = (socket: Socket) => {
  let chunks: Buffer[] = [];
  let size = 0;
  let enough = 2;
  let [bytes, messages] = [0, 0];
  let fault: unknown;

  const stream = new Duplex({
    readableObjectMode: true,
    read: () => undefined,
    write: (chunk, _, next) => {
      [bytes, messages] = [0, 0];
      socket.write(chunk, next);
    },
    destroy: (_, next) => {
      socket.destroy();
      next(null);
    },
  });

  /** Ends the connection. Without an error event: ldapts rejects what it waits for, and `fault` says why. */
  const fail = (error: unknown): void => {
    fault ??= error;
    stream.destroy();
  };

  const pass = (): void => {
    let rest = Buffer.concat(chunks);
    let length = lengthOfMessage(rest);
    for (; length !== undefined && length <= rest.length; length = lengthOfMessage(rest)) {
      if (length < leastBytes) throw new Unexpected('the answer is not LDAP');
      if (++messages > mostMessages) throw new TooMuch(`An answer may have ${mostMessages} messages`);
      stream.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    if (length !== undefined && length > mostBytes) throw new TooMuch(`An answer may have ${mostBytes} bytes`);
    chunks = [rest];
    size = rest.length;
    enough = length ?? size + 1;
  };

  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    bytes += chunk.length;
    try {
      if (bytes > mostBytes) throw new TooMuch(`An answer may have ${mostBytes} bytes`);
      if (size >= enough) pass();
    } catch (error) {
      fail(error);
    }
  };

  socket.on('data', take);
  socket.on('error', fail);
  socket.on('close', () => fail(new Unexpected('the connection ended without an answer')));
  return {
    stream,
    fail,
    /** Why the connection has ended; undefined: it has not. */
    fault: () => fault,
    /** One that is not in use does not keep the process. */
    setInUse: (isInUse: boolean): void => void (isInUse ? socket.ref() : socket.unref()),
    /** Leaves the socket. The bytes that it has sent so far are lost. */
    release: (): Socket => {
      socket.removeAllListeners('data');
      socket.removeAllListeners('close');
      return socket;
    },
  };
};

type LdapMessages = ReturnType<typeof ldapMessages>;

const startTlsOid = '1.3.6.1.4.1.1466.20037';
const loopback = blockList(['127.0.0.0/8', '::1']);

type Where = { readonly url: string } & Pick<LdapProperties, 'startTls' | 'ca'>;

type Work<T> = (client: Client) => Promise<T>;
type Connection = { readonly messages: LdapMessages; readonly client: Client; close(): void };

/** How long a connection is kept that nobody uses. */
const keptMs = 5_000;

/** A client that speaks over this connection alone: a new one would be without TLS, and could lead elsewhere. */
const clientOver = ({ stream }: LdapMessages): Client => {
  let isTaken = false;
  return new Client({
    url: 'ldap://directory',
    createConnection: () => {
      if (isTaken) throw new Unexpected('the connection broke off');
      isTaken = true;
      return Object.assign(stream, { connecting: false, readyState: 'open' }) as unknown as Socket; // all that ldapts needs
    },
  });
};

/** Opens the connection, with TLS if it is not loopback. */
const open = async (guard: Outbound, { url, startTls = false, ca }: Where, signal: AbortSignal): Promise<Socket> => {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'ldaps:';
  const all = await abortable(guard.addresses(host), signal);
  const addresses = isTls || startTls ? all : all.filter(({ address }) => within(loopback, address));
  if (addresses.length === 0) throw new Unexpected('a connection without TLS leads to loopback only');
  const socket = connect({ host, port: Number(port) || (isTls ? 636 : 389), lookup: pinned(addresses) });
  const overTls = async (): Promise<Socket> => {
    const tls = tlsConnect({ socket, host, ca, ...(isIP(host) ? {} : { servername: host }) });
    socket.on('error', (error) => tls.destroy(error));
    socket.once('close', () => tls.destroy());
    tls.on('error', () => undefined);
    await once(tls, 'secureConnect', { signal });
    return tls;
  };
  try {
    await once(socket, 'connect', { signal });
    if (isTls) return await overTls();
    if (!startTls) return socket;
    const plain = ldapMessages(socket);
    const end = () => plain.fail(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    await clientOver(plain)
      .exop(startTlsOid)
      .catch((error: unknown) => Promise.reject(plain.fault() ?? error))
      .finally(() => signal.removeEventListener('abort', end));
    plain.release();
    return await overTls();
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw error;
  }
};

/** Does some work over a connection. When the signal aborts, the connection ends. Throws why the connection has failed. */
const workOver = async <T>({ messages, client }: Connection, signal: AbortSignal, work: Work<T>): Promise<T> => {
  const end = () => messages.fail(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    return await work(client);
  } catch (error) {
    throw messages.fault() ?? error;
  } finally {
    signal.removeEventListener('abort', end);
  }
};

/** True if the server has ended a connection that was not used. */
const isEnded = (error: unknown): boolean =>
  error instanceof Unexpected || ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

/** A server of a directory, with a name that it has as long as its provider does not change. */
export type Server = { readonly where: Where; readonly server: string };

type Kind = Server & {
  /** As whom the connection is used. Works at one server as the same serve one another with their connections. */
  readonly as: 'searcher' | 'person';
  /** The first work over a new connection, such as a bind that later works rely on. */
  readonly begin?: Work<void> | undefined;
};

/**
 * Connections with servers of directories. One that was used is kept for the next work with the same key, for some seconds:
 * to open one with TLS costs more than all that a login asks.
 */
export const ldapConnections = (guard: Outbound) => {
  const idle = {
    searcher: idleSessions<Connection>(Number.POSITIVE_INFINITY),
    person: idleSessions<Connection>(Number.POSITIVE_INFINITY),
  };

  const take = (as: Kind['as'], server: string): Connection | undefined => {
    const from = idle[as];
    for (let one = from.take(server); one; one = from.take(server)) if (one.messages.fault() === undefined) return one;
    return undefined;
  };

  /**
   * Does some work with a server of a directory. When the signal aborts, the connection ends, whatever the server does.
   * The work gets a connection that is bound as the work before has left it, and may be done twice. Throws why the
   * connection has failed.
   */
  return async <T>({ where, server, as, begin }: Kind, signal: AbortSignal, work: Work<T>): Promise<T> => {
    const finish = async (connection: Connection): Promise<T> => {
      const { messages } = connection;
      messages.setInUse(true);
      try {
        return await workOver(connection, signal, work);
      } finally {
        messages.setInUse(false);
        if (messages.fault() === undefined) idle[as].keep(server, connection, keptMs);
        // A server that is silent here is silent there.
        if (signal.aborted) for (const each of Object.values(idle)) each.end((other) => other === server);
      }
    };
    const fresh = async (): Promise<T> => {
      const messages = ldapMessages(await open(guard, where, signal));
      const connection = { messages, client: clientOver(messages), close: () => void messages.stream.destroy() };
      if (begin)
        await workOver(connection, signal, begin).catch((error: unknown) => {
          connection.close();
          throw error;
        });
      return finish(connection);
    };
    const before = take(as, server);
    if (!before) return fresh();
    return finish(before).catch((error: unknown) => {
      if (signal.aborted || before.messages.fault() === undefined || !isEnded(error)) throw error;
      return fresh();
    });
  };
};
