import { isObject } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  attemptDeviceConfig,
  concludeDeviceConfig,
  linesOf,
  withoutAnswer,
} from '../../commands/configuration-manager/deviceConfigurations.ts';
import { deviceSchema } from '../../domain/configuration-manager/adapterSchemas.ts';
import {
  type DeviceConfigurationState,
  deviceConfiguration,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { UnknownOutcome } from '../../southbound/failure.ts';
import type { Answer, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { fromStart } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

const filterFields = ['name', 'host', 'ostype', 'adapter'] as const;
const part = (of: string) => Type.Optional(Type.String({ description: `Part of the ${of}, in any case` }));

const list = actionRoute({
  name: 'getDevices',
  method: 'post',
  path: '/devices',
  access: ['operators', 'readers'],
  summary: 'List devices',
  description: 'Of all adapters, by name. A device that several know is that of the first one.',
  body: Type.Object(
    {
      options: Type.Optional(
        Type.Object(
          {
            filter: Type.Optional(
              Type.Object(
                {
                  name: part('name'),
                  host: part('host'),
                  ostype: part('operating system'),
                  adapter: part("adapter's name"),
                },
                { additionalProperties: false },
              ),
            ),
            ...fromStart,
          },
          { additionalProperties: false, description: 'Which devices' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({
    entity: Type.Literal('device'),
    total: Type.Integer(),
    list: Type.Array(
      Type.Object(
        { ...deviceSchema.properties, adapter: Type.String() },
        { title: 'KnownDevice', description: 'Device and the adapter that it is reached by' },
      ),
    ),
  }),
  run: async ({ body: { options: { filter = {}, start = 0, limit = 25 } = {} } }, { devices }) => {
    const fields = filterFields.filter((field) => filter[field] !== undefined);
    const found = (await devices.list()).filter((device) =>
      fields.every((field) => (device[field] ?? '').toLowerCase().includes((filter[field] ?? '').toLowerCase())),
    );
    return { body: { entity: 'device', total: found.length, list: found.slice(start, start + limit) } };
  },
});

const path = '/devices/:deviceName/configuration';

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
  const text = outcome.answer === null ? 'null' : unseal(outcome.answer);
  if (outcome.applied) return { text };
  const { adapter } = about;
  const body: unknown = JSON.parse(text);
  throw new RequestError(
    'adapter_failed',
    outcome.reason ?? wordsIn(body) ?? `Adapter ${JSON.stringify(adapter)}: the answer has status ${outcome.status}`,
    { metadata: { adapter: { name: adapter, status: outcome.status, body } } },
  );
};

const longestWords = 300;

/** The reason that the other side gives for its refusal, on one line; undefined if it gives none. */
const wordsIn = (body: unknown): string | undefined => {
  const said = isObject(body) && typeof body.message === 'string' ? body.message : undefined;
  return (
    said
      ?.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim()
      .slice(0, longestWords) || undefined
  );
};

/**
 * Stores the attempt, calls the device, then stores the outcome. So even after a crash no attempt calls the device
 * twice.
 */
const apply = actionRoute({
  name: 'applyDeviceConfig',
  method: 'post',
  path,
  access: ['operators'],
  summary: 'Apply a configuration to a device',
  description:
    'Answers what the adapter answered. A retry under the same Idempotency-Key never calls the device again.',
  body: Type.Object(
    {
      config: Type.Object(
        {
          device: Type.Optional(name('Name of the device; that of the path')),
          config: Type.String({ description: 'Configuration text', minLength: 1 }),
        },
        { additionalProperties: false, description: 'What to apply' },
      ),
      options: Type.Optional(
        Type.Unsafe<Readonly<Record<string, unknown>>>(
          Type.Object({}, { additionalProperties: true, description: 'As the adapter understands them' }),
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Any({ description: "The adapter's answer, unchanged" }),
  run: async (call, service) => {
    const {
      params: { deviceName = '' },
      body: {
        config: { device: named = deviceName, config },
        options = {},
      },
    } = call;
    if (named !== deviceName)
      throw new RequestError('invalid', 'It must be the device of the path', { path: '/config/device' });
    const about = requestOf('applyDeviceConfig', call, service);
    const { adapter, device } = await service.devices.find(deviceName);
    const id = newId(about.idempotency?.key);
    const attempt = await service.handle(attemptDeviceConfig, {
      ...about,
      id,
      input: { adapter, device: device.name, digest: service.digest(config), lines: linesOf(config) },
    });

    const outcome = attempt.replayed
      ? undefined
      : await service.devices
          .calls(call.traceparent)
          .apply(adapter, device, config, options)
          .then(
            ({ status, text, unverified, account }) => ({
              input: defined({ status, text, unverified, account }),
              bug: undefined,
            }),
            (error: unknown) => {
              // No outcome is stored: whoever tries again under the same key learns the same, and calls nobody.
              if (error instanceof UnknownOutcome) throw error;
              return {
                input:
                  error instanceof RequestError
                    ? withoutAnswer(error)
                    : { status: null, text: null, reason: 'The adapter failed' },
                bug: error instanceof RequestError ? undefined : error,
              };
            },
          );
    const { position } = outcome
      ? await service
          .handle(concludeDeviceConfig, {
            ...about,
            id,
            input: outcome.input,
            idempotency: undefined,
            ifRevision: undefined,
          })
          .catch(unknown)
      : attempt;
    if (outcome?.bug !== undefined) throw outcome.bug;
    return {
      ...answered(await service.tools.state(deviceConfiguration, id), service.tools),
      position,
      replayed: attempt.replayed,
    };
  },
});

const unknown = (cause: unknown): never => {
  throw new RequestError(
    'unavailable',
    'The device was called, but the outcome could not be stored: it is not known here. Look at the device',
    { cause },
  );
};

/** Devices and their configurations (docs/southbound.md). */
export const deviceRoutes: readonly Route[] = [
  list,
  actionRoute({
    name: 'getDeviceConfiguration',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get the running configuration of a device',
    description:
      'Asks the device through its adapter at each call; nothing is kept. 502 where the device or its adapter fails.',
    answer: Type.Object({ device: Type.String(), config: Type.String() }),
    run: async ({ params: { deviceName = '' }, traceparent }, { devices }) => ({
      body: { device: deviceName, config: await devices.calls(traceparent).configuration(deviceName) },
    }),
  }),
  apply,
];
