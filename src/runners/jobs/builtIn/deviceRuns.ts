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
import { UnknownOutcome } from '../../../southbound/failure.ts';
import type { Devices } from '../../../southbound/port.ts';
import { idBy } from './once.ts';
import { type OperationFor, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'unseal'>;
  readonly devices: Pick<Devices, 'seenBy'>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
};

/** Operations on devices. */
export const deviceRuns = ({ handle, tools, devices, digest }: Needs) => {
  const getDevice: OperationFor<'ConfigurationManager.getDevice'> = async ({ inputs, step }) => {
    const { source, device } = await devices.seenBy(await step()).find(inputs.name);
    return { device: { ...device, adapter: source.name } };
  };

  /** True if the device answers. Throws `not_found` if nobody knows it. */
  const isAlive: OperationFor<'ConfigurationManager.isAlive'> = async ({ inputs: { name }, started, signal, step }) => {
    const visibleDevices = devices.seenBy(await step());
    try {
      await visibleDevices.calls(started.metadata.traceparent, signal).reach(name);
      return { status: true };
    } catch (error) {
      if (error instanceof RequestError && ['adapter_failed', 'conflict'].includes(error.code))
        return { status: false };
      throw error;
    }
  };

  /**
   * Stores the attempt, calls the device, then stores the outcome. The device's answer may repeat the configuration, so it
   * is no output.
   */
  const applyDeviceConfig: OperationFor<'ConfigurationManager.applyDeviceConfig'> = async (run) => {
    const { inputs, key, started, signal, step, acts } = run;
    const config = openSecrets(inputs.config, tools.unseal) as string;
    const visibleDevices = devices.seenBy(await step());
    const found = await visibleDevices.find(inputs.device);
    const { source, device } = found;
    const adapter = source.name;
    const about = { ...requestFor(started), id: idBy('configuration', key) };
    const facts = { adapter, device: device.name, digest: digest(config), lines: linesOf(config) };
    acts();
    await handle(attemptDeviceConfig, { ...about, input: facts });
    const call = visibleDevices.calls(started.metadata.traceparent, signal).apply(found, config, {});
    const input = await call.then(
      ({ status, text, unverified, account }) => defined({ status, text, unverified, account }),
      (error: unknown) => {
        signal.throwIfAborted();
        // No outcome is stored, so nobody takes the attempt for one that may be repeated.
        if (error instanceof UnknownOutcome) throw new RunEnded(error.message);
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

  return { getDevice, isAlive, applyDeviceConfig };
};
