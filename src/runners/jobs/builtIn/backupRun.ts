import { runAtOnce } from '@automation-platform/concurrency';
import type { DeviceCopies } from '../../../commands/configuration-manager/deviceBackups.ts';
import { orReason } from '../../../commands/configuration-manager/deviceChecks.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { areBackupWords, type BackupWords, deviceBackup } from '../../../domain/configuration-manager/deviceBackups.ts';
import { usualThrottle } from '../../../domain/configuration-manager/planSchemas.ts';
import type { ReadModel } from '../../../projections/engine/port.ts';
import type { Devices } from '../../../southbound/port.ts';
import { derivedId } from '../../../store/derivedIds.ts';
import { namedDevices } from './namedDevices.ts';
import { type Operation, RunEnded } from './run.ts';
import { devicesSeen } from './seenDevices.ts';

type Needs = {
  readonly tools: Tools;
  readonly model: ReadModel;
  readonly devices: Devices;
  readonly copies: Pick<DeviceCopies, 'store'>;
};

/** How many rows of each kind the variables of the job have. */
const mostRows = 1000;

const wordsIn = (options: unknown): BackupWords => {
  if (options === undefined) return {};
  if (areBackupWords(options)) return options;
  throw new RunEnded('The variable options may have the texts description and notes');
};

/**
 * Copies the configurations of devices. A run only reads. The id of a copy follows from job and device: a run that was broken
 * off goes on with the devices that have none.
 */
export const backupRun = ({ tools, model, devices, copies }: Needs): Operation => {
  const namedIn = namedDevices({ tools, model, devices });
  return async (run) => {
    const { job, inputs, started, signal, step } = run;
    const actor = await step();
    const words = wordsIn(inputs.options);
    const { names, failed } = await namedIn(inputs, actor);
    const backups: { readonly device: string; readonly id: string }[] = [];

    const copyOne = async (name: string): Promise<void> => {
      const id = derivedId(`backup ${job} ${name}`);
      const { copy: before } = await tools.state(deviceBackup, id);
      if (before?.source.kind === 'inventory') run.names(before.source.id);
      if (!before) {
        const visible = devicesSeen(devices, await step(), run);
        const read = await orReason(async () => ({
          found: await visible.find(name),
          text: await visible.calls(started.metadata.traceparent, signal).configuration(name),
        }));
        // A call that was broken off says nothing of the device.
        signal.throwIfAborted();
        if ('reason' in read) return void failed.push({ device: name, reason: read.reason });
        if (read.text.trim() === '')
          return void failed.push({ device: name, reason: 'The device has an empty configuration' });
        const evaluation = { account: started.metadata.actor.id, signal };
        await copies.store({ ...requestFor(started), id }, { ...read, ...words }, evaluation);
      }
      backups.push({ device: name, id });
    };

    await runAtOnce(names, usualThrottle, copyOne);
    const totals = { copied: backups.length, failed: failed.length };
    return { totals, backups: backups.slice(0, mostRows), failed: failed.slice(0, mostRows) };
  };
};
