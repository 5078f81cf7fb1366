import { type Static, Type } from 'typebox';
import { contentAt } from '../../audit/former.ts';
import { masked, withTokens } from '../../audit/hiddenSecrets.ts';
import { changesOf } from '../../audit/history.ts';
import { missing } from '../../commands/engine/decide.ts';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { Previewer } from '../../commands/engine/preview.ts';
import { type Restoring, restorable } from '../../commands/restorable.ts';
import { checker } from '../../commands/user-schemas/checker.ts';
import { exactText, plainValue } from '../../domain/engine/exactJson.ts';
import { isObject, type Members, own } from '../../domain/engine/members.ts';
import { RequestError, refuseFaults } from '../../domain/engine/requestError.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import { isSealed, type Sealed } from '../../domain/engine/sealed.ts';
import { mask } from '../../domain/engine/secretFields.ts';
import type { Answer, AreaRoutes, Call } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { patchSchema } from './schemas.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Decides a command and stores nothing. */
    readonly preview: Previewer;
  }
}

const body = Type.Object(
  {
    kind: Type.String({ minLength: 1, maxLength: 256, description: 'Kind of the resource, such as automation' }),
    id: Type.String({ minLength: 1, maxLength: 1024, description: 'Id of the resource' }),
    position: Type.Integer({ minimum: 0, description: 'Position of the log; the resource becomes what it was there' }),
    dryRun: Type.Optional(Type.Boolean({ description: 'Whether only the answer is given, and nothing changes' })),
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

/** Throws `forbidden` unless the caller may call the method that does the same. */
const refuseMethod = ({ command, method }: Restoring, { principal }: Call, areas: readonly AreaRoutes[]): void => {
  const { area } = command.aggregate;
  const routes = areas.filter((one) => one.area === area).flatMap(({ routes }) => routes);
  const route = routes.find(({ name }) => name === method);
  if (!route) throw new Error(`${area} has no method ${method}`);
  if (!principal?.may(area, route))
    throw new RequestError('forbidden', `To restore it takes the method ${method} of ${area}, too`);
};

/** The former value with its secrets in clear; the mask where the present one is the same. */
const opened = (former: unknown, present: unknown, unseal: (sealed: Sealed) => string): unknown => {
  if (isSealed(former)) return isSealed(present) && present.tag === former.tag ? mask : unsealed(former, unseal);
  if (Array.isArray(former))
    return former.map((item, i) => opened(item, Array.isArray(present) ? present[i] : undefined, unseal));
  if (!isObject(former)) return former;
  return Object.fromEntries(
    Object.entries(former).map(([name, value]) => [
      name,
      opened(value, isObject(present) ? own(present, name) : undefined, unseal),
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

/** The former document for an import: its times, but it is changed now, by the caller. */
const changedNow = ({ lastUpdatedBy: _, ...former }: Members): Members => {
  const now = new Date();
  return { ...former, lastUpdated: typeof former.lastUpdated === 'number' ? now.getTime() : now.toISOString() };
};

const checkers = new WeakMap<AnyCommand, ReturnType<typeof checker>>();

/** Throws `unprocessable` if today's command does not take the former document. */
const refuseUnfit = (command: AnyCommand, input: unknown): void => {
  const check = checkers.get(command) ?? checker(command.input);
  checkers.set(command, check);
  refuseFaults(
    'unprocessable',
    check(plainValue(input)).map((fault) => ({ ...fault, message: `${fault.path} ${fault.message}` })),
  );
};

const wordOf = (kind: string): string => kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const restored = async (
  { kind, id, position, dryRun = false }: Asked,
  call: Call,
  service: Service,
  areas: readonly AreaRoutes[],
): Promise<Answer> => {
  const about = requestOf('restoreResource', call, service);
  const ways = Object.hasOwn(restorable, kind) ? restorable[kind] : undefined;
  if (!ways) throw new RequestError('unprocessable', `Resources of kind ${kind} cannot be restored`, { path: '/kind' });
  const head = await service.audit.log.head();
  if (position > head) throw new RequestError('invalid', `The log ends at position ${head}`, { path: '/position' });
  const resource = { kind, id };
  await refuseHidden(resource, call, service);
  const former = await contentAt(service.audit, resource, position);
  const present = await contentAt(service.audit, resource, head);
  if (!former) throw new RequestError('not_found', `There was no such ${wordOf(kind)} at position ${position}`);
  const way = present ? ways.there : ways.gone;
  if (!way)
    throw new RequestError('unprocessable', `A ${wordOf(kind)} that was deleted cannot be restored: make it anew`);
  refuseMethod(way, call, areas);

  const { command } = way;
  const input = way.input(opened(changedNow(former), present, service.tools.unseal) as Members);
  refuseUnfit(command, input);
  const request = { ...about, id, input };
  const done = dryRun ? undefined : await service.handle(command, request);
  const { before, after, changed } = done
    ? { before: done.before, after: done.doc, changed: done.changed }
    : await service.preview(command, request);
  const said = changed ? `Successfully restored ${wordOf(kind)}` : 'It is as it was; nothing was changed';
  return {
    text: exactText({
      status: 'OK',
      message: dryRun ? `${said} (dry run: nothing was stored)` : said,
      data: masked(kind, after ?? before ?? null),
      patch: changesOf(withTokens(kind, before), withTokens(kind, after)),
    }),
    ...(done && { position: done.position, replayed: done.replayed }),
  };
};

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
