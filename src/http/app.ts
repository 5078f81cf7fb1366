import { randomUUID } from 'node:crypto';
import Koa, { type Context } from 'koa';
import { Type } from 'typebox';
import type { Actor } from '../domain/core.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Authenticator, Principal } from './authenticate.ts';
import { bodyReader } from './body.ts';
import { minPositionOf, unchanged } from './conditions.ts';
import { failureBody, internal, statusOf } from './errors.ts';
import type { AreaRows, Call, Row } from './route.ts';
import { checkParams, type Placed, rowRouter } from './router.ts';
import { type Outgoing, queryOf, serveRow } from './serve.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import { validator } from './validate.ts';

/** What access log and metrics are told of a request. */
export type Seen = {
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Name of the row, '' when none was found. */
  readonly operation: string;
  readonly user: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
};

export type AppNeeds = {
  readonly areas: readonly AreaRows[];
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Resolves once reads show all that this node has acknowledged, and the position; undefined: they do already. */
  readonly settled: (minPosition: number) => Promise<void> | undefined;
  readonly limits: { readonly maxBytes: number; readonly maxImportBytes: number };
  readonly settings: () => Pick<Settings, 'allowOrigin' | 'cacheControl' | 'cookieName' | 'timeout'>;
  readonly addressOf: (ctx: Context) => string;
  /** Called once per answered request. */
  readonly observe: (seen: Seen) => void;
  readonly logBug: (error: unknown, requestId: string) => void;
  /** True while the service goes down: new requests are refused. */
  readonly stopping: () => boolean;
};

/** What is noted of a request on its way. */
type Noted = { operation: string; user: string | undefined; untimed: boolean };

const nobody: Actor = { id: '', username: '', provenance: '', groups: [], admin: false };
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const json = 'application/json; charset=utf-8';
const noBody = Type.Object({}, { additionalProperties: false });

/** The whole of HTTP: from rows to answers, in the order of checks that behaviour.md gives. */
export const app = (needs: AppNeeds): Koa => {
  const { areas, service, authenticator, settled, settings } = needs;
  const find = rowRouter(areas);
  const readBody = bodyReader(needs.limits);
  const rows = new Map<Row, ReturnType<typeof prepare>>();

  const prepare = ({ row, area }: Placed) => ({
    row, area,
    serve: serveRow(row, service),
    query: 'list' in row ? undefined : queryOf(row),
    checkBody: validator(row.body ?? noBody),
  });
  const prepared = (placed: Placed) => {
    const known = rows.get(placed.row) ?? prepare(placed);
    rows.set(placed.row, known);
    return known;
  };

  /** No promise when nothing has to be waited for: most requests come from callers who are known. */
  const principalOf = (ctx: Context, address: string): Principal | Promise<Principal> =>
    authenticator.authenticate({ authorization: ctx.headers.authorization ?? '', cookie: cookieOf(ctx, settings().cookieName), address });

  /** What is sent; undefined: the context says it all. Until it first waits it says in `seen` whether it may take its time. */
  const answer = async (ctx: Context, path: string, seen: Noted, requestId: string, address: string): Promise<Outgoing | undefined> => {
    const { method } = ctx;
    if (needs.stopping()) throw new Refusal('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });
    const readable = path !== '' && !(path.includes('%') && malformed(path));
    const match = readable ? find(method, path) : undefined;
    if (method === 'OPTIONS' && match) {
      preflight(ctx, match);
      return undefined;
    }
    seen.untimed = match !== undefined && 'placed' in match && match.placed.row.untimed === true;

    const open = match && 'placed' in match && match.placed.row.access === 'open';
    const caller = open ? undefined : principalOf(ctx, address);
    const principal = caller instanceof Promise ? await caller : caller;
    seen.user = principal?.actor.username;
    if (!readable) throw new Refusal('invalid', path === '' ? 'The request target is no URL' : 'The path has a malformed percent-encoding', { path: 'path' });
    if (!match) throw new Refusal('not_found', 'No such path');
    if ('allow' in match) {
      ctx.set('Allow', match.allow.join(', '));
      throw new Refusal('method_not_allowed', `This path does not know ${method}`);
    }
    const { row, area, serve, query, checkBody } = prepared(match.placed);
    seen.operation = row.name;
    if (principal && row.access === undefined && !principal.may(area, row.name, row.reading === true))
      throw new Refusal('forbidden', `No role of yours allows ${row.name} of ${area}`);

    const body = changing.has(method) ? await readBody(ctx, row.large === true) : undefined;
    checkParams(match.params);
    const { querystring } = ctx;
    const call: Call = {
      method, path, querystring, requestId, address,
      params: match.params,
      query: query ? query(querystring).values : {},
      body: body ? body.value : {},
      bodyText: body?.text ?? '',
      actor: principal?.actor ?? nobody,
      principal,
      header: (name) => ctx.get(name),
    };
    if (body) checkBody(call.body);
    const wait = open ? undefined : settled(minPositionOf(ctx.get('x-min-position')));
    if (wait) await wait;
    return serve(call);
  };

  const preflight = (ctx: Context, match: NonNullable<ReturnType<typeof find>>): void => {
    const allow = 'allow' in match ? match.allow.join(', ') : 'OPTIONS';
    ctx.status = 204;
    ctx.set({
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Min-Position, X-Request-Id, traceparent',
      'Access-Control-Max-Age': '600',
    });
  };

  /** The work's outcome, or `unavailable` if it takes longer; it goes on all the same, and its end is nobody's answer. */
  const within = async <T>(ms: number, ctx: Context, work: Promise<T>, requestId: string): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        work.catch((error: unknown) => { if (!(error instanceof Refusal)) needs.logBug(error, requestId); });
        // What is left of the body is not read.
        ctx.set('Connection', 'close');
        reject(new Refusal('unavailable', `No answer within ${ms} ms. A change may be carried out all the same: send it again with the same Idempotency-Key to be sure`));
      }, ms);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  };

  const refuse = (ctx: Context, error: unknown, requestId: string): void => {
    if (!(error instanceof Refusal)) needs.logBug(error, requestId);
    const refusal = error instanceof Refusal ? error : internal(requestId);
    ctx.status = statusOf[refusal.code];
    ctx.type = json;
    if (refusal.code === 'unauthenticated') ctx.set('WWW-Authenticate', 'Basic realm="automation-platform", charset="UTF-8"');
    const retryAfter = refusal.retryAfterSeconds ?? (refusal.code === 'unavailable' ? 1 : undefined);
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    ctx.body = failureBody(refusal);
  };

  return new Koa().use(async (ctx) => {
    const start = performance.now();
    const given = ctx.get('x-request-id');
    const requestId = /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
    const address = needs.addressOf(ctx);
    const path = pathOf(ctx);
    const seen: Noted = { operation: '', user: undefined, untimed: false };
    const { allowOrigin, cacheControl, timeout } = settings();
    // Straight to Node: Koa's own `set` looks twice at each.
    const { res } = ctx;
    res.setHeader('X-Request-Id', requestId);
    res.setHeader('Vary', 'Authorization, Cookie');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (cacheControl) res.setHeader('Cache-Control', 'no-cache');
    if (allowOrigin !== undefined) {
      ctx.set('Access-Control-Allow-Origin', allowOrigin);
      ctx.set('Access-Control-Expose-Headers', 'ETag, X-Event-Position, X-Request-Id, Idempotency-Replayed, Retry-After');
    }
    try {
      const work = answer(ctx, path, seen, requestId, address);
      const outgoing = await (timeout > 0 && !seen.untimed ? within(timeout, ctx, work, requestId) : work);
      if (outgoing) send(ctx, outgoing);
    } catch (error) {
      refuse(ctx, error, requestId);
    }
    if (needs.stopping()) ctx.set('Connection', 'close');
    needs.observe({ requestId, address, method: ctx.method, path, operation: seen.operation, user: seen.user, status: ctx.status, milliseconds: performance.now() - start });
  });
};

const send = (ctx: Context, { status, body, type, etag, headers, position, replayed }: Outgoing): void => {
  if (etag !== undefined) {
    ctx.res.setHeader('ETag', etag);
    if ((ctx.method === 'GET' || ctx.method === 'HEAD') && unchanged(ctx.get('if-none-match'), etag)) {
      ctx.status = 304;
      return;
    }
  }
  if (position) ctx.set('X-Event-Position', String(position));
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
  ctx.status = status ?? 200;
  ctx.res.setHeader('Content-Type', type ?? json);
  if (headers) ctx.set({ ...headers });
  ctx.body = body ?? '';
};

const cookieOf = (ctx: Context, name: string): string | undefined => (ctx.headers.cookie === undefined ? undefined : ctx.cookies.get(name));

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

/** Escapes that are no escapes, or that are no UTF-8. */
const malformed = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
};
