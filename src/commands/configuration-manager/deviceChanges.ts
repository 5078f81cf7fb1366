import { maskedLine, shownDiff } from '@automation-platform/configurations';
import { isObject } from '@automation-platform/json';
import type { Static } from 'typebox';
import type { ChangeOptions } from '../../domain/configuration-manager/changeOptions.ts';
import {
  type attemptSchema,
  type changeAccountSchema,
  type DeviceConfigurationState,
  deviceConfiguration,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import type { CopiedDevice } from '../../domain/configuration-manager/deviceSources.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Evaluation } from '../../domain/engine/transforming.ts';
import { derivedId } from '../../store/derivedIds.ts';
import type { Tools } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';
import type { Request } from '../engine/requests.ts';
import type { DeviceCopies, NewestCopy } from './deviceBackups.ts';
import { attemptDeviceConfig, concludeDeviceConfig, linesOf, withoutAnswer } from './deviceConfigurations.ts';
import type { DeviceTurns } from './deviceTurns.ts';

type Account = Static<typeof changeAccountSchema>;

/** The answer of a device to a configuration. */
type Answered = {
  readonly status: number;
  readonly text: string;
  readonly unverified?: true;
  readonly account?: Account;
  readonly running?: string;
};

/** A device to change. */
type ChangedDevice = CopiedDevice & {
  readonly type: 'lab' | 'http' | 'ssh';
  readonly backups?: boolean;
  readonly abilities: {
    readonly read: boolean;
    readonly confirm: boolean;
    readonly replace: boolean;
    readonly tryOut: boolean;
    readonly undo: boolean;
  };
};

/** The calls of devices that a change makes. `changing` calls one device several times, one call after the other. */
type Calls = {
  changing<T>(
    found: ChangedDevice,
    work: (device: {
      configuration(): Promise<string>;
      apply(config: string, options: ChangeOptions): Promise<Answered>;
    }) => Promise<T>,
  ): Promise<T>;
  dryRun(found: ChangedDevice, config: string, options: ChangeOptions): Promise<Answered | undefined>;
  configuration(device: string): Promise<string>;
};

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly copies: Pick<DeviceCopies, 'store'>;
  readonly turns: DeviceTurns;
  readonly renderer: {
    follow(
      run: { readonly before: string; readonly after: string; readonly ostype: string },
      evaluation: Evaluation,
    ): Promise<{ readonly isChange: boolean }>;
    linesTo(
      run: { readonly running: string; readonly goal: string; readonly ostype: string },
      evaluation: Evaluation,
    ): Promise<readonly string[] | null>;
    predict(
      run: { readonly running: string; readonly config: string; readonly ostype: string; readonly replaces: boolean },
      evaluation: Evaluation,
    ): Promise<{ readonly diff: string; readonly warnings: readonly string[] }>;
  };
  /** The time of the node, in epoch milliseconds. */
  readonly now: () => number;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
};

/** A change of a device. The id is that of its stream. */
type Change = {
  readonly id: string;
  readonly about: Omit<Request, 'id' | 'input'>;
  readonly found: ChangedDevice;
  readonly config: string;
  /** The configuration is the one that the device is to have, not lines that are sent. */
  readonly isGoal?: true;
  readonly options: ChangeOptions;
  readonly calls: (signal: AbortSignal) => Calls;
  readonly signal: AbortSignal;
  /** True if the caller may copy configurations. */
  readonly mayBackUp: boolean;
  /** Called when the change is about to begin, which happens once. */
  readonly acts?: () => void;
};

/** A change that is only tried out. */
type Attempt = Omit<Change, 'mayBackUp' | 'acts'>;

export const withoutConditions = (about: Change['about']) => ({
  ...about,
  idempotency: undefined,
  ifRevision: undefined,
});

type Outcome = Parameters<typeof concludeDeviceConfig.decide>[1] & { readonly text: string | null };

const unfit = (option: string, message: string): never => {
  throw new RequestError('unprocessable', message, { path: `/options/${option}` });
};

/** Throws for options that the device cannot fulfil, before anything is sent. */
const refuseOptions = ({ found, options, isGoal }: Pick<Change, 'found' | 'options' | 'isGoal'>): void => {
  const { abilities, device, type } = found;
  const name = JSON.stringify(device.name);
  if (isGoal && !abilities.replace && !abilities.undo)
    throw new RequestError('unprocessable', `The lines of ${name} are undone in words of their own: go back by hand`, {
      path: '/backup',
    });
  if (isGoal && !abilities.replace && !abilities.read) throw unreadable(found, 'backup');
  if (options.replace && !abilities.replace) unfit('replace', `${name} cannot replace its whole configuration`);
  if (options.confirm !== undefined && !abilities.confirm) unfit('confirm', `${name} does not go back by itself`);
  if (type === 'http' || options.confirm === undefined) return;
  if (options.save) unfit('save', 'A configuration that waits to be confirmed is not saved');
  if (options.replace) unfit('replace', 'A configuration that waits to be confirmed does not replace the whole one');
};

const unreadable = ({ device }: ChangedDevice, option: string): RequestError =>
  new RequestError('conflict', `${JSON.stringify(device.name)} has no configuration that can be read`, {
    path: `/options/${option}`,
  });

/** True if copies are to be kept. Throws for a wish that cannot be fulfilled. */
const keepsCopies = ({ found, options, mayBackUp }: Change): boolean => {
  const { type, backups, abilities } = found;
  if (options.backup === true && !abilities.read) throw unreadable(found, 'backup');
  if (options.backup === true && !mayBackUp)
    throw new RequestError('forbidden', 'No role of yours allows backUpDevice', { path: '/options/backup' });
  return abilities.read && (options.backup ?? backups ?? (type !== 'http' && mayBackUp));
};

/** Copies before and after changes. */
const changeCopies = ({ copies }: Pick<Needs, 'copies'>) => {
  const copy = ({ id, about, found, signal }: Change, text: string, before?: NewestCopy) => {
    const request = { ...withoutConditions(about), id: derivedId(`${before ? 'after' : 'before'} ${id}`) };
    const toCopy = { found, text, change: id, ...defined({ before }) };
    return copies.store(request, toCopy, { account: about.actor.id, signal });
  };

  /** The copy of the configuration before the change. Nothing is sent where it cannot be kept. */
  const copyBefore = async (change: Change, read: () => Promise<string>): Promise<NewestCopy> => {
    try {
      return (await copy(change, await read())).newest;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { code, message, metadata } = error;
      throw new RequestError(code, `Nothing was sent, since there is no copy: ${message}`, { metadata });
    }
  };

  /** The facts that the copies add to those of the answer. The change is over: faults are warnings. */
  const copyAfter = async (
    change: Change,
    before: NewestCopy,
    { running, account = {} }: Pick<Answered, 'running' | 'account'>,
  ): Promise<Account> => {
    const warnings = [...(account.warnings ?? [])];
    let after: string | null = null;
    let diff: string | null = null;
    try {
      const text = running ?? (await change.calls(change.signal).configuration(change.found.device.name));
      const stored = await copy(change, text, before);
      after = stored.newest.id;
      if (stored.diff === undefined) warnings.push('There is no diff: it takes too long');
      else diff = shownDiff(stored.diff);
    } catch (error) {
      const reason = error instanceof RequestError ? error.message : 'it was broken off';
      warnings.push(`There is no copy after it: ${reason}`);
    }
    return {
      ...account,
      diff,
      backups: { before: before.id, after },
      ...(warnings.length > 0 && { warnings }),
    };
  };

  return { copyBefore, copyAfter };
};

/** Changes that lead to a configuration. */
const changeGoals = ({ renderer }: Pick<Needs, 'renderer'>) => {
  /** The lines that lead a device from its configuration to the one of a change. */
  const wayOf = async ({ found, config, about, signal }: Attempt, running: string): Promise<readonly string[]> => {
    const run = { running, goal: config, ostype: found.device.ostype ?? '' };
    return (await renderer.linesTo(run, { account: about.actor.id, signal })) ?? [];
  };

  /** The text that is sent. `read`: reads the configuration of the device. */
  const textOf = async (change: Attempt, read: () => Promise<string>): Promise<string> => {
    const { found, config, isGoal } = change;
    if (!isGoal || found.abilities.replace) return config;
    return (await wayOf(change, await read())).join('\n');
  };

  /** Compares the configuration that a device has after a change with its goal. */
  const compared = async (change: Change, { running, account = {} }: Answered): Promise<Account> => {
    const { found, config, calls, about, signal } = change;
    try {
      const after = running ?? (await calls(signal).configuration(found.device.name));
      const run = { before: config, after, ostype: found.device.ostype ?? '' };
      const { isChange } = await renderer.follow(run, { account: about.actor.id, signal });
      if (!isChange) return { ...account, verified: true };
      const warning = 'The configuration still differs from the copy';
      return { ...account, verified: false, warnings: [...(account.warnings ?? []), warning] };
    } catch {
      return { ...account, verified: null };
    }
  };

  return { textOf, compared };
};

/** Changes devices: one change at a time for each, with copies before and after, and never twice. */
export const deviceChanges = (needs: Needs) => {
  const { handle, tools, turns, renderer, now, digest } = needs;
  const { copyBefore, copyAfter } = changeCopies(needs);
  const { textOf, compared } = changeGoals(needs);

  /** The answer with what the change adds to it. That of a controller is passed on as it is. */
  const extended = ({ id, found, isGoal }: Change, text: string, account: Account): string => {
    const body: unknown = found.type === 'http' ? undefined : JSON.parse(text);
    if (!isObject(body)) return text;
    const { diff, backups, warnings, confirmUntil } = account;
    const until = confirmUntil === undefined ? undefined : new Date(confirmUntil).toISOString();
    const { verified } = account;
    const ofGoal = isGoal && body.status !== 'error' && { status: verified ? 'success' : 'unverified', verified };
    return JSON.stringify({
      ...body,
      ...ofGoal,
      change: id,
      ...defined({ diff, backups, warnings, confirmUntil: until }),
    });
  };

  /** Calls the device: copies its configuration, and sends the text. */
  const sendTo = async (change: Change, keeps: boolean, signal: AbortSignal) => {
    const { id, found, options } = change;
    return change.calls(signal).changing(found, async ({ configuration, apply }) => {
      const before = keeps ? await copyBefore(change, configuration) : undefined;
      const config = await textOf(change, async () => before?.text ?? configuration());
      const startedAt = now();
      const first = await apply(config, found.type === 'http' ? options : { ...options, change: id });
      return { before, startedAt, first };
    });
  };

  const outcomeOf = async (change: Change, keeps: boolean, signal: AbortSignal): Promise<Outcome> => {
    const { found, options, isGoal } = change;
    const isController = found.type === 'http';
    const { before, startedAt, first } = await sendTo(change, keeps, signal);
    const { status, text } = first;
    const account = isGoal && status < 300 ? await compared(change, first) : first.account;
    const unverified = isGoal && status < 300 && account?.verified !== true ? true : first.unverified;
    const answered = { ...first, ...defined({ account }) };
    const copied = before ? await copyAfter(change, before, answered) : account;
    // The device began to count later than this.
    const { confirm } = isController || status > 299 ? {} : options;
    const whole = confirm === undefined ? copied : { ...copied, confirmUntil: startedAt + confirm * 60_000 };
    return defined({ status, text: extended(change, text, whole ?? {}), unverified, account: whole });
  };

  return {
    /**
     * Stores the attempt, changes the device in its turn, then stores the outcome. So even after a crash no attempt calls
     * the device twice. Throws `UnknownOutcome` of the call: then no outcome is stored. `failed` is an error that no request
     * should bring about.
     */
    change: async (change: Change, isUnknown: (error: unknown) => boolean) => {
      const { id, about, found, config, signal } = change;
      const { source, device } = found;
      refuseOptions(change);
      const keeps = keepsCopies(change);
      const facts: Static<typeof attemptSchema> = {
        adapter: source.name,
        device: device.name,
        digest: digest(config),
        lines: linesOf(config),
        inventory: source.kind === 'inventory' ? source.id : null,
      };
      change.acts?.();
      const attempt = await handle(attemptDeviceConfig, { ...about, id, input: facts });
      if (attempt.replayed)
        return { state: await tools.state(deviceConfiguration, id), position: attempt.position, replayed: true };
      const plain = withoutConditions(about);
      const turn = { found, change: id, about: plain, signal };
      let bug: unknown;
      const input = await turns
        .inTurn(turn, (inTurn) => outcomeOf(change, keeps, inTurn))
        .catch(async (error: unknown): Promise<Outcome> => {
          if (isUnknown(error)) {
            // The next change need not wait until nothing was heard of this one for long enough.
            await turns.leave(turn).catch(() => undefined);
            throw error;
          }
          if (error instanceof RequestError) return withoutAnswer(error);
          bug = error;
          return { status: null, text: null, reason: 'The adapter failed' };
        });
      const { state, position } = await handle(concludeDeviceConfig, { ...plain, id, input }).catch(unknown);
      if (bug !== undefined) throw bug;
      return { state: state as DeviceConfigurationState, position, replayed: false, outcome: input };
    },

    /** Says what a change would do: the device itself where it can, else by merging. Nothing is changed or stored. */
    dryRun: async (change: Attempt): Promise<Answered> => {
      const { id, about, found, options, calls, signal, isGoal } = change;
      refuseOptions(change);
      const { abilities, device } = found;
      const config = await textOf(change, () => calls(signal).configuration(device.name));
      const lines = isGoal && !abilities.replace ? config.split('\n').map(maskedLine) : undefined;
      const turn = { found, change: id, isAside: true, about: withoutConditions(about), signal } as const;
      const own = abilities.tryOut
        ? await turns.inTurn(turn, (inTurn) => calls(inTurn).dryRun(found, config, { ...options, change: id }))
        : undefined;
      if (own) return { ...own, text: JSON.stringify({ ...JSON.parse(own.text), ...defined({ lines }) }) };
      if (!abilities.read) throw unreadable(found, 'dryRun');
      const running = await calls(signal).configuration(device.name);
      const run = { running, config, ostype: device.ostype ?? '', replaces: options.replace === true };
      const { diff, warnings } = await renderer.predict(run, { account: about.actor.id, signal });
      const body = { device: device.name, status: 'dryRun', diff: shownDiff(diff), predicted: true, warnings };
      return { status: 200, text: JSON.stringify({ ...body, ...defined({ lines }) }) };
    },
  };
};

const unknown = (cause: unknown): never => {
  throw new RequestError(
    'unavailable',
    'The device was called, but the outcome could not be stored: it is not known here. Look at the device',
    { cause },
  );
};

export type DeviceChanges = ReturnType<typeof deviceChanges>;
