import { semaphore } from '@automation-platform/concurrency';
import { deviceChanges } from '../../../src/commands/configuration-manager/deviceChanges.ts';
import {
  attemptDeviceConfig,
  concludeDeviceConfig,
} from '../../../src/commands/configuration-manager/deviceConfigurations.ts';
import { deviceConfirmations } from '../../../src/commands/configuration-manager/deviceConfirmations.ts';
import { deviceTurns } from '../../../src/commands/configuration-manager/deviceTurns.ts';
import { startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { type ChangeRow, configurationChange } from '../../../src/domain/configuration-manager/configurationChanges.ts';
import { deviceConfiguration } from '../../../src/domain/configuration-manager/deviceConfigurations.ts';
import { type JobStarted, job } from '../../../src/domain/operations-manager/jobs.ts';
import { changeRows } from '../../../src/projections/configuration-manager/configurationChanges.ts';
import { changeRun } from '../../../src/runners/jobs/builtIn/changeRun.ts';
import { RunEnded } from '../../../src/runners/jobs/builtIn/run.ts';
import type { Devices } from '../../../src/southbound/port.ts';
import type { Recorded } from '../../../src/store/event.ts';
import { context } from '../given.ts';
import type { Place, Work } from './works.ts';

const names = Array.from({ length: 50 }, (_, i) => `sw-${i}`);

/** How often each device was sent a configuration, or a confirmation, since `prepare`. */
let calls = new Map<string, number>();
const reset = async (): Promise<void> => {
  calls = new Map();
};
const called = async (device: string) => {
  calls.set(device, (calls.get(device) ?? 0) + 1);
  return { status: 200, text: '{"status":"success"}' };
};

const foundAs = (name: string) => ({
  source: { kind: 'adapter' as const, name: 'farm', id: 'farm' },
  type: 'lab' as const,
  device: { name },
  abilities: { read: true, confirm: true, replace: true, tryOut: true, undo: true },
});

/** Devices that take everything, and the changes of a node. */
const devicesOn = ({ node, clocks }: Place) => {
  const needs = { handle: node.handle, tools: node.tools, now: clocks.now };
  const turns = deviceTurns({ ...needs, clock: clocks, inLine: semaphore(1, 256) });
  const unused = () => Promise.reject(new Error('Nothing is copied or compared here'));
  const changes = deviceChanges({
    ...needs,
    turns,
    copies: { store: unused },
    renderer: { follow: unused, linesTo: unused, predict: unused },
    digest: (text) => text,
  });
  const devices = {
    order: () => [],
    stopping: new AbortController().signal,
    seenBy: () => ({
      find: async (name: string) => foundAs(name),
      inventoriesOf: async () => ['f'.repeat(24)],
      checkCredentials: async () => undefined,
      calls: () => ({
        changing: ({ device }: { device: { name: string } }, work: (at: object) => unknown) =>
          work({ apply: () => called(device.name) }),
      }),
    }),
  } as unknown as Pick<Devices, 'order' | 'stopping' | 'seenBy'>; // the calls that a change makes
  return { changes, devices, confirmations: deviceConfirmations({ ...needs, turns }) };
};

const jobId = 'c'.repeat(24);

const jobOn = async ({ node }: Place): Promise<Recorded<JobStarted>> => {
  const start = { workflow: 'Change', automation: null, component: { type: 'configuration-change', name: 'devices' } };
  if (!job.exists(await node.tools.state(job, jobId))) await node.command(startJob, jobId, start);
  return (await node.tools.events(job, jobId, 0))[0] as Recorded<JobStarted>;
};

/** The rows that the read model shows, and those that say something else than what the device was sent. */
const rowsOn = async ({ node }: Place) => {
  const query = { part: jobId, sort: 'device', order: 1, skip: 0, limit: 1000 } as const;
  const rows: readonly ChangeRow[] = (await node.model.list(changeRows.collection, query)).entries.map(({ text }) =>
    JSON.parse(text),
  );
  const isTrue = ({ device, status }: ChangeRow): boolean => {
    const sent = calls.get(device) ?? 0;
    return status === 'sent' ? sent === 1 : status === 'unknown' && sent <= 1;
  };
  const { ended } = await node.tools.state(configurationChange, jobId);
  return { rows: rows.length, wrong: rows.filter((row) => !isTrue(row)), ended };
};

/** Nothing goes on by itself here: the node that claims the job begins its run again. */
const changeOfMany: Work = {
  name: 'a change of many devices',
  prepare: reset,
  run: async (place) => {
    const { node } = place;
    const started = await jobOn(place);
    const run = changeRun({
      ...node,
      ...devicesOn(place),
      texts: () => Promise.reject(new Error('No template is used')),
    });
    await run({
      job: jobId,
      key: jobId,
      inputs: { devices: names, config: 'vlan 7', options: { backup: false }, throttle: 3 },
      started,
      signal: new AbortController().signal,
      step: async () => context.actor,
      names: () => undefined,
      acts: () => undefined,
      isOver: async () => false,
      awaits: (end) => end,
    }).catch((error: unknown) => {
      // Rows whose outcome is unknown are an error of the job.
      if (!(error instanceof RunEnded)) throw error;
    });
  },
  isDecided: async () => false,
  find: rowsOn,
  whole: async () => ({ rows: names.length, wrong: [], ended: true }),
};

const change = 'e'.repeat(24);

const confirmationOfChange: Work = {
  name: 'the confirmation of a change',
  prepare: async ({ node, clocks }) => {
    await reset();
    const about = { adapter: 'farm', device: 'sw-0', digest: 'd', lines: 1, inventory: null };
    await node.command(attemptDeviceConfig, change, about);
    const confirmUntil = clocks.now() + 3_600_000;
    await node.command(concludeDeviceConfig, change, { status: 200, text: '{}', account: { confirmUntil } });
  },
  run: async (place, attempt) => {
    const { confirmations } = devicesOn(place);
    // The turn of a node that has died ends by itself while another one looks at it.
    const passing = attempt > 1 ? setInterval(() => place.clocks.pass(10_000), 20) : undefined;
    await confirmations
      .confirm({
        about: {
          actor: context.actor,
          operation: 'test',
          requestId: `r${attempt}`,
          idempotency: { key: 'once', request: '' },
        },
        found: foundAs('sw-0'),
        calls: () => ({ confirm: ({ device }) => called(device.name) }),
        signal: new AbortController().signal,
        change,
      })
      .catch((error: unknown) => {
        if (attempt === 1) throw error;
      })
      .finally(() => clearInterval(passing));
  },
  isDecided: async ({ node: { tools } }) => (await tools.state(deviceConfiguration, change)).confirmUntil === undefined,
  // To be confirmed once more means nothing to a device.
  find: async ({ node: { tools } }) => ({
    isConfirmed: (await tools.state(deviceConfiguration, change)).confirmUntil === undefined,
    wasAsked: calls.has('sw-0'),
  }),
  whole: async () => ({ isConfirmed: true, wasAsked: true }),
};

const single = 'f'.repeat(24);

/** A device that was called and gave no answer in time is not called again: its outcome is not known. */
const changeOfOne: Work = {
  name: 'a change of a device',
  prepare: reset,
  run: async (place) => {
    const { changes } = devicesOn(place);
    const idempotency = { key: 'one', request: '' };
    await changes.change(
      {
        id: single,
        about: { actor: context.actor, operation: 'test', requestId: 'one', idempotency },
        found: foundAs('sw-0'),
        config: 'vlan 7',
        options: { backup: false },
        calls: () => ({
          changing: (_, work) => work({ configuration: async () => '', apply: () => called('sw-0') }),
          dryRun: async () => undefined,
          configuration: async () => '',
        }),
        signal: new AbortController().signal,
        mayBackUp: false,
      },
      () => false,
    );
  },
  isDecided: async ({ node: { tools } }) => (await tools.state(deviceConfiguration, single)).about !== undefined,
  find: async ({ node: { tools } }) => {
    const { about, outcome } = await tools.state(deviceConfiguration, single);
    const most = calls.get('sw-0') ?? 0;
    return { isAttempted: about !== undefined, isTrue: most <= 1 && (!outcome || most === 1) };
  },
  nothing: { isAttempted: false, isTrue: true },
  whole: async () => ({ isAttempted: true, isTrue: true }),
};

/** Works on devices, which must be sent nothing twice. */
export const deviceWorks: readonly Work[] = [changeOfOne, changeOfMany, confirmationOfChange];
