import {
  attempt,
  attemptSchema,
  conclude,
  deviceConfiguration,
  outcomeSchema,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import type { RequestError } from '../../domain/engine/requestError.ts';
import { commandsOf } from '../engine/define.ts';

const command = commandsOf(deviceConfiguration);

/** How many lines a configuration text has. */
export const linesOf = (config: string): number => config.split('\n').length - (config.endsWith('\n') ? 1 : 0);

/**
 * The stored outcome of a call that failed: the reason, and status and body of the adapter's answer if there was one.
 */
export const withoutAnswer = (error: RequestError) => {
  const { status = null, body = null } = (error.metadata.adapter ?? {}) as {
    readonly status?: number | null;
    readonly body?: unknown;
  };
  return { status, text: body === null ? null : JSON.stringify(body), reason: error.message };
};

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
