import type { DeviceGroupContent, DeviceQuery } from '../../domain/configuration-manager/deviceGroups.ts';
import type { DeviceSource } from '../../domain/configuration-manager/deviceSources.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Tools } from '../engine/define.ts';
import { deviceSources } from './devices.ts';

type Group = Pick<DeviceGroupContent, 'devices' | 'query'>;

type Needs = Parameters<typeof deviceSources>[0] & {
  /** The names of sources in the order in which they are searched for a device. */
  readonly devices: { readonly order: () => readonly string[] };
  readonly tools: Tools;
};

/** The devices of a query, all of them, or one of this name. */
const devicesAsked = ({ tags, ostype, inventory }: DeviceQuery, name?: string) => ({
  filter: { ...defined({ tags, ostype, name }), exact: true },
  isWanted: (source: DeviceSource): boolean =>
    inventory === undefined || (source.kind === 'inventory' && source.name === inventory),
  order: 1 as const,
});

/** The devices of groups. A list is the text that was written; a query has the devices that fit it now and that the actor sees. */
export const groupMembers = ({ tools, model, devices }: Needs) => ({
  devicesOf: async ({ devices: listed, query }: Group, actor: Actor): Promise<readonly string[]> =>
    query ? deviceSources({ tools, model }).names(devicesAsked(query), actor, devices.order()) : listed,

  has: async ({ devices: listed, query }: Group, device: string, actor: Actor): Promise<boolean> => {
    if (!query) return listed.includes(device);
    const one = { ...devicesAsked(query, device), start: 0, limit: 1 };
    return (await deviceSources({ tools, model }).list(one, actor, devices.order())).total > 0;
  },
});
