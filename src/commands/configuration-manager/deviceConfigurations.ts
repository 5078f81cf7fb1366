import {
  attempt,
  attemptSchema,
  conclude,
  deviceConfiguration,
  outcomeSchema,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import { commandsOf } from '../engine/define.ts';

const command = commandsOf(deviceConfiguration);

export const attemptDeviceConfig = command({
  name: 'attemptDeviceConfig',
  input: attemptSchema,
  on: 'new',
  decide: attempt,
});

/** The answer may repeat parts of the configuration, so it is sealed. */
export const concludeDeviceConfig = command({
  name: 'concludeDeviceConfig',
  input: outcomeSchema,
  on: 'existing',
  decide: conclude,
  prepare: async ({ input: { text } }, { seal }) => ({ answer: text === null ? null : seal(text) }),
});
