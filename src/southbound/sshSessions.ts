import { hash } from 'node:crypto';
import { withinTime } from '@automation-platform/client';
import { type IdleSessions, idleSessions } from './idleSessions.ts';
import type { Outbound } from './outbound.ts';
import { openShell, type SshShell, type SshTarget, sshFailureOf } from './sshConnection.ts';
import { type Cli, cliOf } from './sshSession.ts';
import type { DeviceType } from './types/type.ts';

/** The most bytes that a call may bring. */
export const maxBytes = 4 * 1024 * 1024;
/** How long a session that was kept may take to show its prompt. */
const awake = 2000;
const defaultKeep = 30;

type Opened = { readonly shell: SshShell; readonly cli: Awaited<ReturnType<typeof cliOf>>; close(): void };

/** Sessions with devices that wait for their next call. */
export type SshSessions = IdleSessions<Opened>;
export const sshSessions = (): SshSessions => idleSessions<Opened>();

export type SshWay = SshTarget & {
  readonly type: DeviceType;
  readonly jump?: SshTarget | undefined;
  readonly guard: Outbound;
  /** None: each call has a session of its own. */
  readonly sessions?: SshSessions | undefined;
};

/** Says which calls may use one session: those of a device, a credential and all else that says how to reach it. */
const keyOf = ({ device, properties, jump }: SshWay): string =>
  hash('sha256', JSON.stringify([device, properties, jump]), 'base64');

const open = async (way: SshWay, signal: AbortSignal): Promise<Opened> => {
  const { properties, type } = way;
  const shell = await openShell({ ...way, maxBytes, signal });
  try {
    const { prompt: ends, username = '', password, enablePassword, setup = type.setup } = properties;
    const how = { type, ends, username, password, enablePassword, most: maxBytes };
    const cli = await shell.during(cliOf(shell.shell, how), signal);
    for (const command of setup) await shell.during(cli.run(command), signal);
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
  let isBroken = false;
  let opened: Opened | undefined;
  try {
    opened = (await keptOne(way, key, signal)) ?? (await open(way, signal));
    const { shell, cli } = opened;
    const during = async <R>(promise: Promise<R>): Promise<R> => {
      try {
        return await shell.during(promise, signal);
      } catch (error) {
        isBroken = true;
        throw sshFailureOf(error, signal);
      }
    };
    return await work({
      ...cli,
      run: (command, answers) => during(cli.run(command, answers)),
      load: (command, text) => during(cli.load(command, text)),
      settle: () => during(cli.settle()),
      read: (command) => during(cli.read(command)),
    });
  } catch (error) {
    isBroken = true;
    throw sshFailureOf(error, signal);
  } finally {
    if (opened && !isBroken && way.sessions && opened.cli.isAtStart())
      way.sessions.keep(key, opened, (way.properties.keepSession ?? defaultKeep) * 1000);
    else opened?.close();
  }
};
