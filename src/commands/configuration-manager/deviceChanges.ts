import { isObject } from '@automation-platform/json';
import type { Static } from 'typebox';
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
import type { DeviceCopies } from './deviceBackups.ts';
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
  readonly isReadable: boolean;
};

type Options = Readonly<Record<string, unknown>>;

/** The calls of devices that a change makes. */
type Calls = {
  apply(found: ChangedDevice, config: string, options: Options): Promise<Answered>;
  configuration(device: string): Promise<string>;
};

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly copies: Pick<DeviceCopies, 'store'>;
  readonly turns: DeviceTurns;
  readonly unifiedDiff: (
    run: { readonly first: string; readonly second: string },
    evaluation: Evaluation,
  ) => Promise<string>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
};

/** A change of a device. The id is that of its stream. */
type Change = {
  readonly id: string;
  readonly about: Omit<Request, 'id' | 'input'>;
  readonly found: ChangedDevice;
  readonly config: string;
  readonly options: Options;
  readonly calls: (signal: AbortSignal) => Calls;
  readonly signal: AbortSignal;
  /** True if the caller may copy configurations. */
  readonly mayBackUp: boolean;
  /** Called when the change is about to begin, which happens once. */
  readonly acts?: () => void;
};

type Outcome = Parameters<typeof concludeDeviceConfig.decide>[1] & { readonly text: string | null };

const mostDiff = 64 * 1024;

/** True if copies are to be kept. Throws for a wish that cannot be fulfilled. */
const keepsCopies = ({ found, options, mayBackUp }: Change): boolean => {
  const { type, backups, isReadable, device } = found;
  if (options.backup !== undefined && typeof options.backup !== 'boolean')
    throw new RequestError('invalid', 'It must be true or false', { path: '/options/backup' });
  if (options.backup === true && !isReadable)
    throw new RequestError('conflict', `${JSON.stringify(device.name)} has no configuration that can be read`, {
      path: '/options/backup',
    });
  if (options.backup === true && !mayBackUp)
    throw new RequestError('forbidden', 'No role of yours allows backUpDevice', { path: '/options/backup' });
  return isReadable && (options.backup ?? backups ?? (type !== 'http' && mayBackUp));
};

/** Changes devices: one change at a time for each, with copies before and after, and never twice. */
export const deviceChanges = ({ handle, tools, copies, turns, unifiedDiff, digest }: Needs) => {
  const copy = async (
    { id, about, found, signal }: Change,
    when: 'before' | 'after',
    text: string,
  ): Promise<string> => {
    const copyId = derivedId(`${when} ${id}`);
    const toCopy = { found, text, change: id, ...(when === 'after' && { isOwn: true as const }) };
    const request = { ...about, idempotency: undefined, ifRevision: undefined, id: copyId };
    await copies.store(request, toCopy, { account: about.actor.id, signal });
    return copyId;
  };

  /** The configuration before the change, and its copy. Nothing is sent where it cannot be kept. */
  const copyBefore = async (change: Change, signal: AbortSignal) => {
    try {
      const text = await change.calls(signal).configuration(change.found.device.name);
      return { text, id: await copy(change, 'before', text) };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { code, message, metadata } = error;
      throw new RequestError(code, `Nothing was sent, since there is no copy: ${message}`, { metadata });
    }
  };

  /** The facts that the copies add to those of the answer. The change is over: faults are warnings. */
  const copyAfter = async (
    change: Change,
    before: { readonly text: string; readonly id: string },
    { running, account = {} }: Pick<Answered, 'running' | 'account'>,
  ): Promise<Account> => {
    const warnings = [...(account.warnings ?? [])];
    let after: string | null = null;
    let diff: string | null = null;
    try {
      const text = running ?? (await change.calls(change.signal).configuration(change.found.device.name));
      after = await copy(change, 'after', text);
      const run = { first: before.text, second: text };
      diff = await unifiedDiff(run, { account: change.about.actor.id, signal: change.signal });
      if (diff.length > mostDiff) diff = `${diff.slice(0, diff.lastIndexOf('\n', mostDiff))}\n`;
    } catch (error) {
      const reason = error instanceof RequestError ? error.message : 'it was broken off';
      warnings.push(after === null ? `There is no copy after it: ${reason}` : `There is no diff: ${reason}`);
    }
    return {
      ...account,
      diff,
      backups: { before: before.id, after },
      ...(warnings.length > 0 && { warnings }),
    };
  };

  /** The answer with what the change adds to it. That of a controller is passed on as it is. */
  const extended = ({ id, found }: Change, text: string, account: Account): string => {
    const body: unknown = found.type === 'http' ? undefined : JSON.parse(text);
    if (!isObject(body)) return text;
    const { diff, backups, warnings } = account;
    return JSON.stringify({ ...body, change: id, ...defined({ diff, backups, warnings }) });
  };

  const outcomeOf = async (change: Change, keeps: boolean, signal: AbortSignal): Promise<Outcome> => {
    const { found, config, options, calls } = change;
    const before = keeps ? await copyBefore(change, signal) : undefined;
    const answered = await calls(signal).apply(found, config, options);
    const { status, text, unverified } = answered;
    const account = before ? await copyAfter(change, before, answered) : answered.account;
    return defined({ status, text: extended(change, text, account ?? {}), unverified, account });
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
      const keeps = keepsCopies(change);
      const facts: Static<typeof attemptSchema> = {
        adapter: source.name,
        device: device.name,
        digest: digest(config),
        lines: linesOf(config),
      };
      change.acts?.();
      const attempt = await handle(attemptDeviceConfig, { ...about, id, input: facts });
      if (attempt.replayed)
        return { state: await tools.state(deviceConfiguration, id), position: attempt.position, replayed: true };
      const plain = { ...about, idempotency: undefined, ifRevision: undefined };
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
      return { state: state as DeviceConfigurationState, position, replayed: false };
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
