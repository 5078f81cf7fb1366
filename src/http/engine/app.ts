import type { RequestListener } from 'node:http';
import { decoded } from '@automation-platform/json';
import Koa from 'koa';
import { noInput } from '../../commands/engine/define.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { type Code, RequestError } from '../../domain/engine/requestError.ts';
import { BrowserLoginRefused } from '../authentication/openIdLogins.ts';
import { type Principal, refusalOf } from '../authentication/principal.ts';
import { LoginRefused } from '../authentication/refusals.ts';
import type { AppNeeds } from './appNeeds.ts';
import { momentIn, splitAsOf, takesAsOf, withPosition } from './asOf.ts';
import { type Body, bodyReader, validator, withExact } from './body.ts';
import { minPositionOf } from './conditions.ts';
import { failureBody, internal, statusOf } from './errors.ts';
import { abandonment, callerOf, headerIn, type Incoming, incomingOf } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import { queryOf } from './query.ts';
import type { Call, Params, Route } from './route.ts';
import { checkParams, type Match, type Placed, routeFinder } from './router.ts';
import { corsHeaders, send } from './send.ts';
import { serveRoute } from './serve.ts';
import type { Service } from './service.ts';

/** Makes the HTTP listener from the routes. */
export const app = (needs: AppNeeds): RequestListener => {
  const { settings, addressOf, isSecret, stopping, logBug, observe, recorder } = needs;
  const answer = answering(needs);
  const within = deadline(logBug);

  const koa = new WithoutRespond().use(async (ctx) => {
    const start = performance.now();
    const address = addressOf(ctx);
    const incoming = incomingOf(ctx, address, () => isSecret(ctx));
    const { requestId } = incoming;
    const { cors, cacheControl, timeout } = settings();
    const headers = headersOf(requestId, corsHeaders(cors, ctx.req.headers.origin));
    let outgoing: Outgoing;
    try {
      const work = answer(incoming);
      outgoing = await (timeout > 0 && !incoming.untimed ? within(timeout, work, requestId) : work);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code === 'internal') logBug(error, requestId);
      const failure = error instanceof RequestError ? error : internal(requestId);
      if (denials.has(failure.code)) recorder.denied(denialOf(incoming, failure));
      outgoing = refused(failure, isFromScript(ctx));
    }
    if (cacheControl && outgoing.headers?.['Cache-Control'] === undefined) headers.push('Cache-Control', 'no-cache');
    if (stopping() && outgoing.headers?.Connection === undefined) headers.push('Connection', 'close');
    const sending = send(ctx, outgoing, headers);
    const status = typeof sending === 'number' ? sending : await sending;
    const { exported, inClear = [] } = outgoing;
    if (exported && status === 200) recorder.exported({ ...whoOf(incoming), resource: exported });
    for (const resource of inClear) recorder.secretsHandedOut({ ...whoOf(incoming), resource });
    observe({
      requestId,
      address: incoming.address,
      method: ctx.req.method ?? '',
      path: incoming.path,
      area: incoming.area,
      operation: incoming.operation,
      user: incoming.principal?.actor.username,
      traceparent: incoming.traceparent,
      status,
      milliseconds: performance.now() - start,
    });
  });
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // Readers of streams break connections off. That is no fault of anybody.
    if (error.syscall === undefined) logBug(error, '');
  });
  return koa.callback();
};

/** Koa that only calls the one middleware, which answers by itself. Koa's own end of a request costs time. */
class WithoutRespond extends Koa {
  handleRequest(ctx: Koa.Context, fn: (ctx: Koa.Context) => Promise<void>): Promise<void> {
    return fn(ctx).catch(ctx.onerror);
  }
}

const mayCall = ({ may }: Principal, area: string, route: Route): boolean =>
  may(area, route) || (route.alternative !== undefined && may(area, route.alternative));

/** The codes that audits record. */
const denials: ReadonlySet<Code> = new Set<Code>(['unauthenticated', 'forbidden', 'limited']);

const whoOf = ({ principal, address, operation }: Incoming) => ({
  account: principal?.actor.id ?? null,
  address,
  operation,
});

const denialOf = (incoming: Incoming, error: RequestError) => {
  const { account, address } = whoOf(incoming);
  const meant = error instanceof LoginRefused ? error.account : undefined;
  return { account: account ?? meant ?? null, address, operation: incoming.asked ?? null, code: error.code };
};

/** The headers of every answer in Node's flat form: name, value, name, value. */
const headersOf = (requestId: string, cors: readonly string[]): string[] => [
  'X-Request-Id',
  requestId,
  ...cors,
  'X-Content-Type-Options',
  'nosniff',
];

type Needs = Pick<
  AppNeeds,
  | 'areas'
  | 'service'
  | 'caughtUp'
  | 'past'
  | 'limits'
  | 'missingAt'
  | 'stopping'
  | 'authenticator'
  | 'settings'
  | 'cutOff'
  | 'mayMeasure'
>;

const nobody: Actor = { id: '', username: '', provenance: '', groups: [], admin: false };
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Answers requests, with the checks in the order of docs/status-codes.md. The first request of a route compiles its
 * schemas: 2 ms, some 0.2 s. A start that compiled all of them would take a second more of processor time.
 */
const answering = (needs: Needs) => {
  const { areas, caughtUp, missingAt, stopping } = needs;
  const find = routeFinder(areas);
  const readBody = bodyReader(needs.limits);
  const prepared = preparedRoutes(needs.service);
  const caller = callerOf(needs);

  /**
   * Sets `incoming.untimed` before the first await, because the caller reads `untimed` as soon as it has the promise.
   */
  return async (incoming: Incoming): Promise<Outgoing> => {
    const { ctx, path } = incoming;
    const { method } = ctx;
    if (stopping()) throw new RequestError('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });
    const page = method === 'GET' || method === 'HEAD' ? pages.get(path) : undefined;
    if (page) return page;
    const found = isReadable(path) ? find(method, path) : undefined;
    const match = path === '/' ? root : found;
    if (method === 'OPTIONS' && match) return preflight(match);
    const matchedRoute = match && 'placed' in match ? match.placed.route : undefined;
    incoming.asked = matchedRoute?.name;
    incoming.untimed = matchedRoute?.untimed === true;

    // The query of a target that is no path cannot be read.
    const querystring = matchedRoute ? ctx.querystring : '';
    const asOf = matchedRoute && takesAsOf(matchedRoute) ? splitAsOf(querystring) : asOfNow(querystring);
    const principal = caller(incoming, matchedRoute, asOf.texts.length > 0);
    incoming.principal = principal instanceof Promise ? await principal : principal;
    if (!match || 'allow' in match) {
      const missing = missingAt(method, path);
      if (missing !== undefined) throw new RequestError('not_built', missing, { path: 'path' });
      if (!match) throw noRoute(path);
      return wrongMethod(method, match.allow);
    }
    const { route, area, serve, query, checkBody } = prepared(match.placed);
    incoming.operation = route.name;
    incoming.area = area;
    if (incoming.principal && !mayCall(incoming.principal, area, route))
      throw new RequestError('forbidden', refusalOf(incoming.principal.actor, `${route.name} of ${area}`));

    const reading = changing.has(method) || route.bodyInQuery ? readBody(ctx, route) : undefined;
    const body = reading instanceof Promise ? await reading : reading;
    checkParams(match.params);
    const moment = momentIn(asOf.texts);
    const plainCall = callOf(incoming, { params: match.params, querystring: asOf.rest, query, body });
    const call = route.bodyInQuery ? bodyFromQuery(plainCall) : plainCall;
    if (body) checkBody(call.body);
    const exactCall = body && route.exact !== undefined ? { ...call, body: withExact(body, route.exact) } : call;
    const minPosition = route.access === 'open' ? undefined : minPositionOf(headerIn(ctx, 'x-min-position'));
    const wait = minPosition === undefined || route.monitoring ? undefined : caughtUp(minPosition);
    if (wait) await wait;
    if (!moment) return notEarlier(await serve(exactCall, needs.service), needs.service);
    const { position, service } = await needs.past(moment, call.actor);
    return withPosition(await serve(exactCall, service), position);
  };
};

/**
 * An answer that is given once more names the end of the log. The first answer may have named a later event than its
 * request has stored: one that followed from it.
 */
const notEarlier = async (outgoing: Outgoing, { events }: Service): Promise<Outgoing> =>
  outgoing.replayed ? { ...outgoing, position: await events.head() } : outgoing;

/** Prepares a route, once, when it is first needed. */
const prepare = ({ route, area }: Pick<Placed, 'route' | 'area'>, service: Service) => ({
  route,
  area,
  serve: serveRoute(route, service),
  query: 'list' in route || route.foreignQuery ? undefined : queryOf(route),
  checkBody: validator(route.body ?? noInput),
});

const preparedRoutes = (service: Service) => {
  const routes = new Map<Route, ReturnType<typeof prepare>>();
  return (placed: Pick<Placed, 'route' | 'area'>): ReturnType<typeof prepare> => {
    const preparedRoute = routes.get(placed.route);
    if (preparedRoute) return preparedRoute;
    const made = prepare(placed, service);
    routes.set(placed.route, made);
    return made;
  };
};

/** The methods of the root address, which is no operation. */
const root: Match = { allow: ['HEAD', 'GET', 'OPTIONS'] };

const isReadable = (path: string): boolean => path !== '' && !(path.includes('%') && decoded(path) === undefined);

/** The error for a path without route. */
const noRoute = (path: string): RequestError => {
  if (isReadable(path)) return new RequestError('not_found', 'No such path');
  const message = path === '' ? 'The request target is no URL' : 'The path has a malformed percent-encoding';
  return new RequestError('invalid', message, { path: 'path' });
};

const wrongMethod = (method: string, allow: readonly string[]): Outgoing =>
  refused(new RequestError('method_not_allowed', `This path does not know ${method}`), true, {
    Allow: allow.join(', '),
  });

/** A query string of a route that knows no `asOf`: its parser refuses it. */
const asOfNow = (querystring: string): ReturnType<typeof splitAsOf> => ({ texts: [], rest: querystring });

type Asked = {
  readonly params: Params;
  readonly querystring: string;
  /** Undefined if the route parses the query string itself. */
  readonly query: ReturnType<typeof queryOf> | undefined;
  readonly body: Body | undefined;
};

/** The request as its route sees it. */
const callOf = (
  { ctx, path, requestId, address, isSecret, traceparent, principal }: Incoming,
  { params, querystring, query, body }: Asked,
): Call => {
  const { method } = ctx;
  return {
    method,
    path,
    querystring,
    requestId,
    address,
    isSecret,
    traceparent,
    params,
    query: query ? query(querystring).values : {},
    body: body ? body.value : {},
    bodyText: body?.text ?? '',
    abandoned: () => abandonment(ctx.res),
    actor: principal?.actor ?? nobody,
    principal,
    header: (name) => headerIn(ctx, name),
  };
};

/** The call with the members of its query as its body. Throws `invalid` for one that has both. */
const bodyFromQuery = (call: Call): Call => {
  const [member] = Object.keys(call.query);
  if (member === undefined) return call;
  if (call.bodyText !== '')
    throw new RequestError('invalid', `${member} is either in the query or in the body`, { path: member });
  return { ...call, body: call.query };
};

const late = (ms: number): Outgoing => {
  const message =
    `No answer within ${ms} ms. A change may be carried out all the same: ` +
    'send it again with the same Idempotency-Key to be sure';
  // The rest of the body is not read, so the connection must close.
  return refused(new RequestError('unavailable', message), true, { Connection: 'close' });
};

/**
 * Returns the work's answer, or 503 if the work takes longer than `ms`. The work goes on then; of its later errors only
 * bugs are logged.
 */
const deadline =
  (logBug: AppNeeds['logBug']) =>
  async (ms: number, work: Promise<Outgoing>, requestId: string): Promise<Outgoing> => {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<Outgoing>((resolve) => {
      timer = setTimeout(() => {
        work.catch((error: unknown) => {
          if (!(error instanceof RequestError)) logBug(error, requestId);
        });
        resolve(late(ms));
      }, ms);
    });
    return Promise.race([work, over]).finally(() => clearTimeout(timer));
  };

const leadTo = (location: string): Outgoing => ({ status: 302, body: undefined, headers: { Location: location } });

/**
 * Answers that lead a browser to a page: from the root to the documentation, and from a page's path with a slash behind
 * it to the page. They are no operations of the API. The locations are relative, so they also hold behind a proxy that
 * serves this API below a path.
 */
const pages: ReadonlyMap<string, Outgoing> = new Map([
  ['/', leadTo('docs')],
  ['/docs/', leadTo('../docs')],
  ['/console/', leadTo('../console')],
]);

/** The answer to OPTIONS for a path that exists. */
const preflight = (match: NonNullable<Match>): Outgoing => {
  const allow = 'allow' in match ? match.allow.join(', ') : 'OPTIONS';
  return {
    status: 204,
    body: undefined,
    headers: {
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Claim, X-Min-Position, ' +
        'X-Request-Id, X-Requested-With, traceparent',
      'Access-Control-Max-Age': '600',
    },
  };
};

/** True if a script of a page sends the request: a browser must not ask for a name and a password of its own. */
const isFromScript = ({ req }: Pick<Koa.Context, 'req'>): boolean => req.headers['x-requested-with'] !== undefined;

/** The answer for an error. `more` are additional headers. */
const refused = (error: RequestError, isQuiet: boolean, more: Readonly<Record<string, string>> = {}): Outgoing => {
  const { code, retryAfterSeconds = code === 'unavailable' ? 1 : undefined } = error;
  const headers: Record<string, string> = { ...more };
  // A browser would ask for a name and a password, which help nobody here.
  const asks = code === 'unauthenticated' && !isQuiet && !(error instanceof BrowserLoginRefused);
  if (asks) headers['WWW-Authenticate'] = 'Basic realm="automation-platform", charset="UTF-8"';
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return { status: statusOf[code], body: failureBody(error), headers };
};
