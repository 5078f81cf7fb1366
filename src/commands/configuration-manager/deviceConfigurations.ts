import { isObject } from '@automation-platform/json';
import {
  attempt,
  attemptSchema,
  conclude,
  confirm,
  deviceConfiguration,
  outcomeSchema,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { commandsOf, noInput } from '../engine/define.ts';

const command = commandsOf(deviceConfiguration);

/** How many lines a configuration text has. */
export const linesOf = (config: string): number => {
  let lines = config.endsWith('\n') ? 0 : 1;
  for (let at = config.indexOf('\n'); at >= 0; at = config.indexOf('\n', at + 1)) lines++;
  return lines;
};

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

export const confirmDeviceConfig = command({
  name: 'confirmDeviceConfig',
  input: noInput,
  on: 'existing',
  decide: confirm,
});

/** Why there is no answer that is a success. `text`: the body of the answer as JSON; null if there was none. */
type Refused = { readonly status: number | null; readonly text: string | null; readonly reason?: string | undefined };

/** The error for a configuration that a device did not take. */
export const refusedBy = (adapter: string | undefined, { status, text, reason }: Refused): RequestError => {
  const body: unknown = text === null ? null : JSON.parse(text);
  const words = reason ?? wordsIn(body) ?? `Adapter ${JSON.stringify(adapter)}: the answer has status ${status}`;
  return new RequestError('adapter_failed', words, { metadata: { adapter: { name: adapter, status, body } } });
};

const longestWords = 300;

/** The reason that the other side gives for its refusal, on one line; undefined if it gives none. */
const wordsIn = (body: unknown): string | undefined => {
  const message = isObject(body) && typeof body.message === 'string' ? body.message : undefined;
  return (
    message
      ?.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim()
      .slice(0, longestWords) || undefined
  );
};
