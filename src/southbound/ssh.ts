import { connect } from 'node:net';
import { abortable } from '@automation-platform/concurrency';
import {
  applyChange,
  askHostKey,
  type Cli,
  confirmChange,
  type KeptSessions,
  maxBytes,
  type Network,
  refusalIn,
  SshFailure,
  type SshTarget,
  showRunning,
  tryChange,
  typeOf,
  withCli,
} from '@automation-platform/devices';
import type { SshProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { adapterFailure, reasonOf, UnknownOutcome } from './failure.ts';
import { type Outbound, OutboundRefused, pinned } from './outbound.ts';
import type { Device, DeviceAdapter } from './port.ts';

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** How devices are reached beside their adapter. Without `sessions`, each call has a connection of its own. */
type Ways = { readonly sessions?: KeptSessions; readonly jump?: SshTarget | undefined };

/** Ways out, as far as they are allowed. */
const networkOf = (guard: Outbound): Network => ({
  connect: async ({ host, port }, signal) => {
    const addresses = await abortable(guard.addresses(host), signal).catch((error: unknown) => {
      throw error instanceof OutboundRefused ? new SshFailure(error.message) : error;
    });
    // A line is a few bytes that wait for nothing, and the next line waits for its answer.
    return connect({ host, port, lookup: pinned(addresses), noDelay: true });
  },
  reasonOf,
});

/**
 * Devices with a CLI over SSH. A configuration is sent line by line; what the device says to each is judged by its type
 * (docs/device-types.md). When it refuses a line, the rest is not sent: the answer is 422.
 */
export const sshAdapter = (
  name: string,
  properties: SshProperties,
  guard: Outbound,
  { sessions, jump }: Ways = {},
): DeviceAdapter => {
  const network = networkOf(guard);
  const failed = (reason: string): RequestError => adapterFailure(name, reason);
  const session = async <T>(
    device: Device,
    signal: AbortSignal,
    work: (cli: Cli) => Promise<T>,
    lost = failed,
  ): Promise<T> => {
    try {
      const type = typeOf(device.ostype);
      return await withCli({ device, properties, network, type, jump, sessions }, signal, work);
    } catch (error) {
      throw error instanceof SshFailure ? lost(error.message) : error;
    }
  };

  type Work<T> = (change: Parameters<typeof applyChange>[0]) => Promise<T>;

  /** Changes a device. Its outcome is unknown when the session is lost after something took effect. */
  const changing = <T>(
    device: Device,
    options: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    work: Work<T>,
  ): Promise<T> => {
    const type = typeOf(device.ostype);
    let hasEffect = false;
    const effect = (): void => {
      hasEffect = true;
    };
    const lost = (reason: string): RequestError => (hasEffect ? new UnknownOutcome(name, reason) : failed(reason));
    const inSession = (cli: Cli) => work({ cli, type, device: device.name, properties, options, effect });
    return session(device, signal, inSession, lost);
  };

  const refuseControls = (config: string): void => {
    if (controls.test(config))
      throw new RequestError('invalid', 'A configuration has no control characters beside tabs and line ends', {
        path: '/config/config',
      });
  };

  return {
    apply: async (device, config, options, signal) => {
      refuseControls(config);
      return changing(device, options, signal, (change) => applyChange(change, config));
    },
    dryRun: async (device, config, options, signal) => {
      refuseControls(config);
      return changing(device, options, signal, (change) => tryChange(change, config));
    },
    confirm: (device, options, signal) => changing(device, options, signal, confirmChange),
    configuration: async (device, signal) => {
      const type = typeOf(device.ostype);
      const text = await session(device, signal, (cli) => showRunning(cli, type, properties));
      if (text === undefined)
        throw failed(`a device of the type ${type.name} has a configuration only where "show" says how`);
      const refusal = refusalIn(text, properties, type);
      if (refusal !== undefined) throw adapterFailure(name, refusal, { status: 422, body: text });
      return text;
    },
    run: async (device, command, signal) => {
      if (controls.test(command) || /[\r\n]/.test(command))
        throw new RequestError('invalid', 'A command is one line without control characters');
      return session(device, signal, (cli) => cli.read(command));
    },
    reach: (device, signal) => session(device, signal, async () => undefined),
    hostKey: (device, signal) =>
      askHostKey({ device, properties, network, jump, maxBytes, signal }).catch((error: unknown) => {
        throw error instanceof SshFailure ? failed(error.message) : error;
      }),
  };
};
