import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { RequestError } from '../../domain/engine/requestError.ts';
import { traceparentOf } from '../../southbound/traceparent.ts';
import type { Principal } from '../authentication/principal.ts';

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
  const given = headerIn(ctx, 'x-request-id') ?? '';
  return {
    ctx,
    requestId: /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID(),
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

export const cookieOf = (ctx: Context, name: string): string | undefined =>
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
