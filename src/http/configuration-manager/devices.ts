import { lasting } from '@automation-platform/configurations';
import { typeOf } from '@automation-platform/devices';
import { isObject } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import type { DeviceChanges } from '../../commands/configuration-manager/deviceChanges.ts';
import { refusedBy } from '../../commands/configuration-manager/deviceConfigurations.ts';
import type { DeviceConfirmations } from '../../commands/configuration-manager/deviceConfirmations.ts';
import { deviceSchema } from '../../domain/configuration-manager/adapterSchemas.ts';
import { type ChangeOptions, changeOptionsSchema } from '../../domain/configuration-manager/changeOptions.ts';
import {
  type DeviceConfigurationState,
  deviceConfiguration,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import type { DeviceSource } from '../../domain/configuration-manager/deviceSources.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { deviceBackups } from '../../projections/configuration-manager/deviceBackups.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { UnknownOutcome } from '../../southbound/failure.ts';
import type { FoundDevice } from '../../southbound/port.ts';
import { refusalOf } from '../authentication/principal.ts';
import type { Answer, Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { fromStart } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { backUpDeviceRow } from './deviceBackups.ts';

const part = (of: string) => Type.Optional(Type.String({ description: `Part of the ${of}, in any case` }));
const oneOrMore = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })], { description }));

const filterSchema = Type.Object(
  {
    name: part('name'),
    address: part('host'),
    host: part('host'),
    port: part('port'),
    ostype: part('operating system'),
    adapter: part("name of the device's source"),
    inventory: part("inventory's name"),
    tags: oneOrMore('Tags that it must have, all of them'),
  },
  { additionalProperties: false },
);

const optionsSchema = Type.Object(
  {
    filter: Type.Optional(filterSchema),
    ...fromStart,
    sort: Type.Optional(
      Type.Array(Type.Object({ name: Type.Enum([1, -1]) }, { additionalProperties: false }), {
        description: 'Devices are sorted by name',
        maxItems: 1,
      }),
    ),
    order: Type.Optional(Type.Enum(['ascending', 'descending'], { description: 'The direction, without sort' })),
    exactMatch: Type.Optional(Type.Boolean({ description: 'The filter has whole values, not parts of them' })),
    adapterId: oneOrMore('Names of sources'),
    adapterType: oneOrMore('Types of sources: lab, http, ssh, inventory'),
    origins: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 }), Type.Boolean()], {
        description: 'Names of sources. A boolean changes nothing: each device has its origin',
      }),
    ),
  },
  { additionalProperties: false, description: 'Which devices' },
);

const knownDevice = Type.Object(
  {
    ...deviceSchema.properties,
    host: Type.String(),
    ipaddress: Type.String(),
    'device-type': Type.Enum(['network_cli', 'http', 'lab']),
    origin: Type.String(),
    chosenAdapter: Type.String(),
    adapter: Type.String(),
    inventory: Type.Optional(Type.String()),
  },
  { title: 'KnownDevice', description: 'Device and the source that it is reached by' },
);

const kinds = { ssh: 'network_cli', http: 'http', lab: 'lab' } as const;

const showDevice = ({ source, type, device }: Pick<FoundDevice, 'source' | 'type' | 'device'>) => {
  const { name, host = name, port, ostype } = device;
  return {
    name,
    ...defined({ port, ostype }),
    host,
    ipaddress: host,
    'device-type': kinds[type],
    origin: source.name,
    chosenAdapter: source.name,
    adapter: source.name,
    ...(source.kind === 'inventory' && { inventory: source.name }),
  };
};

const listOf = (names: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof names === 'string' ? [names] : names;

/** True for the sources whose devices the options ask for. */
const wantedSources = ({
  filter = {},
  exactMatch = false,
  adapterId,
  adapterType,
  origins,
}: Static<typeof optionsSchema>) => {
  const isPart = (value: string, expected: string | undefined): boolean =>
    expected === undefined || (exactMatch ? value === expected : value.toLowerCase().includes(expected.toLowerCase()));
  const isOne = (value: string, expected: string | readonly string[] | undefined): boolean =>
    listOf(expected)?.includes(value) ?? true;
  const named = typeof origins === 'boolean' ? undefined : origins;
  return ({ kind, name, type }: DeviceSource & { readonly type: string }): boolean =>
    isPart(name, filter.adapter) &&
    (filter.inventory === undefined || (kind === 'inventory' && isPart(name, filter.inventory))) &&
    isOne(name, adapterId) &&
    isOne(name, named) &&
    isOne(type, adapterType);
};

const list = actionRoute({
  name: 'getDevices',
  method: 'post',
  path: '/devices',
  access: ['operators', 'readers'],
  summary: 'List devices',
  description:
    'Of all adapters and inventories that the caller sees, by name. A device that several know is that of the first one.',
  body: Type.Object({ options: Type.Optional(optionsSchema) }, { additionalProperties: false }),
  answer: Type.Object({
    entity: Type.Literal('device'),
    total: Type.Integer(),
    unique_device_count: Type.Integer(),
    return_count: Type.Integer({ description: 'The total' }),
    start_index: Type.Integer(),
    list: Type.Array(knownDevice),
  }),
  run: async ({ body: { options = {} }, actor }, { devices }) => {
    const {
      filter: { name, address, host, port, ostype, tags } = {},
      start = 0,
      limit = 25,
      exactMatch: exact,
    } = options;
    if (address !== undefined && host !== undefined && address !== host)
      throw new RequestError('invalid', 'address and host are the same member', { path: '/options/filter/address' });
    const direction = options.order === 'descending' ? -1 : 1;
    const page = await devices.seenBy(actor).list({
      filter: defined({ name, host: host ?? address, port, ostype, tags: listOf(tags), exact }),
      isWanted: wantedSources(options),
      start,
      limit,
      order: options.sort?.[0]?.name ?? direction,
    });
    const { total } = page;
    const counts = { total, unique_device_count: total, return_count: total, start_index: start };
    return { body: { entity: 'device', ...counts, list: page.list.map(showDevice) } };
  },
});

const devicePath = '/devices/:deviceName';

const get = actionRoute({
  name: 'getDevice',
  method: 'get',
  path: devicePath,
  access: ['operators', 'readers'],
  summary: 'Get a device',
  answer: knownDevice,
  run: async ({ params: { deviceName = '' }, actor }, { devices }) => ({
    body: showDevice(await devices.seenBy(actor).find(deviceName)),
  }),
});

/** The errors by which a device does not answer: it fails, or lacks its credential. */
const unreachable: readonly string[] = ['adapter_failed', 'conflict'];

const alive = actionRoute({
  name: 'isDeviceAlive',
  method: 'get',
  path: `${devicePath}/isAlive`,
  access: ['operators', 'readers'],
  summary: 'Ask if a device answers',
  description: 'Logs in, or asks the controller. 200 where it does not answer, too.',
  answer: Type.Object({
    alive: Type.Boolean(),
    reachable: Type.Boolean(),
    reason: Type.Optional(Type.String({ description: 'Why it does not answer' })),
  }),
  run: async ({ params: { deviceName = '' }, actor, traceparent }, { devices }) => {
    try {
      await devices.seenBy(actor).calls(traceparent).reach(deviceName);
      return { body: { alive: true, reachable: true } };
    } catch (error) {
      if (!(error instanceof RequestError && unreachable.includes(error.code))) throw error;
      return { body: { alive: false, reachable: false, reason: error.message } };
    }
  },
});

export const area = 'configuration-manager';
const path = `${devicePath}/configuration` as const;

type Row = Pick<Route, 'name' | 'access'>;

/**
 * The answer of the first request and of retries: the adapter's own answer if the configuration was applied. Else
 * throws `adapter_failed`, or `unavailable` if the outcome is unknown.
 */
const answered = ({ about, outcome }: DeviceConfigurationState, { unseal }: Service['tools']): Answer => {
  if (!about || !outcome)
    throw new RequestError(
      'unavailable',
      'The outcome of this attempt is not known: it is under way, or was broken off. Look at the device; ' +
        'another Idempotency-Key is another attempt',
    );
  const text = outcome.answer === null ? null : unseal(outcome.answer);
  if (!outcome.applied) throw refusedBy(about.adapter, { ...outcome, text });
  return { text: text ?? 'null' };
};

const ofPath = { device: Type.Optional(name('Name of the device; that of the path')) };
const textToApply = Type.Object(
  { ...ofPath, config: Type.String({ description: 'Configuration text', minLength: 1 }) },
  { additionalProperties: false, title: 'ConfigurationToApply', description: 'The configuration to apply' },
);
const copyToApply = Type.Object(
  { ...ofPath, backup: name('Id of a copy of the device') },
  { additionalProperties: false, title: 'CopyToApply', description: 'Copy to apply' },
);
const textOrCopy = Type.Unsafe<Static<typeof textToApply> | Static<typeof copyToApply>>({
  if: { type: 'object', required: ['backup'], properties: { backup: {} } },
  then: copyToApply,
  else: textToApply,
  description: 'The configuration: a text, or a copy of the device',
});

declare module '../engine/service.ts' {
  interface Service {
    /** The changes of devices. */
    readonly changes: DeviceChanges;
    readonly confirmations: DeviceConfirmations;
  }
}

/** The right to say what a change would do, and no more. */
export const dryRunRow: Row = { name: 'dryRunDeviceConfig', access: ['operators'] };
const applyRow: Row = { name: 'applyDeviceConfig', access: ['operators'] };

/** Throws `forbidden` for a change by a caller who may only say what it would do. */
export const refuseUnlessDry = (
  row: Row,
  { dryRun }: ChangeOptions,
  { principal, actor }: Pick<Call, 'principal' | 'actor'>,
): void => {
  if (!dryRun && !principal?.may(area, row))
    throw new RequestError('forbidden', refusalOf(actor, `${row.name} of ${area}`));
};

/** The change of a device that a request asks for. `config` makes the text to send. */
export const changeOf = async (
  { row, deviceName }: { readonly row: Row; readonly deviceName: string },
  call: Call,
  service: Service,
  wish: { readonly options: ChangeOptions; readonly config: (found: FoundDevice) => Promise<string> },
) => {
  const { options } = wish;
  const about = requestOf(row.name, call, service);
  refuseUnlessDry(row, options, call);
  const visible = service.devices.seenBy(call.actor);
  const found = await visible.find(deviceName);
  await visible.checkCredentials(deviceName);
  const id = newId(about.idempotency?.key);
  // A retry needs no text: its copy or template may be gone since.
  const isRetry =
    about.idempotency !== undefined && (await service.tools.state(deviceConfiguration, id)).about !== undefined;
  return {
    id,
    about,
    found,
    config: isRetry ? '' : await wish.config(found),
    options,
    calls: (signal: AbortSignal) => visible.calls(call.traceparent, signal),
    signal: service.devices.stopping,
    mayBackUp: call.principal?.may(area, backUpDeviceRow) ?? false,
  };
};

/** Makes a change, or says what it would do. */
export const answerOf = async (
  change: Awaited<ReturnType<typeof changeOf>> & { readonly isGoal?: true },
  service: Service,
): Promise<Answer> => {
  if (change.options.dryRun) {
    const answer = await service.changes.dryRun(change);
    if (answer.status > 299) throw refusedBy(change.found.source.name, answer);
    return { text: answer.text };
  }
  const { state, position, replayed } = await service.changes.change(
    change,
    (error) => error instanceof UnknownOutcome,
  );
  return { ...answered(state, service.tools), position, replayed };
};

const apply = actionRoute({
  ...applyRow,
  method: 'post',
  path,
  summary: 'Apply a configuration to a device',
  description:
    'Answers what the adapter answered. A retry under the same Idempotency-Key never calls the device again.',
  alternative: dryRunRow,
  body: Type.Object(
    { config: textOrCopy, options: Type.Optional(Type.Unsafe<ChangeOptions>(changeOptionsSchema)) },
    { additionalProperties: false },
  ),
  answer: Type.Any({ description: "The adapter's answer; of a dry run {device, status, diff, predicted, warnings}" }),
  run: async (call, service) => {
    const {
      params: { deviceName = '' },
      body: {
        config: { device: named = deviceName, ...given },
        options = {},
      },
    } = call;
    if (named !== deviceName)
      throw new RequestError('invalid', 'It must be the device of the path', { path: '/config/device' });
    const config = async (found: FoundDevice) =>
      'config' in given ? given.config : configOf(given.backup, found, call, service);
    return answerOf(await changeOf({ row: applyRow, deviceName }, call, service, { options, config }), service);
  },
});

const confirm = actionRoute({
  name: 'confirmDeviceConfig',
  method: 'post',
  path: `${path}/confirm`,
  access: ['operators'],
  summary: 'Confirm a change that the device would take back',
  description: 'Without the id of a change the last one of the device. 409 where none waits.',
  body: Type.Object({ change: Type.Optional(name('Id of the change')) }, { additionalProperties: false }),
  answer: Type.Object({ status: Type.Literal('confirmed') }),
  run: async (call, service) => {
    const about = requestOf('confirmDeviceConfig', call, service);
    const { deviceName } = call.params;
    const visible = service.devices.seenBy(call.actor);
    const found = await visible.find(deviceName);
    await visible.checkCredentials(deviceName);
    const { position, replayed } = await service.confirmations.confirm({
      about,
      found,
      calls: (signal) => visible.calls(call.traceparent, signal),
      signal: service.devices.stopping,
      change: call.body.change,
    });
    return { body: { status: 'confirmed' }, position, replayed };
  },
});

const rollbackRow: Row = { name: 'rollbackDeviceConfig', access: ['operators'] };

const rollback = actionRoute({
  ...rollbackRow,
  method: 'post',
  path: `${path}/rollback`,
  summary: 'Go back to a copy of a device',
  description:
    'Replaces the whole configuration where the type can, else sends the lines that lead to the copy, which a dry run shows. 409 ' +
    'for a copy of another device.',
  alternative: dryRunRow,
  body: Type.Object(
    {
      backup: name('Id of a copy of the device'),
      options: Type.Optional(Type.Unsafe<ChangeOptions>(changeOptionsSchema)),
    },
    { additionalProperties: false },
  ),
  answer: Type.Any({ description: 'As the answer to a configuration that is applied' }),
  run: async (call, service) => {
    const { backup, options = {} } = call.body;
    const config = (found: FoundDevice) => configOf(backup, found, call, service);
    const { deviceName } = call.params;
    const change = await changeOf({ row: rollbackRow, deviceName }, call, service, { options, config });
    const { replace } = change.found.abilities;
    return answerOf({ ...change, isGoal: true, ...(replace && { options: { ...options, replace } }) }, service);
  },
});

/** The configuration of a copy, to apply it to its device. */
const configOf = async (
  backup: string,
  { device }: FoundDevice,
  { actor, body }: Call,
  service: Service,
): Promise<string> => {
  const path = isObject(body) && 'config' in body ? '/config/backup' : '/backup';
  const copy = documentIn(deviceBackups, await service.entryById(deviceBackups, backup, actor));
  if (copy.name !== device.name)
    throw new RequestError('conflict', `It is a copy of ${JSON.stringify(copy.name)}`, { path });
  return lasting(await service.copies.textOf(backup), typeOf(device.ostype).volatile ?? []);
};

/** Devices and their configurations (docs/southbound.md). */
export const deviceRoutes: readonly Route[] = [
  list,
  get,
  alive,
  actionRoute({
    name: 'getDeviceConfiguration',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get the running configuration of a device',
    description:
      'Asks the device through its adapter at each call; nothing is kept. 502 where the device or its adapter fails.',
    answer: Type.Object({ device: Type.String(), config: Type.String() }),
    run: async ({ params: { deviceName = '' }, actor, traceparent }, { devices }) => ({
      body: { device: deviceName, config: await devices.seenBy(actor).calls(traceparent).configuration(deviceName) },
    }),
  }),
  apply,
  confirm,
  rollback,
];
