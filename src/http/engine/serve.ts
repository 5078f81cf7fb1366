import { hash as digest, randomUUID } from 'node:crypto';
import { oneByOne } from '@automation-platform/concurrency';
import { exactText } from '@automation-platform/json';
import { LRUCache } from 'lru-cache';
import { missing } from '../../commands/engine/decide.ts';
import { perRevision } from '../../commands/engine/perRevision.ts';
import { randomId } from '../../commands/engine/randomIds.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { type Aggregate, seesAll } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { Entry, Query, ReadModel, Where } from '../../projections/engine/port.ts';
import { derivedId, derivedUuid } from '../../store/derivedIds.ts';
import { idempotencyOf, ifRevisionOf } from './conditions.ts';
import { bareList } from './envelopes.ts';
import type { Outgoing } from './outgoing.ts';
import { listQueryOf } from './query.ts';
import type { ActionRoute, AnyJoin, Call, CommandRoute, GetRoute, ListRoute, Page, Params, Route } from './route.ts';
import type { Service } from './service.ts';

/** Answers a call. The service is the one of this call: it may show an earlier time. */
type Serve = (call: Call, service: Service) => Promise<Outgoing> | Outgoing;

/** The function that answers requests of a route. */
export const serveRoute = (route: Route, live: Service): Serve => {
  if ('run' in route) return serveAction(route);
  if ('command' in route) return serveCommand(route, live);
  if ('get' in route) return serveGet(route);
  return serveList(route, live);
};

const tagged = (text: string | Buffer): string => digest('sha256', text, 'base64url').slice(0, 22);

// Files and the API document are the same buffer each time, so their tags are computed once.
const tags = new WeakMap<Buffer, string>();
const taggedOnce = (answer: string | Buffer): string => {
  if (typeof answer === 'string') return tagged(answer);
  const tag = tags.get(answer) ?? tagged(answer);
  tags.set(answer, tag);
  return tag;
};

/**
 * `"<revision>"` if the body comes from one stream alone, else `"<revision>-<first 8 hex digits of the body's hash>"`.
 */
export const etagOf = (revision: number, joined: string | undefined): string =>
  joined === undefined ? `"${revision}"` : `"${revision}-${digest('sha256', joined, 'hex').slice(0, 8)}"`;

const joining = async (join: AnyJoin, doc: unknown, service: Service, call: Call): Promise<string> =>
  exactText(await join(doc, service, call));

const serveCommand = (route: CommandRoute, service: Service): Serve => {
  const { command, refuse, key, input, join, envelope } = route;
  const { aggregate } = command;
  const collection = service.collectionOf(aggregate);

  /** The id of the request's resource, and the path parameters with ids in the place of names. */
  const target = async (
    call: Call,
    idempotencyKey: string | undefined,
  ): Promise<{ id: string; params: Params; fresh?: boolean }> => {
    const again = idempotencyKey === undefined ? undefined : await answeredBefore(route, call, idempotencyKey, service);
    if (again !== undefined) return { id: again, params: call.params };
    const params = route.parent
      ? await resolved(route, call, service, command.on === 'new' ? undefined : collection)
      : call.params;
    const given = key?.(params, call.body, call.actor);
    if (given !== undefined) return { params, id: given };
    if (command.on === 'new')
      return { params, id: newId(idempotencyKey, aggregate.ids), fresh: idempotencyKey === undefined };
    const called = calledOf(route, { ...call, params });
    const id = collection && (await service.tools.find(collection, called));
    if (id === undefined) {
      await service.tampered.refuseLost(aggregate, called);
      throw missing(aggregate.category);
    }
    return { params, id };
  };

  return async (call) => {
    const { body } = call;
    refuse?.(call);
    const { operation, actor, requestId, traceparent, ifRevision, idempotency } = requestOf(route.name, call, service);
    const { id, params, fresh } = await target(call, idempotency?.key);
    const name = key || command.on === 'new' ? id : calledOf(route, call);
    const calledBy = name === id ? undefined : nameIn(name, route.parent && params[route.parent.param]);
    const commandInput = input ? input(params, body) : body;
    // Member by member: V8 is slow at spreads.
    const result = await service.handle(command, {
      id,
      fresh,
      input: commandInput,
      calledBy,
      operation,
      actor,
      requestId,
      traceparent,
      ifRevision,
      idempotency,
    });
    const doc = result.doc ?? result.before ?? null;
    const text = join ? await joining(join, doc, service, call) : JSON.stringify(doc);
    return {
      body: envelope(text, result),
      etag: etagOf(result.revision, join && text),
      position: result.position,
      replayed: result.replayed,
    };
  };
};

/** The id or name by which a request calls its resource. */
const calledOf = ({ named = 'id' }: CommandRoute, { params, body }: Call): string =>
  typeof named === 'string' ? (params[named] ?? '') : named(params, body);

const nameIn = (name: string, parent: string | undefined): Request['calledBy'] =>
  parent === undefined ? { name } : { name, parent };

/**
 * The id of the resource that has carried out the same request before. Undefined if the request is new, or if the usual
 * way finds the same id again.
 */
const answeredBefore = async (
  route: CommandRoute,
  call: Call,
  key: string,
  service: Service,
): Promise<string | undefined> => {
  const {
    command: { aggregate, on },
    parent,
  } = route;
  const { retries, model } = service;
  if (route.key) return undefined;
  if (on === 'new') {
    const id = newId(key, aggregate.ids);
    return parent && (await retries.answered(aggregate, id, key)) ? id : undefined;
  }
  const idOrName = calledOf(route, call);
  if (parent)
    return retries.find(
      { aggregate, idOrName, within: { aggregate: parent.of.of, idOrName: call.params[parent.param] ?? '' } },
      key,
    );
  const collection = service.collectionOf(aggregate);
  const isThere = collection !== undefined && (await model.get(collection.collection, idOrName)) !== undefined;
  return isThere ? undefined : retries.find({ aggregate, idOrName }, key);
};

/** The path parameters. If the route has a parent, names of parent and resource are replaced by ids. */
const resolved = async (
  route: Route,
  { params, actor }: Call,
  service: Service,
  collection: Collection | undefined,
): Promise<Params> => {
  if (!route.parent) return params;
  const { param, field, of } = route.parent;
  const named = 'named' in route && typeof route.named === 'string' ? route.named : 'id';
  const own = params[named];
  const { id: above } = await service.entry(of, params[param] ?? '', actor);
  if (field === undefined || collection === undefined || own === undefined) return { ...params, [param]: above };
  const [id] = await service.tools.findWithin(collection, field, above, [own]);
  const aggregate = aggregateOf(route);
  if (id === undefined && aggregate) await service.tampered.refuseLost(aggregate, own, above);
  if (id === undefined) throw new RequestError('not_found', nothingHere(collection, own), { path: named });
  return { ...params, [param]: above, [named]: id };
};

const nothingHere = ({ collection }: Collection, idOrName: string): string =>
  `Nothing in ${collection} here has the id or name ${JSON.stringify(idOrName)}`;

const aggregateOf = (route: Route): Aggregate | undefined => {
  if ('command' in route) return route.command.aggregate;
  return 'get' in route ? route.get.of : undefined;
};

/** The part of a command's request that comes from the call: operation, actor, conditions. */
export const requestOf = (operation: string, call: Call, service: Service): Omit<Request, 'id' | 'input'> => ({
  operation,
  actor: call.actor,
  requestId: call.requestId,
  traceparent: call.traceparent,
  ifRevision: ifRevisionOf(call),
  idempotency: idempotencyOf(call, service),
});

/**
 * A new id: 24 hex digits, or a UUID. With an Idempotency-Key the id is derived from the key, so that a retry finds the
 * same stream.
 */
export const newId = (key: string | undefined, ids?: 'uuid'): string => {
  if (ids) return key === undefined ? randomUUID() : derivedUuid(key);
  return key === undefined ? randomId() : derivedId(key);
};

/** True if the document exists. Throws if the document is parked or its stream was tampered with. */
const isThere = async (
  { model, tampered: touched }: Service,
  { collection, of }: Projection,
  id: string,
): Promise<boolean> => {
  if (await model.get(collection, id)) return true;
  await refuseParked(model, collection, id);
  await touched.refuseLost(of, id);
  return false;
};

const serveGet = (route: GetRoute): Serve => {
  const { get, key, named = 'id', otherwise, join, envelope } = route;
  const preset = otherwise === undefined ? undefined : JSON.stringify(otherwise);
  return async (call, service) => {
    const params = route.parent ? await resolved(route, call, service, get) : call.params;
    if (preset !== undefined && !(await isThere(service, get, key?.(params) ?? '')))
      return { body: envelope(preset), etag: `"${tagged(preset)}"` };
    const { id, revision, text } =
      key || route.parent
        ? await service.entryById(get, key ? key(params) : (params[named] ?? ''), call.actor)
        : await service.entry(get, params[named] ?? '', call.actor);
    const whole = join ? await joining(join, JSON.parse(text), service, call) : text;
    const answer = { body: envelope(whole), etag: etagOf(revision, join && whole) };
    return route.exports ? { ...answer, exported: { kind: get.of.category, id } } : answer;
  };
};

const modelNumbers = new WeakMap<ReadModel, number>();
let models = 0;

/** A number that no other read model has. */
const numberOf = (model: ReadModel): number => {
  const modelNumber = modelNumbers.get(model);
  if (modelNumber !== undefined) return modelNumber;
  modelNumbers.set(model, ++models);
  return models;
};

/** The guards of the documents of a list, at a version of the collection. */
type GuardsAt = { readonly version: number; readonly all: readonly string[] };

/** Judges guards, and notes the verdicts. */
const withNotes = (may: (guard: string) => boolean) => {
  const verdicts = new Map<string, boolean>();
  return {
    verdicts,
    may: (guard: string): boolean => {
      const verdict = may(guard);
      verdicts.set(guard, verdict);
      return verdict;
    },
  };
};

const keyOfAccess = (refused: readonly string[]): string =>
  refused.length === 0 ? '' : digest('sha256', refused.join('\n'), 'hex');

/**
 * Answers a list. Answers are kept, for each read model, until something in their collection changes: one for all callers
 * from whom the same documents are hidden. Each request judges the guards anew, since other collections decide about them.
 */
const serveList = (route: ListRoute, live: Service): Serve => {
  const { list, parent, join, joinOn, bare, outline } = route;
  const parse = listQueryOf(route);
  const plans = new LRUCache<string, ReturnType<typeof planOf>>({ max: 1000 });
  const answers = new LRUCache<string, { version: number | undefined; body: Buffer; etag: string }>({
    maxSize: 32 * 1024 * 1024,
    sizeCalculation: ({ body }) => body.length + 200,
  });

  const outlines =
    outline &&
    perRevision({
      make: (text: string) => outline(JSON.parse(text)),
      sizeOf: (part) => JSON.stringify(part).length + 200,
      most: 16 * 1024 * 1024,
    });
  const toJoin = (entry: Pick<Entry, 'id' | 'revision' | 'text'>, joined: AnyJoin): unknown =>
    outlines && joined === join ? outlines.of(entry, () => entry.text) : JSON.parse(entry.text);

  /** Parses a query string. `joined` is the join to apply, if the query asks for it. */
  const planOf = (querystring: string) => {
    const { page: asked, values } = parse(querystring);
    if (bare && querystring === '')
      return { page: { ...asked, limit: mostInBareList }, values, joined: bare, envelope: bareList };
    const page = route.page?.(asked, values) ?? asked;
    const joined = joinOn === undefined || values[joinOn] !== undefined ? join : undefined;
    return { page, values, joined, envelope: route.envelope };
  };
  const planned = (querystring: string): ReturnType<typeof planOf> => {
    const cachedPlan = plans.get(querystring);
    if (cachedPlan) return cachedPlan;
    const plan = planOf(querystring);
    plans.set(querystring, plan);
    return plan;
  };

  /** The guards of each read model. */
  const guards = new WeakMap<ReadModel, GuardsAt>();

  /** Judges the guards for a caller; undefined: the caller may read all. */
  const judgeFor = ({ actor }: Call, model: ReadModel): ((guard: string) => boolean) | undefined =>
    list.guard === undefined || seesAll(actor) ? undefined : mayReadGuard(actor, model);

  const queryFor = (params: Params, page: Page, may: Query['may']): Query => {
    const query: { -readonly [K in keyof Query]: Query[K] } = { ...page };
    const above = params[parent?.param ?? ''] ?? '';
    if (parent?.field !== undefined)
      query.where = both({ field: parent.field, op: 'equals', value: above }, page.where);
    else if (parent) query.part = above;
    if (may) query.may = may;
    return query;
  };

  /** `tagging`: the answer may be kept, if the collection stays at this version meanwhile. */
  const answer = async (
    call: Call,
    service: Service,
    { page, values, joined, envelope }: ReturnType<typeof planOf>,
    tagging: { readonly keyFor: (refused: readonly string[]) => string; readonly version: number } | undefined,
  ): Promise<Outgoing> => {
    const { model } = service;
    const judge = judgeFor(call, model);
    const notes = tagging && judge && withNotes(judge);
    const params = parent ? await resolved(route, call, service, undefined) : call.params;
    const { entries, total } = await model.list(list.collection, queryFor(params, page, notes?.may ?? judge));
    boundPage(entries);
    const texts = joined
      ? await inBatches(entries, (entry) => joining(joined, toJoin(entry, joined), service, { ...call, query: values }))
      : entries.map(({ text }) => text);
    const body = Buffer.from(envelope(texts, { ...page, total }));
    const newAnswer = { version: tagging?.version, body, etag: `"${tagged(body)}"` };
    if (tagging && model.version(list.collection) === tagging.version) {
      const all = notes ? [...notes.verdicts.keys()] : [];
      if (notes) guards.set(model, { version: tagging.version, all });
      answers.set(tagging.keyFor(all.filter((guard) => !notes?.verdicts.get(guard))), newAnswer);
    }
    return newAnswer;
  };

  return (call, service) => {
    const plan = planned(call.querystring);
    const { model } = service;
    // Callers who are no admins have read models of their own for earlier times.
    const isShared = service === live || seesAll(call.actor);
    if (!isShared || parent || plan.joined) return answer(call, service, plan, undefined);
    const version = model.version(list.collection);
    const keyFor = (refused: readonly string[]): string =>
      `${numberOf(model)} ${keyOfAccess(refused)} ${call.querystring}`;
    const judge = judgeFor(call, model);
    const at = judge && guards.get(model);
    const isJudged = !judge || at?.version === version;
    const cachedBody = isJudged
      ? answers.get(keyFor(judge && at ? at.all.filter((guard) => !judge(guard)) : []))
      : undefined;
    return cachedBody?.version === version ? cachedBody : answer(call, service, plan, { keyFor, version });
  };
};

const mostInBareList = 1000;

/** The characters that are joined at once. */
const batchLength = 64 * 1024;

/** Joins the documents of a page in batches, so that other requests have their turns while large ones are joined. */
const inBatches = async <E extends { readonly text: string }>(
  entries: readonly E[],
  join: (entry: E) => Promise<string>,
): Promise<readonly string[]> => {
  const batches: E[][] = [];
  let remaining = 0;
  for (const entry of entries) {
    if (remaining <= 0) {
      batches.push([]);
      remaining = batchLength;
    }
    batches.at(-1)?.push(entry);
    remaining -= entry.text.length;
  }
  const joined = await oneByOne(batches, (batch) => Promise.all(batch.map(join)));
  return joined.flat();
};

/**
 * Throws `invalid` if a page is too large. A page is one text, which V8 must be able to hold, and other requests wait
 * while it is made.
 */
const boundPage = (entries: readonly { readonly text: string }[]): void => {
  let remaining = mostInPage;
  for (const [i, { text }] of entries.entries()) {
    remaining -= text.length;
    if (remaining < 0 && i > 0)
      throw new RequestError(
        'invalid',
        `A page may have 32 MiB; the first ${i} documents here fill it: ask for fewer`,
        {
          path: 'limit',
        },
      );
  }
};

const mostInPage = 32 * 1024 * 1024;

const both = (a: Where, b: Where | undefined): Where => (b ? { all: [a, b] } : a);

const serveAction =
  (route: ActionRoute): Serve =>
  async (call, service) => {
    const { status, body, text, type, headers, position, replayed, etag, exported, inClear, stream } = await route.run(
      call,
      service,
    );
    const responseBody = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const ok = status === undefined || status === 200;
    const own =
      ok && route.method === 'get' && responseBody !== undefined ? `"${taggedOnce(responseBody)}"` : undefined;
    return {
      body: responseBody,
      status,
      type,
      headers,
      position,
      replayed,
      etag: etag ?? own,
      exported,
      inClear,
      stream,
    };
  };
