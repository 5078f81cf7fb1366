import { join } from 'node:path';
import { storedAdapters } from '../commands/configuration-manager/adapters.ts';
import type { Config } from '../config.ts';
import type { Node } from '../node.ts';
import { devicesOf } from '../southbound/devices.ts';
import { engines } from '../southbound/jinja/engines.ts';
import { outbound } from '../southbound/outbound.ts';
import { httpWebhook } from '../southbound/webhook.ts';
import { esdbHosts } from '../store/url.ts';

type Needs = {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'READSTORE_URL' | 'OUTBOUND_ALLOW' | 'DATA_DIR'>;
  readonly node: Pick<Node, 'tools' | 'unseal'>;
  /** Names of adapters in the order in which they are asked for a device. */
  readonly adapterOrder: () => readonly string[];
};

/** Opens the ways out: devices, webhooks of agents, and the engines of templates and expressions. */
export const openWaysOut = ({ config, node, adapterOrder }: Needs) => {
  const guard = outbound({ allowed: config.OUTBOUND_ALLOW, stores: hostsOfStores(config) });
  return {
    webhook: httpWebhook(guard, node.unseal),
    renderer: engines(),
    devices: devicesOf({
      adapters: (device) => storedAdapters(node.tools, device),
      order: adapterOrder,
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
