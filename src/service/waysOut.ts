import { join } from 'node:path';
import { storedAdapters } from '../commands/configuration-manager/adapters.ts';
import type { Config } from '../config.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import type { Node } from '../node.ts';
import { devicesOf } from '../southbound/devices.ts';
import { engines, simulationLimits } from '../southbound/engines/engines.ts';
import { outbound } from '../southbound/outbound.ts';
import { restCaller } from '../southbound/restCall.ts';
import { httpWebhook } from '../southbound/webhook.ts';
import { esdbHosts } from '../store/url.ts';

type Needs = {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'READSTORE_URL' | 'OUTBOUND_ALLOW' | 'DATA_DIR'>;
  readonly node: Pick<Node, 'tools' | 'unseal'>;
  readonly settings: Pick<ActiveSettings, 'current' | 'onChange'>;
};

/** Opens the ways out: devices, webhooks of agents, and the engines of templates and expressions. */
export const openWaysOut = ({ config, node, settings }: Needs) => {
  const guard = outbound({ allowed: config.OUTBOUND_ALLOW, stores: hostsOfStores(config) });
  const renderer = engines(() => settings.current().transformationWorkerCount);
  settings.onChange(renderer.resize);
  const simulator = engines(() => 1, simulationLimits);
  return {
    webhook: httpWebhook(guard, node.unseal),
    rest: restCaller(guard),
    renderer,
    simulator,
    devices: devicesOf({
      adapters: (device) => storedAdapters(node.tools, device),
      order: () => settings.current().adapterOrder,
      unseal: node.unseal,
      guard,
      labFolder: join(config.DATA_DIR, 'lab'),
    }),
  };
};

export type WaysOut = ReturnType<typeof openWaysOut>;

/** The hosts of the platform's own stores. No request may make the service call them. */
const hostsOfStores = ({ EVENTSTORE_URL: log, READSTORE_URL: readModels }: Needs['config']): readonly string[] => {
  const hosts = 'url' in log ? [...esdbHosts(log.url)] : [];
  if (readModels !== undefined) hosts.push(new URL(readModels).hostname.replace(/^\[|\]$/g, ''));
  return hosts;
};
