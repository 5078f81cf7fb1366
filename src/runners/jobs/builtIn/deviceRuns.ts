import { hash } from 'node:crypto';
import {
  attemptDeviceConfig,
  concludeDeviceConfig,
  linesOf,
  withoutAnswer,
} from '../../../commands/configuration-manager/deviceConfigurations.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import type { DeviceConfigurationState } from '../../../domain/configuration-manager/deviceConfigurations.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { RequestError } from '../../../domain/engine/requestError.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import type { Devices } from '../../../southbound/port.ts';
import { type Operation, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'unseal'>;
  readonly devices: Pick<Devices, 'find' | 'calls'>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
};

const textIn = (value: unknown, what: string): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw new RunEnded(`The input ${what} must be a text`);
};

/** Operations on devices. */
export const deviceRuns = ({ handle, tools, devices, digest }: Needs) => {
  const getDevice: Operation = async ({ inputs, step }) => {
    await step();
    const { adapter, device } = await devices.find(textIn(inputs.name, 'name'));
    return { device: { ...device, adapter } };
  };

  /**
   * Stores the attempt, calls the device, then stores the outcome. The device's answer may repeat the configuration, so it
   * is no output.
   */
  const applyDeviceConfig: Operation = async ({ inputs, key, started, signal, step, acts }) => {
    const name = textIn(inputs.device, 'device');
    const config = textIn(openSecrets(inputs.config, tools.unseal), 'config');
    await step();
    const { adapter, device } = await devices.find(name);
    const about = { ...requestFor(started), id: hash('sha256', `configuration ${key}`, 'hex').slice(0, 24) };
    const facts = { adapter, device: device.name, digest: digest(config), lines: linesOf(config) };
    acts();
    await handle(attemptDeviceConfig, { ...about, input: facts });
    const call = devices.calls(started.metadata.traceparent, signal).apply(adapter, device, config, {});
    const input = await call.then(
      ({ status, text, unverified }) => defined({ status, text, unverified }),
      (error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof RequestError) return withoutAnswer(error);
        throw error;
      },
    );
    const { state } = await handle(concludeDeviceConfig, { ...about, input });
    const { outcome } = state as DeviceConfigurationState; // the state of the command's own aggregate
    const status = outcome?.status ?? null;
    if (!outcome?.applied)
      throw new RunEnded(outcome?.reason ?? `Adapter ${JSON.stringify(adapter)}: the answer has status ${status}`);
    return { result: { device: device.name, adapter, status } };
  };

  return { getDevice, applyDeviceConfig };
};
