import { hash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shownDiff, unifiedDiff } from '@automation-platform/configurations';
import { cut } from '@automation-platform/json';
import type { ChangeAccount, Device, DeviceAnswer } from '../device.ts';
import { cliLines } from '../texts/cliLines.ts';
import { maskingOf } from '../texts/maskedQuotes.ts';
import { readBack, readBackWhole, verdictOf, warningsOf } from '../texts/readBack.ts';
import { typeOf } from '../types/table.ts';
import { labFormOf } from './forms/table.ts';

/**
 * `createdAt`: when the devices were created (ISO 8601). Those of the same name that are created later are new ones. `failure`: the error
 * for a device that cannot do its work.
 */
type Lab = {
  readonly name: string;
  readonly createdAt: string;
  readonly folder: string;
  readonly failure: (reason: string) => Error;
  readonly now?: () => number;
};

type Options = Readonly<Record<string, unknown>>;

/** Simulated devices. Texts are configurations and output as a device of the type would print them. */
type LabDevices = {
  /** A refusal by the device is returned as an answer and is no error. */
  apply(device: Device, config: string, options: Options, signal: AbortSignal): Promise<DeviceAnswer>;
  /** Says what a configuration would change, and keeps nothing of it. */
  dryRun(device: Device, config: string, options: Options): Promise<DeviceAnswer>;
  /** The last change stays. */
  confirm(device: Device): Promise<DeviceAnswer>;
  /** The running configuration. */
  configuration(device: Device): Promise<string>;
  /** The output of a command. */
  run(device: Device, command: string): Promise<string>;
  /** Makes sure that the device has its memory. */
  reach(device: Device): Promise<void>;
};

/** `until`: when the device goes back to what it kept, in epoch milliseconds. */
type Former = { readonly until: number; readonly text: string };

const maxBytes = 4 * 1024 * 1024;

/**
 * Simulated devices, each in the form of its type. Each device keeps its running configuration in a file of its own in the
 * folder (mode 0600). A change is answered when the whole file is on the disk. A configuration with a line that the device does
 * not know changes nothing, and the status is 422. `options.replace: true` replaces the configuration instead of merging into
 * it. The lines by which a type goes back to the configuration before the last commit do so. The caller makes sure that a device
 * has one `apply` at a time.
 */
export const labDevices = ({ name, createdAt, folder, failure, now = Date.now }: Lab): LabDevices => {
  const fileOf = (device: Device): string => {
    const { file } = labFormOf(device.ostype);
    const whole = [name, createdAt, device.name, ...(file === '' ? [] : [file])];
    return join(folder, `${hash('sha256', JSON.stringify(whole), 'hex').slice(0, 32)}.cfg`);
  };

  /** The configuration that the device goes back to, unless the change is confirmed in time. */
  const formerOf = (device: Device): string => `${fileOf(device)}.former`;

  const read = (file: string): Promise<string | undefined> =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw failure(`the device's memory cannot be read (${error.code})`);
    });

  const keep = async (file: string, text: string): Promise<void> => {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeDurably(folder, file, text);
    } catch (error) {
      throw failure(`the device's memory cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
  };

  /** The configuration before the last change, of a device that can go back to it. */
  const lastOf = (device: Device): string => `${fileOf(device)}.last`;

  const running = async (device: Device): Promise<string> => {
    const waiting = await read(formerOf(device));
    const { until, text: former }: Partial<Former> = waiting === undefined ? {} : JSON.parse(waiting);
    const text = until !== undefined && until <= now() ? former : await read(fileOf(device));
    return text ?? labFormOf(device.ostype).initial(device);
  };

  /** The memory of the device after the lines, unless it refuses some. */
  const resultOf = async (device: Device, config: string, before: string, replaces: boolean) => {
    const { candidate } = typeOf(device.ostype);
    const lines = cliLines(config).map((line) => line.trim());
    const goesBack = candidate?.rollback !== undefined && isDeepStrictEqual(lines, candidate.rollback);
    const last = goesBack ? await read(lastOf(device)) : undefined;
    return last === undefined
      ? labFormOf(device.ostype).take(replaces ? '' : before, config)
      : { memory: last, refused: [] };
  };

  /** The configuration that a text would make, or why the device does not take it. */
  const planned = async (
    device: Device,
    config: string,
    { replace }: Options,
  ): Promise<DeviceAnswer | { readonly before: string; readonly after: string }> => {
    const before = await running(device);
    const { memory: after, refused } = await resultOf(device, config, before, replace === true);
    if (refused.length > 0) {
      const { refusal } = labFormOf(device.ostype);
      const errors = refused
        .slice(0, 20)
        .map(({ line, text }) => ({ line, text: cut(text, 200), message: cut(wordsOf(refusal(text)), 200) }));
      return answer(422, {
        device: device.name,
        status: 'error',
        message: `${refused.length} lines were refused; nothing was changed`,
        errors,
      });
    }
    if (Buffer.byteLength(after) <= maxBytes) return { before, after };
    return answer(413, {
      device: device.name,
      status: 'error',
      message: 'The device has no room for it; nothing was changed',
    });
  };

  const show = (device: Device, memory: string): string | undefined => labFormOf(device.ostype).show?.(memory);

  return {
    apply: async (device, config, options, signal) => {
      signal.throwIfAborted();
      const plan = await planned(device, config, options);
      if ('status' in plan) return plan;
      const { before, after } = plan;
      const changed = after !== before;
      const { confirm } = options;
      const former: Former | undefined =
        typeof confirm === 'number' ? { until: now() + confirm * 60_000, text: before } : undefined;
      if (former) await keep(formerOf(device), JSON.stringify(former));
      if (changed && typeOf(device.ostype).candidate?.rollback) await keep(lastOf(device), before);
      if (changed) await keep(fileOf(device), after);
      // A further change confirms the one before.
      if (!former) await rm(formerOf(device), { force: true });
      const back = options.verify === false ? undefined : show(device, await running(device));
      const account = back === undefined ? {} : accountOf(config, back, { device, replaces: options.replace === true });
      return {
        ...answer(200, { device: device.name, status: 'success', changed, ...account }),
        account,
        ...(back !== undefined && { running: back }),
      };
    },
    dryRun: async (device, config, options) => {
      const plan = await planned(device, config, options);
      if ('status' in plan) return plan;
      const diff = shownDiff(unifiedDiff(show(device, plan.before) ?? '', show(device, plan.after) ?? ''));
      return answer(200, { device: device.name, status: 'dryRun', diff, predicted: false, warnings: [] });
    },
    confirm: async (device) => {
      await running(device);
      await rm(formerOf(device), { force: true });
      return answer(200, { status: 'confirmed' });
    },
    configuration: async (device) => {
      const text = show(device, await running(device));
      if (text === undefined) throw failure(`a device of the type ${typeOf(device.ostype).name} has no configuration`);
      return text;
    },
    reach: async (device) => void (await running(device)),
    run: async (device, command) => {
      const query = { device, memory: await running(device), up: Math.max(0, now() - Date.parse(createdAt)) };
      return labFormOf(device.ostype).answer(command, query);
    },
  };
};

/** The words of a refusal, without the mark of the place. */
const wordsOf = (refusal: string): string => refusal.split('\n').filter((line) => /[^\s^]/.test(line))[0] ?? refusal;

/** The facts about a change, by the configuration that the device shows after it. */
const accountOf = (
  config: string,
  running: string,
  { device, replaces }: { readonly device: Device; readonly replaces: boolean },
): ChangeAccount => {
  const [lines, type] = [cliLines(config), typeOf(device.ostype)];
  const back = replaces ? readBackWhole(config, running, type) : readBack(lines, running, type);
  const warnings = warningsOf(back).map(maskingOf(lines).text);
  return { verified: verdictOf(back), ...(warnings.length > 0 && { warnings }) };
};

const answer = (status: number, body: object) => ({ status, text: JSON.stringify(body) });

/** Writes the whole file or nothing, even when the machine stops. */
const writeDurably = async (folder: string, file: string, text: string): Promise<void> => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await onDisk(draft, 'wx', (handle) => handle.writeFile(text));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await onDisk(folder, 'r', async () => undefined);
};

const onDisk = async (
  path: string,
  flags: string,
  write: (handle: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> => {
  const handle = await open(path, flags, 0o600);
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
};
