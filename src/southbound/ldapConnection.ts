import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Client } from 'ldapts';
import type { LdapProperties } from '../domain/authorization/providerSchemas.ts';
import { blockList, within } from './addresses.ts';
import { abortable, Unexpected } from './failure.ts';
import { type LdapMessages, ldapMessages } from './ldapMessages.ts';
import { type Outbound, pinned } from './outbound.ts';

const startTlsOid = '1.3.6.1.4.1.1466.20037';
const loopback = blockList(['127.0.0.0/8', '::1']);

type Where = { readonly url: string } & Pick<LdapProperties, 'startTls' | 'ca'>;

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

/**
 * Does some work with a server of a directory. When the signal aborts, the connection ends, whatever the server does.
 * Throws why the connection has failed.
 */
export const withLdap = async <T>(
  guard: Outbound,
  where: Where,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const messages = ldapMessages(await open(guard, where, signal));
  const end = () => messages.fail(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    return await work(clientOver(messages));
  } catch (error) {
    throw messages.fault() ?? error;
  } finally {
    signal.removeEventListener('abort', end);
    messages.stream.destroy();
  }
};
