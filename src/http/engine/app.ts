import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { noInput } from '../../commands/engine/define.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { decoded } from '../../domain/engine/percentEncoding.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import { traceparentOf } from '../../southbound/traceparent.ts';
import type { Authenticator, Principal } from '../authentication/authenticate.ts';
import { bodyReader, withExact } from './body.ts';
import { compressed, encodedTag, encodingFor } from './compression.ts';
import { minPositionOf, unchanged } from './conditions.ts';
import { failureBody, internal, statusOf } from './errors.ts';
import type { Outgoing } from './outgoing.ts';
import type { AreaRows, Call, Row } from './route.ts';
import { checkParams, type Placed, rowRouter } from './router.ts';
import { queryOf, serveRow } from './serve.ts';
import type { Service } from './service.ts';
import { validator } from './validate.ts';

/** What access log and metrics are told of a request. */
export type Seen = {
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Name of the row and its area, '' when none was found. */
  readonly operation: string;
  readonly area: string;
  readonly user: string | undefined;
  /** As it was sent; undefined when it was not, or is none. */
  readonly traceparent: string | undefined;
  readonly status: number;
  readonly milliseconds: number;
};

/** What the active profile says about answers. */
export type HttpSettings = {
  /** Value of Access-Control-Allow-Origin; undefined: not sent. */
  readonly allowOrigin: string | undefined;
  /** Whether a Cache-Control header is sent. */
  readonly cacheControl: boolean;
  /** Name of the cookie that holds the token. */
  readonly cookieName: string;
  /** Milliseconds that an answer may take; 0: as long as it takes. */
  readonly timeout: number;
};

export type AppNeeds = {
  readonly areas: readonly AreaRows[];
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Resolves once reads show all that this node has acknowledged, and the position; undefined: they do already. */
  readonly settled: (minPosition: number) => Promise<void> | undefined;
  readonly limits: { readonly maxBytes: number; readonly maxImportBytes: number };
  readonly settings: () => HttpSettings;
  readonly addressOf: (ctx: Context) => string;
  /** Called once per answered request. */
  readonly observe: (seen: Seen) => void;
  readonly logBug: (error: unknown, requestId: string) => void;
  /** True while the service goes down: new requests are refused. */
  readonly stopping: () => boolean;
  /** Whether this node cannot reach the event log: only open rows are answered, and those of monitoring. */
  readonly cutOff: () => boolean;
  /** Whether an `Authorization` header carries METRICS_TOKEN. */
  readonly mayMeasure: (authorization: string) => boolean;
};

/** What is noted of a request on its way. */
type Noted = {
  operation: string;
  area: string;
  user: string | undefined;
  untimed: boolean;
  readonly traceparent: string | undefined;
};

const nobody: Actor = { id: '', username: '', provenance: '', groups: [], admin: false };
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const json = 'application/json; charset=utf-8';

/**
 * The whole of HTTP: from rows to answers, in the order of checks that docs/status-codes.md gives. `warmUp` compiles
 * the schemas of all rows, one in each turn of the event loop: else the first request of each waits for it, some for
 * 0.2 s.
 */
export const app = (needs: AppNeeds): { readonly listener: RequestListener; readonly warmUp: () => Promise<void> } => {
  const { areas, service, authenticator, settled, settings } = needs;
  const find = rowRouter(areas);
  const readBody = bodyReader(needs.limits);
  const rows = new Map<Row, ReturnType<typeof prepare>>();

  const prepare = ({ row, area }: Pick<Placed, 'row' | 'area'>) => ({
    row,
    area,
    serve: serveRow(row, service),
    query: 'list' in row ? undefined : queryOf(row),
    checkBody: validator(row.body ?? noInput),
  });
  const prepared = (placed: Pick<Placed, 'row' | 'area'>) => {
    const known = rows.get(placed.row) ?? prepare(placed);
    rows.set(placed.row, known);
    return known;
  };

  /**
   * Undefined: whoever calls may. No promise when nothing has to be waited for: most requests come from callers who are
   * known.
   */
  const principalOf = (
    ctx: Context,
    row: Row | undefined,
    address: string,
  ): Principal | undefined | Promise<Principal> => {
    const { authorization = '' } = ctx.headers;
    if (row?.access === 'open' || (row?.byMetricsToken && needs.mayMeasure(authorization))) return undefined;
    const credentials = { authorization, cookie: cookieOf(ctx, settings().cookieName), address };
    const known = row?.monitoring && authenticator.lastKnown(credentials);
    if (known) return known;
    // Nor could it hear of a password that was changed on another node.
    if (needs.cutOff())
      throw new Refusal('unavailable', 'This node cannot reach the event log', { retryAfterSeconds: 1 });
    return authenticator.authenticate(credentials);
  };

  /** Before it waits for anything it notes whether it may take its time. */
  const answer = async (
    ctx: Context,
    path: string,
    seen: Noted,
    requestId: string,
    address: string,
  ): Promise<Outgoing> => {
    const { method } = ctx;
    if (needs.stopping()) throw new Refusal('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });
    const readable = path !== '' && !(path.includes('%') && decoded(path) === undefined);
    if (path === '/' && (method === 'GET' || method === 'HEAD')) return toDocs;
    const match = readable ? find(method, path) : undefined;
    if (method === 'OPTIONS' && match) return preflight(match);
    const asked = match && 'placed' in match ? match.placed.row : undefined;
    seen.untimed = asked?.untimed === true;

    const caller = principalOf(ctx, asked, address);
    const principal = caller instanceof Promise ? await caller : caller;
    seen.user = principal?.actor.username;
    if (!readable)
      throw new Refusal(
        'invalid',
        path === '' ? 'The request target is no URL' : 'The path has a malformed percent-encoding',
        { path: 'path' },
      );
    if (!match) throw new Refusal('not_found', 'No such path');
    if ('allow' in match)
      return refused(new Refusal('method_not_allowed', `This path does not know ${method}`), {
        Allow: match.allow.join(', '),
      });
    const { row, area, serve, query, checkBody } = prepared(match.placed);
    seen.operation = row.name;
    seen.area = area;
    if (principal && !principal.may(area, row))
      throw new Refusal('forbidden', `No role of yours allows ${row.name} of ${area}`);

    const body = changing.has(method) ? await readBody(ctx, row) : undefined;
    checkParams(match.params);
    const { querystring } = ctx;
    const call: Call = {
      method,
      path,
      querystring,
      requestId,
      address,
      traceparent: seen.traceparent,
      params: match.params,
      query: query ? query(querystring).values : {},
      body: body ? body.value : {},
      bodyText: body?.text ?? '',
      abandoned: () => abandonment(ctx.res),
      actor: principal?.actor ?? nobody,
      principal,
      header: (name) => ctx.get(name),
    };
    if (body) checkBody(call.body);
    const exactCall = body && row.exact !== undefined ? { ...call, body: withExact(body, row.exact) } : call;
    const minPosition = row.access === 'open' ? undefined : minPositionOf(ctx.get('x-min-position'));
    const wait = minPosition === undefined || row.monitoring ? undefined : settled(minPosition);
    if (wait) await wait;
    return serve(exactCall);
  };

  /** The work's outcome, or 503 if it takes longer: it goes on all the same, and nobody is told its end. */
  const within = async (ms: number, work: Promise<Outgoing>, requestId: string): Promise<Outgoing> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Outgoing>((resolve) => {
      timer = setTimeout(() => {
        work.catch((error: unknown) => {
          if (!(error instanceof Refusal)) needs.logBug(error, requestId);
        });
        const message = `No answer within ${ms} ms. A change may be carried out all the same: send it again with the same Idempotency-Key to be sure`;
        // What is left of the body is not read.
        resolve(refused(new Refusal('unavailable', message), { Connection: 'close' }));
      }, ms);
    });
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  };

  const koa = new Koa().use(async (ctx) => {
    const start = performance.now();
    const given = ctx.get('x-request-id');
    const requestId = /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
    const address = needs.addressOf(ctx);
    const path = pathOf(ctx);
    const seen: Noted = {
      operation: '',
      area: '',
      user: undefined,
      untimed: false,
      traceparent: traceparentOf(ctx.get('traceparent')),
    };
    const { allowOrigin, cacheControl, timeout } = settings();
    const headers = [
      'X-Request-Id',
      requestId,
      'Vary',
      'Authorization, Cookie, Accept-Encoding',
      'X-Content-Type-Options',
      'nosniff',
    ];
    if (allowOrigin !== undefined)
      headers.push(
        'Access-Control-Allow-Origin',
        allowOrigin,
        'Access-Control-Expose-Headers',
        'ETag, X-Event-Position, X-Request-Id, Idempotency-Replayed, Retry-After',
      );
    let outgoing: Outgoing;
    try {
      const work = answer(ctx, path, seen, requestId, address);
      outgoing = await (timeout > 0 && !seen.untimed ? within(timeout, work, requestId) : work);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'internal') needs.logBug(error, requestId);
      outgoing = refused(error instanceof Refusal ? error : internal(requestId));
    }
    if (cacheControl && outgoing.headers?.['Cache-Control'] === undefined) headers.push('Cache-Control', 'no-cache');
    if (needs.stopping() && outgoing.headers?.Connection === undefined) headers.push('Connection', 'close');
    const sending = send(ctx, outgoing, headers);
    const status = typeof sending === 'number' ? sending : await sending;
    needs.observe({
      requestId,
      address,
      method: ctx.method,
      path,
      area: seen.area,
      operation: seen.operation,
      user: seen.user,
      traceparent: seen.traceparent,
      status,
      milliseconds: performance.now() - start,
    });
  });

  const warmUp = async (): Promise<void> => {
    for (const area of areas) {
      for (const row of area.rows) {
        prepared({ row, area: area.area });
        await nextTurn();
      }
    }
  };
  return { listener: koa.callback(), warmUp };
};

// For whoever opens the address in a browser. It is no operation of the API. Relative, so that it holds behind a proxy
// that serves this API below a path.
const toDocs: Outgoing = { status: 302, body: undefined, headers: { Location: 'docs' } };

const preflight = (match: NonNullable<ReturnType<ReturnType<typeof rowRouter>>>): Outgoing => {
  const allow = 'allow' in match ? match.allow.join(', ') : 'OPTIONS';
  return {
    status: 204,
    body: undefined,
    headers: {
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Min-Position, X-Request-Id, traceparent',
      'Access-Control-Max-Age': '600',
    },
  };
};

const refused = (refusal: Refusal, more: Readonly<Record<string, string>> = {}): Outgoing => {
  const retryAfter = refusal.retryAfterSeconds ?? (refusal.code === 'unavailable' ? 1 : undefined);
  return {
    status: statusOf[refusal.code],
    body: failureBody(refusal),
    headers: {
      ...more,
      ...(refusal.code === 'unauthenticated' && {
        'WWW-Authenticate': 'Basic realm="automation-platform", charset="UTF-8"',
      }),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  };
};

/**
 * Writes status, headers and body to Node at once, past Koa's response: its setters look twice at each. The status that
 * was sent.
 */
const send = (ctx: Context, outgoing: Outgoing, headers: string[]): number | Promise<number> => {
  const { res, method } = ctx;
  const { status = 200, body, type, etag, headers: own, position, replayed } = outgoing;
  ctx.respond = false;
  // The caller has gone.
  if (res.headersSent || res.destroyed) return status;
  const encoding = encodingFor(outgoing, ctx.headers['accept-encoding']);
  if (etag !== undefined) {
    headers.push('ETag', encoding ? encodedTag(etag, encoding) : etag);
    if ((method === 'GET' || method === 'HEAD') && unchanged(ctx.get('if-none-match'), etag)) {
      res.writeHead(304, headers).end();
      return 304;
    }
  }
  if (position) headers.push('X-Event-Position', String(position));
  if (replayed) headers.push('Idempotency-Replayed', 'true');
  for (const name in own) headers.push(name, own[name]!);
  if (status === 204) {
    res.writeHead(status, headers).end();
    return status;
  }
  headers.push('Content-Type', type ?? json);
  if (encoding === undefined || body === undefined) return finish(res, status, body, headers);
  headers.push('Content-Encoding', encoding);
  return compressed(body, encoding).then((bytes) => finish(res, status, bytes, headers));
};

const finish = (res: ServerResponse, status: number, body: string | Buffer | undefined, headers: string[]): number => {
  headers.push('Content-Length', String(body === undefined ? 0 : Buffer.byteLength(body)));
  if (!res.destroyed) res.writeHead(status, headers).end(body);
  return status;
};

/** Aborted when the answer has been sent, or its connection has gone. */
const abandonment = (res: ServerResponse): AbortSignal => {
  const aborting = new AbortController();
  const abort = (): void => aborting.abort(new Refusal('unavailable', 'Nobody waits for the answer any more'));
  if (res.destroyed) abort();
  else res.once('close', abort);
  return aborting.signal;
};

const cookieOf = (ctx: Context, name: string): string | undefined =>
  ctx.headers.cookie === undefined ? undefined : ctx.cookies.get(name);

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
