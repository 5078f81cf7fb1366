import type { DeviceChanges } from '../../../commands/configuration-manager/deviceChanges.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { RequestError } from '../../../domain/engine/requestError.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import { UnknownOutcome } from '../../../southbound/failure.ts';
import type { Devices } from '../../../southbound/port.ts';
import { idBy } from './once.ts';
import { type OperationFor, RunEnded } from './run.ts';
import { devicesSeen } from './seenDevices.ts';

type Needs = {
  readonly tools: Pick<Tools, 'unseal'>;
  readonly devices: Pick<Devices, 'seenBy'>;
  readonly changes: DeviceChanges;
};

/** Operations on devices. */
export const deviceRuns = ({ tools, devices, changes }: Needs) => {
  const getDevice: OperationFor<'ConfigurationManager.getDevice'> = async (run) => {
    const { source, device } = await devicesSeen(devices, await run.step(), run).find(run.inputs.name);
    return { device: { ...device, adapter: source.name } };
  };

  /** True if the device answers. Throws `not_found` if nobody knows it. */
  const isAlive: OperationFor<'ConfigurationManager.isAlive'> = async (run) => {
    const {
      inputs: { name },
      started,
      signal,
      step,
    } = run;
    const visibleDevices = devicesSeen(devices, await step(), run);
    await visibleDevices.find(name);
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
    const visibleDevices = devicesSeen(devices, await step(), run);
    const found = await visibleDevices.find(inputs.device);
    const { source, device } = found;
    const adapter = source.name;
    const { state } = await changes
      .change(
        {
          id: idBy('configuration', key),
          about: requestFor(started),
          found,
          config,
          options: {},
          calls: (inTurn) => visibleDevices.calls(started.metadata.traceparent, inTurn),
          signal,
          mayBackUp: true,
          acts,
        },
        (error) => signal.aborted || error instanceof UnknownOutcome,
      )
      .catch((error: unknown) => {
        signal.throwIfAborted();
        // No outcome is stored, so nobody takes the attempt for one that may be repeated.
        if (error instanceof UnknownOutcome) throw new RunEnded(error.message);
        throw error;
      });
    const { outcome } = state;
    const status = outcome?.status ?? null;
    if (!outcome?.applied)
      throw new RunEnded(outcome?.reason ?? `Adapter ${JSON.stringify(adapter)}: the answer has status ${status}`);
    return { result: { device: device.name, adapter, status } };
  };

  return { getDevice, isAlive, applyDeviceConfig };
};
