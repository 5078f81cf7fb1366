import type { Members } from '@automation-platform/json';
import type { Actor } from '../../../domain/engine/core.ts';
import { type DeviceFailure, groupDevices } from './groupDevices.ts';
import { RunEnded } from './run.ts';

const mostDevices = 10_000;

/** The names in a variable of a job; none if it is not given. Ends the run for anything but a list of names. */
export const namesIn = (value: unknown, variable: string): readonly string[] => {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')) return value;
  throw new RunEnded(`The variable ${variable} must be a list of names`);
};

/**
 * The devices that the variables `devices` and `deviceGroups` of a job name, each once, as the actor sees them. Groups that are
 * gone are failures.
 */
export const namedDevices = (needs: Parameters<typeof groupDevices>[0]) => {
  const devicesIn = groupDevices(needs);
  return async (
    { devices, deviceGroups }: Members,
    actor: Actor,
  ): Promise<{
    readonly names: readonly string[];
    readonly failed: DeviceFailure[];
  }> => {
    const failed: DeviceFailure[] = [];
    const ofGroups = await devicesIn(namesIn(deviceGroups, 'deviceGroups'), actor, failed);
    const names = [...new Set([...namesIn(devices, 'devices'), ...ofGroups])];
    if (names.length === 0) throw new RunEnded('The variables name no devices');
    if (names.length > mostDevices)
      throw new RunEnded(`A run may have ${mostDevices} devices; these are ${names.length}`);
    return { names, failed };
  };
};
