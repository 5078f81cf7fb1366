import { Type } from 'typebox';
import {
  begin,
  type ChangeRow,
  type ChangeStart,
  configurationChange,
  devicesWaiting,
  end,
  noteTrial,
  report,
} from '../../domain/configuration-manager/configurationChanges.ts';
import { deviceConfiguration } from '../../domain/configuration-manager/deviceConfigurations.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { commandsOf, noInput } from '../engine/define.ts';

const command = commandsOf(configurationChange);

/** The id of the change of one device by a job. It follows from both, so that no run sends it twice. */
export const changeOf = (job: string, device: string): string => derivedId(`change ${job} ${device}`);

/** Parts of a job that changes devices. */
export const beginConfigurationChange = command({
  name: 'beginConfigurationChange',
  input: Type.Unsafe<ChangeStart>({}),
  on: 'any',
  decide: begin,
});
export const noteConfigurationTrial = command({
  name: 'noteConfigurationTrial',
  input: noInput,
  on: 'existing',
  decide: noteTrial,
});
export const reportConfigurationChange = command({
  name: 'reportConfigurationChange',
  input: Type.Unsafe<{ readonly rows: readonly ChangeRow[] }>({}),
  on: 'existing',
  decide: report,
});

/** Part of a job that changes devices, and of what follows from its end. */
export const endConfigurationChange = command({
  name: 'endConfigurationChange',
  input: noInput,
  on: 'any',
  prepare: async ({ id, state }, tools) => {
    const calls = new Map<string, string>();
    for (const device of state.ended ? [] : devicesWaiting(state)) {
      const change = changeOf(id, device);
      if ((await tools.state(deviceConfiguration, change)).about) calls.set(device, change);
    }
    return { calls };
  },
  decide: end,
});
