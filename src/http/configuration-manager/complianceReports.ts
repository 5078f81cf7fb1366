import { type Static, Type } from 'typebox';
import { compareAlone, deviceChecks, orReason } from '../../commands/configuration-manager/deviceChecks.ts';
import { reportSchema, whyNotCompared } from '../../domain/configuration-manager/complianceReports.ts';
import { tree } from '../../domain/configuration-manager/trees.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';
import { checkedNode } from './nodeConfigs.ts';

const mostBytes = 4 * 1024 * 1024;

const options = closed(
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
  { description: 'The subject of the comparison' },
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
  const { digest, devices, renderer, tools, model } = service;
  // A device that is to be read must be there.
  const visible = devices.seenBy(actor);
  if (configuration === undefined) await visible.find(deviceName);
  const signal = abandoned();
  const checks = deviceChecks({
    tools,
    model,
    devices,
    digest,
    compare: compareAlone(renderer.compare, { account: actor.id, signal }),
  });
  const read = async (): Promise<string> =>
    configuration ?? (await visible.calls(traceparent, signal).configuration(deviceName));
  const report = await checks.check(state, node, {
    configuration: await orReason(read),
    device: (await checks.factsOf(deviceName, actor)).device,
    timestamp: new Date(service.moment().now).toISOString(),
  });
  const reason = whyNotCompared(report.deviceType);
  if (reason !== undefined) throw new RequestError('conflict', reason);
  return report;
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
      'A text that is sent, or that of the device, against the texts of a node and of all nodes above it. A line that cannot ' +
      'be read or compared has the status error and the reason, and no score (docs/comparing.md).',
    body: closed({ options }),
    answer: reportSchema,
    run: async (call, service) => ({ body: await check(call, service) }),
  }),
];
