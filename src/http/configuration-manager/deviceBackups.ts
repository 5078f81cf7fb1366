import { diffUnits } from '@automation-platform/configurations';
import { RE2JS } from 're2js';
import { type Static, Type } from 'typebox';
import {
  type DeviceCopies,
  deleteDeviceBackups,
  updateDeviceBackup,
} from '../../commands/configuration-manager/deviceBackups.ts';
import { startJob } from '../../commands/operations-manager/jobs.ts';
import {
  backupDeletions,
  backupItemSchema,
  backupSchema,
  backupWordsSchema,
  deviceBackup,
  listedBackupSchema,
} from '../../domain/configuration-manager/deviceBackups.ts';
import { time } from '../../domain/engine/authors.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { backupIn, deviceBackups } from '../../projections/configuration-manager/deviceBackups.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import type { Where } from '../../projections/engine/port.ts';
import { adapterFailure } from '../../southbound/failure.ts';
import { deletedCount, deletedCountSchema } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute, commandRoute } from '../engine/routes.ts';
import { success } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** The copies of the devices' configurations. */
    readonly copies: DeviceCopies;
  }
}

const words = Type.Optional(backupWordsSchema);
const names = (what: string, maxItems: number) =>
  Type.Array(name(what), { minItems: 1, maxItems, description: `${what}, each` });

const oneDevice = closed(
  { name: name('Name of a device'), options: words },
  { title: 'DeviceToBackUp', description: 'Device to copy now' },
);
const manyDevices = closed(
  {
    devices: Type.Optional(names('Name of a device', 10_000)),
    deviceGroups: Type.Optional(names('Id or name of a device group', 1000)),
    options: words,
  },
  { title: 'DevicesToBackUp', description: 'Devices that a job copies' },
);
const oneOrMany = Type.Unsafe<Static<typeof oneDevice> | Static<typeof manyDevices>>({
  if: { type: 'object', required: ['name'], properties: { name: {} } },
  then: oneDevice,
  else: manyDevices,
});

const startBackups = async (
  { devices, deviceGroups, options }: Static<typeof manyDevices>,
  about: ReturnType<typeof requestOf>,
  { handle, devices: allDevices }: Service,
) => {
  if (!devices && !deviceGroups)
    throw new RequestError('invalid', 'One of name, devices and deviceGroups is needed', { path: '/name' });
  const id = newId(about.idempotency?.key);
  const variables = defined({ devices, deviceGroups, options });
  const { position, replayed } = await handle(startJob, {
    ...about,
    id,
    input: {
      workflow: 'Configuration backup',
      automation: null,
      component: { type: 'configuration-backup', name: 'devices' },
      type: 'configuration-backup',
      groups: [],
      variables,
      inventories: await allDevices.seenBy(about.actor).inventoriesOf(devices ?? []),
    },
  });
  return { body: { status: 'success', message: 'The devices are being copied', jobId: id }, position, replayed };
};

/** The row by whose right changes keep copies. */
export const backUpDeviceRow: Pick<Route, 'name' | 'access'> = { name: 'backUpDevice', access: ['operators'] };

const backUp = actionRoute({
  name: 'backUpDevice',
  method: 'post',
  starts: true,
  path: '/devices/backups',
  access: ['operators'],
  summary: 'Copy the configuration of devices',
  description:
    'One device (`name`) is read now, and 502 says why it cannot be. Of several (`devices`, `deviceGroups`), a job makes the ' +
    'copies.',
  body: oneOrMany,
  answer: Type.Object({ ...success.properties, id: Type.Optional(Type.String()), jobId: Type.Optional(Type.String()) }),
  run: async (call, service) => {
    const { body, actor, traceparent, abandoned } = call;
    const about = requestOf('backUpDevice', call, service);
    if (!('name' in body)) return startBackups(body, about, service);
    const visible = service.devices.seenBy(actor);
    const found = await visible.find(body.name);
    const text = await visible.calls(traceparent).configuration(body.name);
    refuseEmpty(text, found.source.name);
    const id = newId(about.idempotency?.key);
    const evaluation = { account: actor.id, signal: abandoned() };
    const toCopy = { found, text, ...body.options };
    const { position, replayed } = (await service.copies.store({ ...about, id }, toCopy, evaluation)).result;
    return { body: { status: 'success', message: 'The configuration was copied', id }, position, replayed };
  },
});

/** Refuses an answer that is no configuration. */
const refuseEmpty = (text: string, adapter: string): void => {
  if (text.trim() === '') throw adapterFailure(adapter, 'the device has an empty configuration');
};

const longest = 1000;

const filterSchema = Type.Partial(
  Type.Object({
    name: Type.String({ maxLength: longest, description: 'Of the device' }),
    description: Type.String({ maxLength: longest, description: 'Of the copy' }),
  }),
  { additionalProperties: false, description: 'Which copies' },
);

/** The test of a filter's member, in linear time. */
const testOf = (expression: string, path: string): ((text: string) => boolean) => {
  try {
    const compiled = RE2JS.compile(expression);
    return (text) => compiled.matcher(text).find();
  } catch (error) {
    throw new RequestError('invalid', `It is no regular expression: ${(error as Error).message}`, { path });
  }
};

const members = ['name', 'description'] as const;
const wholeNumber = Type.Integer({ minimum: 0 });
const inText = Type.String({ pattern: '^\\d{1,9}$' });

const search = actionRoute({
  name: 'searchDeviceBackups',
  method: 'post',
  reads: true,
  shows: deviceBackups,
  path: '/backups',
  access: ['operators', 'readers'],
  summary: 'Search copies of configurations',
  description: 'Without their texts, the newest first.',
  body: closed({
    options: Type.Optional(
      closed(
        {
          filter: Type.Optional(filterSchema),
          start: Type.Optional(Type.Union([wholeNumber, inText], { description: 'How many to leave out' })),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'How many to give' }),
          ),
          sort: Type.Optional(
            Type.Partial(
              Type.Object({
                date: Type.Enum([1, -1], { description: '-1: the newest first' }),
                name: Type.Enum([1, -1], { description: 'By the name of the device' }),
              }),
              {
                additionalProperties: false,
                maxProperties: 1,
                description: 'The order: by date or by name',
              },
            ),
          ),
          regex: Type.Optional(
            Type.Boolean({ default: true, description: 'The filter has regular expressions; false: whole values' }),
          ),
        },
        { description: 'Which copies' },
      ),
    ),
  }),
  answer: Type.Object({ total: Type.Integer(), list: Type.Array(listedBackupSchema) }),
  run: async ({ body: { options = {} }, actor }, { model }) => {
    const { filter = {}, start: from = 0, limit = 25, sort = { date: -1 }, regex = true } = options;
    const start = Number(from);
    const all: Where<(typeof members)[number]>[] = [];
    const tests: (readonly [(typeof members)[number], (text: string) => boolean])[] = [];
    for (const member of members) {
      const value = filter[member];
      if (value === undefined) continue;
      if (!regex) all.push({ field: member, op: 'equals', value });
      else {
        tests.push([member, testOf(value, `/options/filter/${member}`)]);
        // Plain words are looked for in the index first.
        if (/^[\w -]+$/.test(value)) all.push({ field: member, op: 'contains', value });
      }
    }
    const [field = 'date', order = -1] = (Object.entries(sort)[0] ?? []) as ['date' | 'name', 1 | -1];
    const query = {
      ...defined({ where: all.length > 0 ? { all } : undefined }),
      sort: field,
      order,
      ...readableBy(actor, model),
    };
    let total = 0;
    const list: object[] = [];
    for await (const entries of pagesOf(model, deviceBackups, query))
      for (const entry of entries) {
        const doc = documentIn(deviceBackups, entry);
        if (!tests.every(([member, test]) => test(doc[member]))) continue;
        if (total >= start && list.length < limit) list.push(backupIn(doc));
        total++;
      }
    return { body: { total, list } };
  },
});

const at = actionRoute({
  name: 'getDeviceBackupAt',
  method: 'get',
  reads: true,
  path: '/backups',
  access: ['operators', 'readers'],
  summary: 'Get the last copy of a device at a time',
  description: 'Without its text. 404 where there was none.',
  query: {
    device: name('Name of the device'),
    at: time('The time; now unless given'),
  },
  answer: listedBackupSchema,
  run: async ({ query: { device, at }, actor }, { model }) => {
    if (device === undefined) throw new RequestError('invalid', 'It is needed', { path: 'device' });
    const until = at === undefined ? Infinity : Date.parse(at);
    const where = { field: 'name', op: 'equals', value: device } as const;
    const query = { where, sort: 'date', order: -1, length: 100, ...readableBy(actor, model) } as const;
    for await (const entries of pagesOf(model, deviceBackups, query))
      for (const entry of entries) {
        const doc = documentIn(deviceBackups, entry);
        if (Date.parse(doc.date) <= until) return { body: backupIn(doc) };
      }
    throw new RequestError('not_found', 'There was no copy of this device', { path: 'device' });
  },
});

const path = '/backups/:id';

const get = actionRoute({
  name: 'getDeviceBackup',
  method: 'get',
  reads: true,
  path,
  access: ['operators'],
  summary: 'Get a copy of a configuration',
  description: 'With its text in clear, which is recorded.',
  answer: backupSchema,
  run: async ({ params: { id }, actor }, service) => {
    const doc = documentIn(deviceBackups, await service.entryById(deviceBackups, id, actor));
    const rawConfig = await service.copies.textOf(id);
    return { body: { ...backupIn(doc), rawConfig }, inClear: [{ kind: deviceBackup.category, id }] };
  },
});

const update = actionRoute({
  name: 'updateDeviceBackup',
  method: 'put',
  path,
  access: ['operators'],
  summary: 'Change the words about a copy of a configuration',
  body: backupWordsSchema,
  answer: Type.Object({ ...success.properties, data: listedBackupSchema }),
  run: async (call, service) => {
    const about = requestOf('updateDeviceBackup', call, service);
    const { id } = await service.entryById(deviceBackups, call.params.id, call.actor);
    const { doc, position, replayed } = await service.handle(updateDeviceBackup, { ...about, id, input: call.body });
    const data = backupIn(doc as Parameters<typeof backupIn>[0]); // the document of the command's own aggregate
    return { body: { status: 'success', message: 'The copy was updated', data }, position, replayed };
  },
});

const take = importRoute({
  name: 'importDeviceBackups',
  method: 'post',
  path: '/import/backups',
  access: ['operators'],
  summary: 'Import copies of configurations',
  description:
    'Takes what a GET of a copy answers. The device must be there. A copy that is there already is no change.',
  member: 'backups',
  document: backupItemSchema,
  itemSchema: listedBackupSchema,
  take: async ({ document, fresh, about }, service, { actor, abandoned }) => {
    const { _id: id = fresh, name: device, rawConfig, date, description, notes } = document;
    const found = await service.devices.seenBy(actor).find(device);
    const { now } = service.moment();
    if (date !== undefined && Date.parse(date) > now)
      throw new RequestError('invalid', 'A copy cannot be of a time to come', { path: '/date' });
    const evaluation = { account: actor.id, signal: abandoned() };
    const toCopy = {
      found,
      text: rawConfig,
      date: new Date(date === undefined ? now : Date.parse(date)).toISOString(),
      ...defined({ description, notes }),
    };
    const { doc, position, replayed } = (await service.copies.store({ ...about, id }, toCopy, evaluation)).result;
    return { data: backupIn(doc as Parameters<typeof backupIn>[0]), position, replayed }; // the document of a copy
  },
});

type Compared = { readonly collection: string; readonly id: string; readonly path: '/collection' | '/nextCollection' };

/** The text of a copy or, as the second one, of a device. Other things have none. */
const textOf = async ({ collection, id, path }: Compared, call: Call, service: Service): Promise<string> => {
  if (collection === 'backups') {
    await service.entryById(deviceBackups, id, call.actor);
    return service.copies.textOf(id);
  }
  if (collection === 'devices' && path === '/nextCollection')
    return service.devices.seenBy(call.actor).calls(call.traceparent).configuration(id);
  throw new RequestError('unprocessable', `${collection} cannot be compared here`, { path });
};

const collectionName = (description: string) =>
  Type.Enum(['backups', 'devices', 'nodes', 'deviceGroups'], { description });

const lookup = actionRoute({
  name: 'lookupDiff',
  method: 'put',
  path: '/lookup_diff',
  access: ['operators', 'readers'],
  summary: 'Compare a copy with another one, or with its device',
  description:
    'The parts of both texts in order: 0 of both, -1 of the first alone, 1 of the second alone. Secrets are masked; one that ' +
    'differs is a part of each.',
  body: closed({
    id: name('Id of a copy'),
    nextId: name('Id of a copy, or name of a device, which is read now'),
    collection: collectionName('Of the first: backups'),
    nextCollection: collectionName('Of the second: backups or devices'),
    options: Type.Optional(
      closed(
        { type: Type.Optional(Type.Enum(diffUnits, { default: 'word', description: 'The unit' })) },
        { description: 'How they are compared' },
      ),
    ),
  }),
  answer: Type.Array(
    Type.Unsafe<readonly [number, string]>(Type.Array(Type.Union([Type.Enum([0, 1, -1]), Type.String()]))),
  ),
  run: async (call, service) => {
    const { id, nextId, collection, nextCollection, options = {} } = call.body;
    const first = await textOf({ collection, id, path: '/collection' }, call, service);
    const next = { collection: nextCollection, id: nextId, path: '/nextCollection' } as const;
    const second = await textOf(next, call, service);
    const evaluation = { account: call.actor.id, signal: call.abandoned() };
    return { body: await service.renderer.diff({ first, second, unit: options.type ?? 'word' }, evaluation) };
  },
});

/** Copies of configurations, and how they differ. */
export const deviceBackupRoutes: readonly Route[] = [
  backUp,
  search,
  at,
  get,
  update,
  commandRoute({
    name: 'deleteDeviceBackups',
    method: 'delete',
    path: '/backups',
    access: ['operators'],
    summary: 'Delete copies of configurations, all or none',
    description: 'Ids in the body or in the query. Ids that are not there are 404, naming all; then none is deleted.',
    query: { backupIds: backupDeletions.idList },
    bodyInQuery: true,
    command: deleteDeviceBackups,
    envelope: deletedCount,
    answer: deletedCountSchema,
  }),
  take,
  lookup,
];
