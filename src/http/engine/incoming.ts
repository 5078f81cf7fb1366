import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Context } from 'koa';
import { RequestError } from '../../domain/engine/requestError.ts';
import { traceparentOf } from '../../southbound/traceparent.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AppNeeds } from './appNeeds.ts';
import type { Route } from './route.ts';

/** A request in progress, with the facts found so far. */
export type Incoming = {
  readonly ctx: Context;
  readonly requestId: string;
  readonly address: string;
  /** True if nobody on the way can read the answer. */
  readonly isSecret: () => boolean;
  /** '' when the request target is not a URL. */
  readonly path: string;
  readonly traceparent: string | undefined;
  /** Name of the route that the path leads to; undefined without one. */
  asked: string | undefined;
  /** Name of the route. It and `area` are '' until the caller is known. */
  operation: string;
  area: string;
  /** Undefined until the caller is authenticated, and on open routes. */
  principal: Principal | undefined;
  /** True if the profile's timeout does not apply. */
  untimed: boolean;
};

/** The value of a header, which may be empty; undefined if the request has none of this name in lower case. */
export const headerIn = ({ req }: Pick<Context, 'req'>, name: string): string | undefined => {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
};

/** The facts that a new request shows at once. */
export const incomingOf = (ctx: Context, address: string, isSecret: () => boolean): Incoming => {
  const requestId = headerIn(ctx, 'x-request-id') ?? '';
  return {
    ctx,
    requestId: /^[\x21-\x7e]{1,128}$/.test(requestId) ? requestId : randomUUID(),
    address,
    isSecret,
    path: pathOf(ctx),
    traceparent: traceparentOf(headerIn(ctx, 'traceparent') ?? ''),
    asked: undefined,
    operation: '',
    area: '',
    principal: undefined,
    untimed: false,
  };
};

/**
 * The path of the request; '' when the target is not a URL. An absolute URL is cut down to path and query, because
 * Koa's parser throws at some absolute URLs.
 */
const pathOf = (ctx: Context): string => {
  if (!ctx.url.startsWith('/')) {
    if (!URL.canParse(ctx.url)) return '';
    const { pathname, search } = new URL(ctx.url);
    if (!pathname.startsWith('/')) return '';
    ctx.url = pathname + search;
  }
  return ctx.path;
};

const cookieOf = (ctx: Context, name: string): string | undefined =>
  ctx.req.headers.cookie === undefined ? undefined : ctx.cookies.get(name);

// One for all: to make an error takes longer than all else here.
const nobodyWaits = new RequestError('unavailable', 'Nobody waits for the answer any more');

/** A signal that aborts when the answer has been sent or the connection has closed. */
export const abandonment = (res: ServerResponse): AbortSignal => {
  const aborting = new AbortController();
  const abort = (): void => aborting.abort(nobodyWaits);
  if (res.destroyed) abort();
  else res.once('close', abort);
  return aborting.signal;
};

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

type Needs = Pick<AppNeeds, 'authenticator' | 'settings' | 'cutOff' | 'mayMeasure'>;

/**
 * Finds the caller of a route; undefined if the route needs none. An open route needs one for an earlier time. It returns no promise when it need not wait, because
 * most callers are known already.
 */
export const callerOf =
  ({ authenticator, settings, cutOff, mayMeasure }: Needs) =>
  (
    { ctx, address }: Incoming,
    route: Route | undefined,
    isPast: boolean,
  ): Principal | undefined | Promise<Principal> => {
    const { authorization = '' } = ctx.req.headers;
    if ((route?.access === 'open' && !isPast) || (route?.byMetricsToken && mayMeasure(authorization))) return undefined;
    const credentials = { authorization, cookie: cookieOf(ctx, settings().cookieName), address };
    const lastPrincipal = route?.monitoring && authenticator.lastKnown(credentials);
    if (lastPrincipal) return lastPrincipal;
    // A node that is cut off would not learn that a password was changed on another node.
    if (cutOff())
      throw new RequestError('unavailable', 'This node cannot reach the event log', { retryAfterSeconds: 1 });
    return authenticator.authenticate(credentials);
  };
