import { type Static, Type } from 'typebox';
import { linesOf } from '../../commands/configuration-manager/deviceConfigurations.ts';
import { queryAll } from '../../commands/engine/tools.ts';
import {
  type CheckedDevice,
  checkOf,
  reportOf,
  reportSchema,
} from '../../domain/configuration-manager/complianceReports.ts';
import { tree } from '../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { isSecretName, maskSecrets, openSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { inventories, type NodeDoc, nodes } from '../../projections/inventory-manager/inventories.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';
import { checkedNode } from './nodeConfigs.ts';

const mostBytes = 4 * 1024 * 1024;

/** The caller, and the service. */
type Asking = { readonly actor: Actor; readonly service: Service };

/**
 * The attributes of the node of that name in the first inventory that has one, of those that the actor sees. They have no
 * secrets here.
 */
const attributesOf = async (device: string, { actor, service }: Asking): Promise<CheckedDevice['attributes']> => {
  const { tools, model } = service;
  const visible = (await queryAll(tools, inventories)).filter((doc) => tools.mayRead(inventories, doc, actor));
  const ids = visible.map(({ _id }) => `${_id}/${device}`);
  const entry = (await model.getMany(nodes.collection, ids)).find((one) => one !== undefined);
  if (!entry) return undefined;
  const { attributes }: NodeDoc = JSON.parse(entry.text);
  const plain = Object.entries(attributes).filter(([name]) => !isSecretName(name));
  return maskSecrets(Object.fromEntries(plain)) as CheckedDevice['attributes'];
};

/** The facts about a device; of one that the actor does not see, the name alone. */
const knownOf = async (device: string, asking: Asking): Promise<CheckedDevice> => {
  try {
    const {
      source,
      device: { name, ostype, host },
    } = await asking.service.devices.seenBy(asking.actor).find(device);
    const attributes = await attributesOf(device, asking);
    return defined({ name, ostype, host, adapter: source.name, attributes });
  } catch (error) {
    if (error instanceof RequestError && error.code === 'not_found') return { name: device };
    throw error;
  }
};

/** The variables with their secrets in clear, and these secrets. */
const openVariables = (variables: Readonly<Record<string, unknown>>, { tools }: Service) => {
  const secrets: string[] = [];
  const note = (secret: string): string => {
    secrets.push(secret);
    return secret;
  };
  const clear = openSecrets(variables, (sealed) => note(tools.unseal(sealed))) as typeof variables;
  // Those that earlier versions stored in clear.
  sealSecrets(clear, undefined, (secret) => ({ $sealed: note(secret), tag: '' }));
  return { variables: clear, secrets };
};

/** The outcome of a work; of one that a text or a device refuses, the reason. */
const orReason = async <T>(work: () => Promise<T>): Promise<T | { readonly reason: string }> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError && ['unprocessable', 'adapter_failed'].includes(error.code))
      return { reason: error.message };
    throw error;
  }
};

const options = Type.Object(
  {
    treeId: name('Id or name of the tree'),
    version: name('Name of the version'),
    nodePath: Type.Optional(
      Type.String({ minLength: 1, description: 'Names from the root, joined by /; the root unless given' }),
    ),
    deviceName: name('Name of the device'),
    configuration: Type.Optional(
      Type.String({ description: 'Its configuration; without it, the device is read now', minLength: 1 }),
    ),
    dryRun: Type.Literal(true, { description: 'Nothing is stored' }),
  },
  { additionalProperties: false, description: 'What is compared' },
);

const check = async (call: Call<string, { readonly options: Static<typeof options> }>, service: Service) => {
  const { actor, body, traceparent, abandoned } = call;
  const { treeId, version, nodePath, deviceName, configuration } = body.options;
  if (configuration !== undefined && Buffer.byteLength(configuration) > mostBytes)
    throw new RequestError('too_large', `A configuration may have ${mostBytes} bytes`, {
      path: '/options/configuration',
    });
  const { id } = await service.entry(trees, treeId, actor);
  const state = await service.tools.state(tree, id);
  const node = checkedNode(state, id, { version, nodePath });
  const visible = service.devices.seenBy(actor);
  // A device that is to be read must be there.
  if (configuration === undefined) await visible.find(deviceName);
  const device = await knownOf(deviceName, { actor, service });
  const { texts, variables, deviceType } = checkOf(state, node, device);
  const signal = abandoned();
  const read = await orReason(async () =>
    configuration === undefined ? await visible.calls(traceparent, signal).configuration(deviceName) : configuration,
  );
  const about = {
    ...node,
    device: deviceName,
    deviceType,
    timestamp: new Date(service.moment().now).toISOString(),
    configuration: typeof read === 'string' ? { digest: service.digest(read), lines: linesOf(read) } : null,
  };
  if (typeof read !== 'string') return reportOf(about, read);
  const outcome = await orReason(async () =>
    service.renderer.compare(
      { texts, deviceType, configuration: read, ...openVariables(variables, service) },
      { account: actor.id, signal },
    ),
  );
  return reportOf(about, outcome);
};

/** Checks of configurations against golden ones. */
export const complianceReportRoutes: readonly Route[] = [
  actionRoute({
    name: 'checkConfiguration',
    method: 'post',
    path: '/compliance_reports/config',
    access: ['operators', 'readers'],
    large: true,
    summary: 'Compare a configuration with a golden one',
    description:
      'A text that is sent, or that of the device, against the texts of a node and of all nodes above it. What cannot ' +
      'be read or compared has the status error and the reason, and no score (docs/comparing.md).',
    body: Type.Object({ options }, { additionalProperties: false }),
    answer: reportSchema,
    run: async (call, service) => ({ body: await check(call, service) }),
  }),
];
