import { hash } from 'node:crypto';
import { withinTime } from '@automation-platform/client';
import { type IdleSessions, idleSessions } from '@automation-platform/concurrency';
import type { Network } from '../device.ts';
import type { DeviceType } from '../types/type.ts';
import { openShell, SshFailure, type SshShell, type SshTarget, sshFailureOf } from './sshConnection.ts';
import { type Cli, cliOf, type Recognition } from './sshSession.ts';

/** The most bytes that a call may bring. */
export const maxBytes = 4 * 1024 * 1024;
/** How long a session that was kept may take to show its prompt. */
const awake = 2000;
const defaultKeep = 30;

/** `isAwake`: it has shown its prompt just now. */
type Opened = {
  readonly shell: SshShell;
  readonly cli: Awaited<ReturnType<typeof cliOf>>;
  readonly isAwake?: boolean;
  close(): void;
};

/** Sessions with devices that wait for their next call. */
export type SshSessions = IdleSessions<Opened>;
export const sshSessions = (): SshSessions => idleSessions<Opened>();
export type KeptSessions = Pick<SshSessions, 'take' | 'keep'>;

/** Sessions for one work with a device: the session of a call serves the next one as it is, and after `end` any call. */
export const sessionsOfWork = (all: KeptSessions): KeptSessions & { readonly end: () => void } => {
  let last: Parameters<KeptSessions['keep']> | undefined;
  const end = (): void => {
    if (last) all.keep(...last);
    last = undefined;
  };
  return {
    take: (key) => {
      const session = last?.[0] === key ? last[1] : undefined;
      if (!session) return all.take(key);
      last = undefined;
      return { ...session, isAwake: true };
    },
    keep: (...one) => {
      end();
      last = one;
      // A session that is never used again ends with its call.
      const [, , ms] = one;
      if (ms <= 0) end();
    },
    end,
  };
};

export type SshWay = SshTarget & {
  readonly type: DeviceType;
  readonly jump?: SshTarget | undefined;
  readonly network: Network;
  /** None: each call has a session of its own. */
  readonly sessions?: KeptSessions | undefined;
};

/** Says which calls may use one session: those of a device, a credential and all else that says how to reach it. */
const keyOf = ({ device, properties, jump }: SshWay): string =>
  hash('sha256', JSON.stringify([device, properties, jump]), 'base64');

const readyCli = async ({ shell }: SshShell, how: Recognition, setup: readonly string[]) => {
  const cli = await cliOf(shell, how);
  for (const command of setup) await cli.run(command);
  return cli;
};

const open = async (way: SshWay, signal: AbortSignal): Promise<Opened> => {
  const { properties, type } = way;
  const shell = await openShell({ ...way, maxBytes, signal });
  try {
    const { prompt: ends, username = '', password, enablePassword, setup = type.setup } = properties;
    const how = { type, ends, username, password, enablePassword, most: maxBytes };
    const cli = await shell.during(readyCli(shell, how, setup), signal);
    shell.onBreak(cli.stop);
    return { shell, cli, close: shell.close };
  } catch (error) {
    shell.close();
    throw error;
  }
};

/** The session that was kept, if it still shows its prompt. */
const keptOne = async (way: SshWay, key: string, signal: AbortSignal): Promise<Opened | undefined> => {
  const idle = way.sessions?.take(key);
  if (!idle) return undefined;
  try {
    idle.shell.begin();
    idle.cli.begin();
    if (idle.isAwake && !idle.cli.isBroken()) return { shell: idle.shell, cli: idle.cli, close: idle.close };
    await withinTime(awake, [signal], (inTime) => idle.shell.during(idle.cli.settle(), inTime));
    if (idle.cli.isAtStart()) return idle;
  } catch {
    /* It has ended, or hangs. Nothing was sent, so another one does. */
  }
  idle.close();
  signal.throwIfAborted();
  return undefined;
};

/** Does a work in a session with a device. Throws `SshFailure`, or the error of the work. */
export const withCli = async <T>(way: SshWay, signal: AbortSignal, work: (cli: Cli) => Promise<T>): Promise<T> => {
  const key = keyOf(way);
  const { sessions, properties } = way;
  let opened: Opened | undefined;
  const stop = (): void => opened?.cli.stop(new SshFailure(way.network.reasonOf(signal.reason)));
  try {
    opened = (await keptOne(way, key, signal)) ?? (await open(way, signal));
    signal.addEventListener('abort', stop, { once: true });
    signal.throwIfAborted();
    const result = await work(opened.cli);
    if (sessions && !opened.cli.isBroken() && opened.cli.isAtStart())
      sessions.keep(key, opened, (properties.keepSession ?? defaultKeep) * 1000);
    else opened.close();
    return result;
  } catch (error) {
    opened?.close();
    throw sshFailureOf(error, { ...way, signal });
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
