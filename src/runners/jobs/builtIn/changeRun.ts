import { gathering, runAtOnce } from '@automation-platform/concurrency';
import { isObject } from '@automation-platform/json';
import {
  beginConfigurationChange,
  changeOf,
  endConfigurationChange,
  noteConfigurationTrial,
  reportConfigurationChange,
} from '../../../commands/configuration-manager/configurationChanges.ts';
import type { DeviceChanges } from '../../../commands/configuration-manager/deviceChanges.ts';
import { orReason } from '../../../commands/configuration-manager/deviceChecks.ts';
import { refusedBy } from '../../../commands/configuration-manager/deviceConfigurations.ts';
import type { DeviceTexts } from '../../../commands/configuration-manager/deviceTemplates.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { noteJobInventories } from '../../../commands/operations-manager/jobs.ts';
import {
  type ChangeRow,
  type ChangeStart,
  type Changes,
  type ChangesOptions,
  changesIn,
  configurationChange,
  devicesToSend,
  totalsOf,
  unknownRow,
} from '../../../domain/configuration-manager/configurationChanges.ts';
import {
  type DeviceConfigurationEvent,
  deviceConfiguration,
  isApplied,
} from '../../../domain/configuration-manager/deviceConfigurations.ts';
import { deviceTemplate } from '../../../domain/configuration-manager/deviceTemplates.ts';
import { usualThrottle } from '../../../domain/configuration-manager/planSchemas.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import { deviceTemplates } from '../../../projections/configuration-manager/deviceTemplates.ts';
import type { ReadModel } from '../../../projections/engine/port.ts';
import { UnknownOutcome } from '../../../southbound/failure.ts';
import type { Devices, FoundDevice } from '../../../southbound/port.ts';
import type { Recorded } from '../../../store/event.ts';
import { namedDevices } from './namedDevices.ts';
import { type Operation, type Run, RunEnded } from './run.ts';
import { devicesSeen } from './seenDevices.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly model: ReadModel;
  readonly devices: Pick<Devices, 'seenBy' | 'order' | 'stopping'>;
  readonly changes: Pick<DeviceChanges, 'change' | 'dryRun'>;
  readonly texts: DeviceTexts;
};

/** The text that each device is sent, and how. */
type Sending = {
  readonly options: ChangesOptions;
  readonly textFor: (found: FoundDevice, actor: Actor) => Promise<string>;
};

const outcomeTopics = ['deviceConfigurationApplied', 'deviceConfigurationFailed'];

type StoredOutcome = Extract<DeviceConfigurationEvent, { readonly topic: 'deviceConfigurationApplied' }>['data'];

/** The outcome of a call. `text`: the answer, if there was one. */
type Outcome = {
  readonly adapter: string;
  readonly status: number | null;
  readonly text: () => string | null;
  readonly reason?: string | undefined;
  readonly unverified?: true | undefined;
  readonly account?: Pick<StoredOutcome, 'unrecognized' | 'warnings' | 'backups' | 'diff'> | undefined;
};

/** The row of a device that was called. */
const rowOf = (device: string, change: string, outcome: Outcome): ChangeRow => {
  const { adapter, status, text, reason, unverified } = outcome;
  const { unrecognized = [], warnings = [], backups, diff } = outcome.account ?? {};
  const row = { device, change, ...defined({ backups, diff }) };
  if (!isApplied(status))
    return { ...row, status: 'failed', reason: refusedBy(adapter, { status, text: text(), reason }).message };
  if (!unverified) return { ...row, status: 'sent' };
  const words = unrecognized[0] ?? warnings[0] ?? 'The configuration of the device does not show all of it';
  return { ...row, status: 'unverified', reason: words };
};

/** Sends a configuration to single devices. */
const oneByOne = ({ tools, devices, changes }: Needs, run: Run, { options, textFor }: Sending) => {
  const { job, started, step } = run;
  /** The row of a device that was called before; undefined: it was not. */
  const rowOfCall = async (device: string): Promise<ChangeRow | undefined> => {
    const change = changeOf(job, device);
    const { state, revision } = await tools.version(deviceConfiguration, change);
    if (!state.about) return undefined;
    const events = await tools.events(deviceConfiguration, change, revision);
    const outcome = events.find(({ topic }) => outcomeTopics.includes(topic)) as Recorded<StoredOutcome> | undefined;
    if (!outcome) return unknownRow(device, change);
    const { adapter, status, answer, reason, unverified, ...account } = outcome.data;
    const text = () => (answer === null ? null : tools.unseal(answer));
    return rowOf(device, change, { adapter, status, text, reason, unverified, account });
  };

  /** A change of the device, with the rights of now. A call that has begun comes to its end, whatever becomes of the job. */
  const changeOfDevice = async (device: string) => {
    const actor = await step();
    const visible = devicesSeen(devices, actor, run);
    const found = await visible.find(device);
    await visible.checkCredentials(device);
    return {
      id: changeOf(job, device),
      about: requestFor(started),
      found,
      config: await textFor(found, actor),
      options,
      calls: (inTurn: AbortSignal) => visible.calls(started.metadata.traceparent, inTurn),
      signal: devices.stopping,
      mayBackUp: true,
    };
  };

  return {
    /** Tries it out. `reason`: why it is refused. */
    tryOut: (device: string): Promise<{ readonly diff: string | null } | { readonly reason: string }> =>
      orReason(async () => {
        const change = await changeOfDevice(device);
        const { status, text } = await changes.dryRun(change);
        if (status > 299) throw refusedBy(change.found.source.name, { status, text });
        const body: unknown = JSON.parse(text);
        return { diff: isObject(body) && typeof body.diff === 'string' ? body.diff : null };
      }),

    /** Sends it, unless that was done before. */
    send: async (device: string): Promise<ChangeRow> => {
      const before = await rowOfCall(device);
      if (before) return before;
      let failure: unknown;
      const result = await orReason(async () =>
        changes.change(await changeOfDevice(device), (error) => error instanceof UnknownOutcome),
      ).catch((error: unknown) => {
        failure = error;
        return { reason: '' };
      });
      if ('outcome' in result && result.outcome) {
        const { text, ...outcome } = result.outcome;
        const { adapter = '' } = result.state.about ?? {};
        return rowOf(device, changeOf(job, device), { ...outcome, adapter, text: () => text });
      }
      const after = await rowOfCall(device);
      if (after) return after;
      if (failure !== undefined) throw failure;
      return { device, status: 'notSent', ...('reason' in result && { reason: result.reason }) };
    },
  };
};

/**
 * Changes many devices: a row for each. The devices are stored as it begins, and each attempt before its device is called: a run
 * that was broken off goes on with the devices that were not called, and sends nothing twice.
 */
export const changeRun = (needs: Needs): Operation => {
  const { handle, tools } = needs;
  const namedIn = namedDevices(needs);

  /** The device template as it is now. */
  const templateNow = async (idOrName: string) => {
    const id = await tools.find(deviceTemplates, idOrName);
    const { state, revision } = await tools.version(deviceTemplate, id ?? '');
    if (id === undefined || !state.exists)
      throw new RunEnded(`There is no device template ${JSON.stringify(idOrName)}`);
    return { id, revision };
  };

  /**
   * The devices of the run, as they were stored when it began. Their readers must see their inventories, so the job names these
   * before.
   */
  const begin = async (
    { job, started, step }: Run,
    { template, ...changes }: Pick<Changes, 'devices' | 'deviceGroups' | 'template'>,
  ) => {
    if ((await tools.state(configurationChange, job)).devices) return;
    const actor = await step();
    const { names, failed } = await namedIn(changes, actor);
    if (failed[0]) throw new RunEnded(`Nothing was sent. ${failed[0].reason}`);
    const inventories = await needs.devices.seenBy(actor).inventoriesOf(names);
    await handle(noteJobInventories, { ...requestFor(started), id: job, input: { inventories } });
    const input = { job, devices: names, ...defined({ template: template && (await templateNow(template)) }) };
    await handle(beginConfigurationChange, { ...requestFor(started), id: job, input });
  };

  /** The text for each device: the same for all, or by a template. */
  const textsOf = async (
    { signal }: Run,
    { config, variables = {} }: Exclude<ReturnType<typeof changesIn>, { readonly fault: string }>['changes'],
    template: ChangeStart['template'],
  ): Promise<Sending['textFor']> => {
    if (!template) {
      const text = openSecrets(config, tools.unseal) as string;
      return async () => text;
    }
    const { content } = (await tools.version(deviceTemplate, template.id, template.revision)).state;
    return (found, actor) => needs.texts(content, { found, actor, variables, signal });
  };

  return async (run) => {
    const { job, inputs, started, step } = run;
    const wish = changesIn(inputs);
    if ('fault' in wish) throw new RunEnded(`The variables are no change of devices: ${wish.fault}`);
    const { options: { dryRunFirst = false, ...options } = {}, throttle, stopAfterFailures } = wish.changes;
    await begin(run, wish.changes);
    const about = { ...requestFor(started), id: job };
    const state = () => tools.state(configurationChange, job);
    const textFor = await textsOf(run, wish.changes, (await state()).template);
    const one = oneByOne(needs, run, { options, textFor });
    /** Stores a row, with all that came while the former ones were being stored. */
    const report = gathering({
      work: async (rows: readonly ChangeRow[]) => {
        await handle(reportConfigurationChange, { ...about, input: { rows: [...rows] } });
        return rows.map(() => undefined);
      },
    });
    const onEach = async (work: (device: string) => Promise<void>): Promise<void> => {
      const isStopped = async () => stopAfterFailures !== undefined && (await state()).failures >= stopAfterFailures;
      await runAtOnce(devicesToSend(await state()), throttle ?? usualThrottle, async (device) => {
        await step();
        if (!(await isStopped())) await work(device);
      });
    };
    const end = async () => {
      await handle(endConfigurationChange, { ...about, input: {} });
      return totalsOf(await state());
    };

    if (options.dryRun) {
      await onEach(async (device) => {
        const trial = await one.tryOut(device);
        await report({
          device,
          ...('reason' in trial ? { status: 'failed', ...trial } : { status: 'dryRun', ...trial }),
        });
      });
    } else {
      if (dryRunFirst && !(await state()).triedOut) {
        await onEach(async (device) => {
          const trial = await one.tryOut(device);
          if ('reason' in trial) await report({ device, status: 'notSent', reason: trial.reason });
        });
        if ((await state()).failures > 0) {
          const totals = await end();
          throw new RunEnded('Nothing was sent: not all devices take it', { totals });
        }
        await handle(noteConfigurationTrial, { ...about, input: {} });
      }
      await onEach(async (device) => report(await one.send(device)));
    }
    const totals = await end();
    const faults = totals.failed + totals.unknown + totals.notSent;
    if (faults > 0)
      throw new RunEnded(`${faults} ${faults === 1 ? 'device' : 'devices'} did not take it, or it is not known`, {
        totals,
      });
    return { totals };
  };
};
