import { groupMembers } from '../../../commands/configuration-manager/groupMembers.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import { deviceGroups } from '../../../projections/configuration-manager/deviceGroups.ts';

/** A device that a run cannot take, or a group that is gone. */
export type DeviceFailure = { readonly device: string; readonly reason: string };

/** The devices of the groups, which are named by id or name, as the actor sees them. Groups that are gone are failures. */
export const groupDevices = (needs: Parameters<typeof groupMembers>[0] & { readonly tools: Tools }) => {
  const { tools } = needs;
  const members = groupMembers(needs);
  return async (groups: readonly string[], actor: Actor, failures: DeviceFailure[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const group of groups) {
      const id = await tools.find(deviceGroups, group);
      const doc = id === undefined ? undefined : await tools.shown(deviceGroups, id);
      if (doc) found.push(...(await members.devicesOf(doc, actor)));
      else failures.push({ device: group, reason: `There is no device group ${JSON.stringify(group)}` });
    }
    return found;
  };
};
