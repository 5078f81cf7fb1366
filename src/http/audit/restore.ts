import { checker } from '@automation-platform/bounded-schemas';
import { exactText, isObject, type Members, own, plainValue } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { masked, withTokens } from '../../audit/auditEvent.ts';
import { changesOf, type Former, formerAt, saysTheSame } from '../../audit/history.ts';
import { restorable } from '../../commands/all.ts';
import { missing } from '../../commands/engine/decide.ts';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { Restoring } from '../../commands/engine/kinds.ts';
import type { Previewer } from '../../commands/engine/preview.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { queryAll } from '../../commands/engine/tools.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError, refuseFaults } from '../../domain/engine/requestError.ts';
import { type Resource, wordsOf } from '../../domain/engine/resource.ts';
import { isSealed, type Sealed } from '../../domain/engine/sealed.ts';
import { mask } from '../../domain/engine/secretFields.ts';
import { projections } from '../../projections/all.ts';
import { refuseNeeded } from '../engine/neededMethods.ts';
import type { Answer, AreaRoutes, Call } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { patchSchema } from './schemas.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Decides a command and stores nothing. */
    readonly preview: Previewer;
    /** The service as of a position, as the actor may see it now. */
    readonly earlier: (position: number, actor: Actor) => Promise<Service>;
  }
}

const body = Type.Object(
  {
    kind: Type.String({ minLength: 1, maxLength: 256, description: 'Kind of the resource, such as automation' }),
    id: Type.String({ minLength: 1, maxLength: 1024, description: 'Id of the resource' }),
    position: Type.Integer({ minimum: 0, description: 'Position of the log; the resource becomes what it was there' }),
    dryRun: Type.Optional(Type.Boolean({ description: 'True: only the answer is given, and nothing changes' })),
  },
  { additionalProperties: false },
);

type Asked = Static<typeof body>;

/** Throws `not_found` unless the caller may see the resource. */
const refuseHidden = async ({ kind, id }: Resource, { principal }: Call, { audit, events }: Service): Promise<void> => {
  for await (const [first] of audit.log.read(`${kind}-${id}`))
    if (first && principal && (await events.seesInAudit(principal, first))) return;
    else break;
  throw missing(kind);
};

/** The routes whose callers may do this. */
export const routesOf = ({ command, method, also }: Restoring, areas: readonly AreaRoutes[]) => {
  const { area } = command.aggregate;
  const routes = areas.filter((one) => one.area === area).flatMap(({ routes }) => routes);
  const own = routes.find((one) =>
    method === undefined ? 'command' in one && one.command.name === command.name : one.name === method,
  );
  const found = also === undefined ? [own] : [own, routes.find(({ name }) => name === also)];
  return found.map((route) => {
    if (!route) throw new Error(`${area} has no method that does what ${command.name} does`);
    return { area, route };
  });
};

/** Throws `forbidden` unless the caller may call the methods that do the same. */
const refuseMethods = (way: Restoring, { principal }: Call, areas: readonly AreaRoutes[]): void => {
  for (const { area, route } of routesOf(way, areas))
    if (!principal?.may(area, route))
      throw new RequestError('forbidden', `To restore it takes the method ${route.name} of ${area}, too`);
};

/** The former document for an import: its times, but it is changed now, by the caller. */
const changedNow = ({ lastUpdatedBy: _, ...former }: Members, { moment }: Pick<Service, 'moment'>): Members => {
  if (former.lastUpdated === undefined) return former;
  const now = new Date(moment().now);
  return { ...former, lastUpdated: typeof former.lastUpdated === 'number' ? now.getTime() : now.toISOString() };
};

/** Throws `unprocessable` if today's command does not take the former document. */
const refuseUnfit = (command: AnyCommand, input: unknown): void => {
  refuseFaults(
    'unprocessable',
    checker(command.input)(plainValue(input)).map((fault) => ({ ...fault, message: `${fault.path} ${fault.message}` })),
  );
};

/** The content of a resource at a position, as the command takes it that restores it. */
const contentAt = async ({ audit }: Service, resource: Resource, position: number): Promise<Content | undefined> => {
  const former = await formerAt(audit, resource, position);
  const ways = restorable.get(resource.kind);
  const more = former && ways?.more?.(former.state);
  return (
    former && {
      document: { ...former.document, ...more },
      whole: ways?.whole?.(former.state, former.document) ?? { ...former.whole, ...more },
    }
  );
};

type Content = Pick<Former, 'document' | 'whole'>;

/** The input of the command that gives the resource its former content. */
const inputOf = (
  { input, imports = false, inClear = false }: Restoring,
  {
    kind,
    former,
    present,
  }: { readonly kind: string; readonly former: Content; readonly present?: Content | undefined },
  service: Service,
): unknown => {
  const part = imports ? 'whole' : 'document';
  const [then, now] = [former[part], present?.[part]];
  const isSame = now !== undefined && saysTheSame(kind, then, now);
  const target = isSame ? now : changedNow(then, service);
  return input(openedSecrets(target, isSame || !inClear ? now : undefined, service.tools.unseal) as Members, now);
};

/** The documents that were part of a deleted one, as an import of it takes them. */
const partsThen = async (
  { kind, id }: Resource,
  position: number,
  { actor }: Call,
  service: Service,
): Promise<Members> => {
  const parts = restorable.get(kind)?.parts;
  if (!parts) return {};
  const { tools } = await service.earlier(position, actor);
  const collection = projections.find(({ of }) => of.category === parts.kind);
  if (!collection) throw new Error(`There are no documents of kind ${parts.kind}`);
  const found = await queryAll<{ readonly _id: string }, string>(tools, collection, {
    field: parts.field,
    op: 'equals',
    value: id,
  });
  const contents = await Promise.all(
    found.map(({ _id }) => contentAt(service, { kind: parts.kind, id: _id }, position)),
  );
  return { [parts.member]: contents.flatMap((content) => (content ? [changedNow(content.whole, service)] : [])) };
};

/** True if the request has brought the resource back before, by an import that has a stream of its own. */
const isRepeated = async (
  { command: { aggregate } }: Restoring,
  { idempotency }: Pick<Request, 'idempotency'>,
  { tools }: Service,
): Promise<boolean> =>
  idempotency !== undefined && aggregate.exists(await tools.state(aggregate, newId(idempotency.key)));

const restored = async (
  { kind, id, position, dryRun = false }: Asked,
  call: Call,
  service: Service,
  areas: readonly AreaRoutes[],
): Promise<Answer> => {
  const about = requestOf('restoreResource', call, service);
  const ways = restorable.get(kind);
  if (!ways) throw new RequestError('unprocessable', `Resources of kind ${kind} cannot be restored`, { path: '/kind' });
  const head = await service.audit.log.head();
  if (position > head) throw new RequestError('invalid', `The log ends at position ${head}`, { path: '/position' });
  const resource = { kind, id };
  await refuseHidden(resource, call, service);
  const then = await contentAt(service, resource, position);
  const present = await contentAt(service, resource, head);
  if (!then) throw new RequestError('not_found', `There was no such ${wordsOf(kind)} at position ${position}`);
  const way = present && !(await isRepeated(ways.deleted, about, service)) ? ways.there : ways.deleted;
  refuseMethods(way, call, areas);
  refuseNeeded(ways.needs?.(then.document) ?? [], call, areas);

  const { command } = way;
  const parts = way === ways.there ? {} : await partsThen(resource, position, call, service);
  const former = { document: then.document, whole: { ...then.whole, ...parts } };
  const input = inputOf(way, { kind, former, present }, service);
  refuseUnfit(command, input);
  // An import of several resources has a stream of its own.
  const isOwn = command.aggregate.category === kind;
  const request = { ...about, id: isOwn ? id : newId(about.idempotency?.key), input };
  const result = dryRun ? undefined : await service.handle(command, request);
  const { before, after, changed } = result
    ? { before: result.before, after: result.doc, changed: result.changed }
    : await service.preview(command, request);
  const doc = isOwn ? (after ?? before) : await imported(resource, then, result, service);
  const sentence = changed ? `Successfully restored ${wordsOf(kind)}` : 'It is as it was; nothing was changed';
  return {
    text: exactText({
      status: 'OK',
      message: dryRun ? `${sentence} (dry run: nothing was stored)` : sentence,
      data: masked(kind, doc ?? null),
      patch: changesOf(withTokens(kind, before), withTokens(kind, isOwn ? after : doc)),
    }),
    ...(result && { position: result.position, replayed: result.replayed }),
  };
};

/** The document that an import has made or, in a dry run, would make; undefined if it is still being made. */
const imported = async (
  resource: Resource,
  then: Content,
  result: CommandResult | undefined,
  service: Service,
): Promise<Members | undefined> =>
  result ? (await formerAt(service.audit, resource, result.position))?.document : changedNow(then.document, service);

/** Restores a resource as it was. `areas` gives all routes once the table is complete. */
export const restoreRoute = (areas: () => readonly AreaRoutes[]) =>
  actionRoute({
    name: 'restoreResource',
    method: 'post',
    path: '/restore',
    access: ['operators'],
    summary: 'Restore a resource as it was',
    description:
      'With the command by which the resource is changed, or imported if it was deleted since: so names, references and ' +
      'access lists are checked, and the caller needs the method of that command, too. If-Match is that of the ' +
      'resource. 404 if it was not there at that position, 422 for kinds that cannot be restored (docs/audit.md).',
    body,
    answer: Type.Object({
      status: Type.Literal('OK'),
      message: Type.String(),
      data: Type.Unknown({ description: 'The document, with ids of authors; secrets are masked' }),
      patch: patchSchema,
    }),
    run: (call, service) => restored(call.body, call, service, areas()),
  });

/**
 * The former value with its secrets in clear. Where the present value has the same secret, it is the mask, which keeps
 * it. Throws `unprocessable` for a secret that was sealed with another key.
 */
const openedSecrets = (former: unknown, present: unknown, unseal: (sealed: Sealed) => string): unknown => {
  if (isSealed(former)) return isSealed(present) && present.tag === former.tag ? mask : unsealed(former, unseal);
  if (Array.isArray(former))
    return former.map((item, i) => openedSecrets(item, Array.isArray(present) ? present[i] : undefined, unseal));
  if (!isObject(former)) return former;
  return Object.fromEntries(
    Object.entries(former).map(([name, value]) => [
      name,
      openedSecrets(value, isObject(present) ? own(present, name) : undefined, unseal),
    ]),
  );
};

const unsealed = (sealed: Sealed, unseal: (sealed: Sealed) => string): string => {
  try {
    return unseal(sealed);
  } catch {
    throw new RequestError('unprocessable', 'A secret of that time was sealed with another key');
  }
};
