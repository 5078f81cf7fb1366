import { BlockList, isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Context } from 'koa';

/** Reads the caller's address: the socket's, or the last address in X-Forwarded-For that is not a trusted proxy. */
export const addressReader =
  (trusted: BlockList) =>
  (ctx: Context): string => {
    const socket = plain(ctx.req.socket.remoteAddress ?? '');
    const forwarded = ctx.get('x-forwarded-for');
    if (forwarded === '' || !isIn(trusted, socket)) return socket;
    let caller = socket;
    for (const address of itemsOf(forwarded).map(plain).reverse()) {
      if (isIP(address) === 0) break;
      caller = address;
      if (!isIn(trusted, address)) break;
    }
    return caller;
  };

/**
 * Tells whether nobody on the way can read the answer: the caller is on this machine, or the way is encrypted. A proxy
 * says so by X-Forwarded-Proto. A proxy's caller is on this machine if the proxy is, is trusted, and names addresses of
 * this machine alone: one that cannot be read may be anywhere.
 */
export const secrecyReader =
  (trusted: BlockList) =>
  (ctx: Context): boolean => {
    const { socket } = ctx.req;
    if ((socket as TLSSocket).encrypted === true) return true;
    const next = plain(socket.remoteAddress ?? '');
    const isProxy = isIn(trusted, next);
    if (isLoopback(next) && isNear(ctx, isProxy)) return true;
    return isProxy && itemsOf(ctx.get('x-forwarded-proto')).every((protocol) => protocol.toLowerCase() === 'https');
  };

/**
 * True if no header speaks of a caller on another machine. Each of these headers is a sign of a proxy, whoever sends it.
 * Addresses in `Forwarded` and `Via` are not read.
 */
const isNear = (ctx: Pick<Context, 'get'>, isProxy: boolean): boolean => {
  if (ctx.get('forwarded') !== '' || ctx.get('via') !== '') return false;
  const named = ['x-forwarded-for', 'x-real-ip'].map((header) => ctx.get(header)).filter((value) => value !== '');
  return named.length === 0 || (isProxy && named.flatMap(itemsOf).every((item) => isLoopback(plain(item))));
};

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const isLoopback = (address: string): boolean => isIn(loopback, address);

const itemsOf = (header: string): readonly string[] => header.split(',').map((item) => item.trim());

/** Turns an IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) into IPv4. */
const plain = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;

const isIn = (list: BlockList, address: string): boolean => {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
};
