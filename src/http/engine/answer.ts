import { setImmediate as nextTurn } from 'node:timers/promises';
import { noInput } from '../../commands/engine/define.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { decoded } from '../../domain/engine/percentEncoding.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import type { AppNeeds } from './appNeeds.ts';
import { type Body, bodyReader, withExact } from './body.ts';
import { callerOf } from './caller.ts';
import { minPositionOf } from './conditions.ts';
import { preflight, refused, toDocs } from './fixedAnswers.ts';
import { abandonment, type Incoming } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import type { Call, Params, Row } from './route.ts';
import { checkParams, type Placed, rowRouter } from './router.ts';
import { queryOf } from './rowQuery.ts';
import { serveRow } from './serve.ts';
import type { Service } from './service.ts';
import { validator } from './validate.ts';

type Needs = Pick<
  AppNeeds,
  'areas' | 'service' | 'settled' | 'limits' | 'stopping' | 'authenticator' | 'settings' | 'cutOff' | 'mayMeasure'
>;

const nobody: Actor = { id: '', username: '', provenance: '', groups: [], admin: false };
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * From a request to its answer, in the order of checks that docs/status-codes.md gives. `warmUp` compiles the schemas
 * of all rows, one in each turn of the event loop: else the first request of each waits for it, some for 0.2 s.
 */
export const answering = (needs: Needs) => {
  const { areas, settled, stopping } = needs;
  const find = rowRouter(areas);
  const readBody = bodyReader(needs.limits);
  const prepared = preparedRows(needs.service);
  const caller = callerOf(needs);

  /** Before it waits for anything it notes whether it may take its time. */
  const answer = async (incoming: Incoming): Promise<Outgoing> => {
    const { ctx, path } = incoming;
    const { method } = ctx;
    if (stopping()) throw new Refusal('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });
    if (path === '/' && (method === 'GET' || method === 'HEAD')) return toDocs;
    const match = isReadable(path) ? find(method, path) : undefined;
    if (method === 'OPTIONS' && match) return preflight(match);
    const asked = match && 'placed' in match ? match.placed.row : undefined;
    incoming.untimed = asked?.untimed === true;

    const known = caller(incoming, asked);
    incoming.principal = known instanceof Promise ? await known : known;
    if (!match) throw noRow(path);
    if ('allow' in match) return wrongMethod(method, match.allow);
    const { row, area, serve, query, checkBody } = prepared(match.placed);
    incoming.operation = row.name;
    incoming.area = area;
    if (incoming.principal && !incoming.principal.may(area, row))
      throw new Refusal('forbidden', `No role of yours allows ${row.name} of ${area}`);

    const body = changing.has(method) ? await readBody(ctx, row) : undefined;
    checkParams(match.params);
    const call = callOf(incoming, match.params, query, body);
    if (body) checkBody(call.body);
    const exactCall = body && row.exact !== undefined ? { ...call, body: withExact(body, row.exact) } : call;
    const minPosition = row.access === 'open' ? undefined : minPositionOf(ctx.get('x-min-position'));
    const wait = minPosition === undefined || row.monitoring ? undefined : settled(minPosition);
    if (wait) await wait;
    return serve(exactCall);
  };

  const warmUp = async (): Promise<void> => {
    for (const { area, rows } of areas) {
      for (const row of rows) {
        prepared({ row, area });
        await nextTurn();
      }
    }
  };
  return { answer, warmUp };
};

/** What is made of a row once, when it is first asked for. */
const prepare = ({ row, area }: Pick<Placed, 'row' | 'area'>, service: Service) => ({
  row,
  area,
  serve: serveRow(row, service),
  query: 'list' in row ? undefined : queryOf(row),
  checkBody: validator(row.body ?? noInput),
});

const preparedRows = (service: Service) => {
  const rows = new Map<Row, ReturnType<typeof prepare>>();
  return (placed: Pick<Placed, 'row' | 'area'>): ReturnType<typeof prepare> => {
    const known = rows.get(placed.row);
    if (known) return known;
    const made = prepare(placed, service);
    rows.set(placed.row, made);
    return made;
  };
};

const isReadable = (path: string): boolean => path !== '' && !(path.includes('%') && decoded(path) === undefined);

/** Why no row was found. */
const noRow = (path: string): Refusal => {
  if (isReadable(path)) return new Refusal('not_found', 'No such path');
  const message = path === '' ? 'The request target is no URL' : 'The path has a malformed percent-encoding';
  return new Refusal('invalid', message, { path: 'path' });
};

const wrongMethod = (method: string, allow: readonly string[]): Outgoing =>
  refused(new Refusal('method_not_allowed', `This path does not know ${method}`), { Allow: allow.join(', ') });

/** The request as its row sees it; `query` is undefined where the row reads the query string by itself. */
const callOf = (
  { ctx, path, requestId, address, traceparent, principal }: Incoming,
  params: Params,
  query: ReturnType<typeof queryOf> | undefined,
  body: Body | undefined,
): Call => {
  const { method, querystring } = ctx;
  return {
    method,
    path,
    querystring,
    requestId,
    address,
    traceparent,
    params,
    query: query ? query(querystring).values : {},
    body: body ? body.value : {},
    bodyText: body?.text ?? '',
    abandoned: () => abandonment(ctx.res),
    actor: principal?.actor ?? nobody,
    principal,
    header: (name) => ctx.get(name),
  };
};
