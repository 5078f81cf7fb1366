import { decoded } from '@automation-platform/json';
import { noInput } from '../../commands/engine/define.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { AppNeeds } from './appNeeds.ts';
import { momentIn, splitAsOf, takesAsOf, withPosition } from './asOf.ts';
import { type Body, bodyReader, withExact } from './body.ts';
import { callerOf } from './caller.ts';
import { minPositionOf } from './conditions.ts';
import { preflight, refused, toDocs } from './fixedAnswers.ts';
import { abandonment, headerIn, type Incoming } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import type { Call, Params, Route } from './route.ts';
import { queryOf } from './routeQuery.ts';
import { checkParams, type Match, type Placed, routeFinder } from './router.ts';
import { serveRoute } from './serve.ts';
import type { Service } from './service.ts';
import { validator } from './validate.ts';

type Needs = Pick<
  AppNeeds,
  | 'areas'
  | 'service'
  | 'settled'
  | 'past'
  | 'limits'
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
export const answering = (needs: Needs) => {
  const { areas, settled, stopping } = needs;
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
    if (path === '/' && (method === 'GET' || method === 'HEAD')) return toDocs;
    const found = isReadable(path) ? find(method, path) : undefined;
    const match = path === '/' ? root : found;
    if (method === 'OPTIONS' && match) return preflight(match);
    const asked = match && 'placed' in match ? match.placed.route : undefined;
    incoming.asked = asked?.name;
    incoming.untimed = asked?.untimed === true;

    // The query of a target that is no path cannot be read.
    const querystring = asked ? ctx.querystring : '';
    const asOf = asked && takesAsOf(asked) ? splitAsOf(querystring) : asOfNow(querystring);
    const known = caller(incoming, asked, asOf.texts.length > 0);
    incoming.principal = known instanceof Promise ? await known : known;
    if (!match) throw noRoute(path);
    if ('allow' in match) return wrongMethod(method, match.allow);
    const { route, area, serve, query, checkBody } = prepared(match.placed);
    incoming.operation = route.name;
    incoming.area = area;
    if (incoming.principal && !incoming.principal.may(area, route))
      throw new RequestError('forbidden', `No role of yours allows ${route.name} of ${area}`);

    const reading = changing.has(method) ? readBody(ctx, route) : undefined;
    const body = reading instanceof Promise ? await reading : reading;
    checkParams(match.params);
    const moment = momentIn(asOf.texts);
    const call = callOf(incoming, { params: match.params, querystring: asOf.rest, query, body });
    if (body) checkBody(call.body);
    const exactCall = body && route.exact !== undefined ? { ...call, body: withExact(body, route.exact) } : call;
    const minPosition = route.access === 'open' ? undefined : minPositionOf(headerIn(ctx, 'x-min-position'));
    const wait = minPosition === undefined || route.monitoring ? undefined : settled(minPosition);
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
  query: 'list' in route ? undefined : queryOf(route),
  checkBody: validator(route.body ?? noInput),
});

const preparedRoutes = (service: Service) => {
  const routes = new Map<Route, ReturnType<typeof prepare>>();
  return (placed: Pick<Placed, 'route' | 'area'>): ReturnType<typeof prepare> => {
    const known = routes.get(placed.route);
    if (known) return known;
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
  refused(new RequestError('method_not_allowed', `This path does not know ${method}`), { Allow: allow.join(', ') });

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
