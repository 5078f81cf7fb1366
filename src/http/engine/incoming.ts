import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { RequestError } from '../../domain/engine/requestError.ts';
import { traceparentOf } from '../../southbound/traceparent.ts';
import type { Principal } from '../authentication/principal.ts';

/** A request on its way, and what is known of it so far. */
export type Incoming = {
  readonly ctx: Context;
  readonly requestId: string;
  readonly address: string;
  /** '' when the target is no URL. */
  readonly path: string;
  readonly traceparent: string | undefined;
  /** Name of the route and its area; '' as long as none is found. */
  operation: string;
  area: string;
  /** Undefined as long as nobody has been recognized, and on open routes. */
  principal: Principal | undefined;
  /** Whether it may take its time. */
  untimed: boolean;
};

/** A request as it comes in. */
export const incomingOf = (ctx: Context, address: string): Incoming => {
  const given = ctx.get('x-request-id');
  return {
    ctx,
    requestId: /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID(),
    address,
    path: pathOf(ctx),
    traceparent: traceparentOf(ctx.get('traceparent')),
    operation: '',
    area: '',
    principal: undefined,
    untimed: false,
  };
};

/**
 * The path that is asked for; '' when the target is no URL. One in full is cut down to its path and query: Koa's parser
 * throws at some of them.
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

/** The value of a cookie that the request has. */
export const cookieOf = (ctx: Context, name: string): string | undefined =>
  ctx.headers.cookie === undefined ? undefined : ctx.cookies.get(name);

/** Aborted when the answer has been sent, or its connection has gone. */
export const abandonment = (res: ServerResponse): AbortSignal => {
  const aborting = new AbortController();
  const abort = (): void => aborting.abort(new RequestError('unavailable', 'Nobody waits for the answer any more'));
  if (res.destroyed) abort();
  else res.once('close', abort);
  return aborting.signal;
};
