import { type BlockList, isIP } from 'node:net';
import type { Context } from 'koa';

/** Reads the caller's address: the socket's, or the last address in X-Forwarded-For that is not a trusted proxy. */
export const addressReader =
  (trusted: BlockList) =>
  (ctx: Context): string => {
    const socket = plain(ctx.req.socket.remoteAddress ?? '');
    const forwarded = ctx.get('x-forwarded-for');
    if (forwarded === '' || !isTrusted(trusted, socket)) return socket;
    let caller = socket;
    for (const address of forwarded
      .split(',')
      .map((item) => plain(item.trim()))
      .reverse()) {
      if (isIP(address) === 0) break;
      caller = address;
      if (!isTrusted(trusted, address)) break;
    }
    return caller;
  };

/** Turns an IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) into IPv4. */
const plain = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;

const isTrusted = (trusted: BlockList, address: string): boolean => {
  const version = isIP(address);
  return version !== 0 && trusted.check(address, version === 4 ? 'ipv4' : 'ipv6');
};
