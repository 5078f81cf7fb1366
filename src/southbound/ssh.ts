import type { SshProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { cliLines } from './cliLines.ts';
import { adapterFailure } from './failure.ts';
import type { Outbound } from './outbound.ts';
import type { Device, DeviceAdapter } from './port.ts';
import { SshFailure, withShell } from './sshConnection.ts';
import { type Cli, cliOf } from './sshSession.ts';

const maxBytes = 4 * 1024 * 1024;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Matches the output of a device for a command that it does not accept. */
const complaint = /^\s*(?:%|error:|syntax error|invalid (?:command|input)|unknown command)/im;

/**
 * Devices with a CLI over SSH, one connection per call. A configuration is sent line by line. When the device rejects a
 * line, the rest is not sent. The answer is then 422 with that line and the output of the device.
 */
export const sshAdapter = (name: string, properties: SshProperties, guard: Outbound): DeviceAdapter => {
  const {
    prompt = '#>$%',
    setup = ['terminal length 0'],
    enter = ['configure terminal'],
    leave = ['end'],
    show = 'show running-config',
  } = properties;

  const session = async <T>(device: Device, signal: AbortSignal, work: (cli: Cli) => Promise<T>): Promise<T> => {
    try {
      return await withShell({ device, properties, guard, maxBytes, signal }, async (shell) => {
        const cli = await cliOf(shell, prompt, maxBytes);
        for (const command of setup) await cli.run(command);
        return work(cli);
      });
    } catch (error) {
      throw error instanceof SshFailure ? adapterFailure(name, error.message) : error;
    }
  };

  /** Sends the lines up to the first one that the device rejects. */
  const sendAll = async (cli: Cli, lines: readonly string[]) => {
    let output = '';
    for (const [i, line] of lines.entries()) {
      const printed = await cli.run(line);
      if (complaint.test(printed)) return { refused: { line: i + 1, text: line }, output: printed };
      if (printed !== '') output += `${printed}\n`;
    }
    return { output };
  };

  return {
    apply: async (device, config, _, signal) => {
      if (controls.test(config))
        throw new RequestError('invalid', 'A configuration has no control characters beside tabs and line ends', {
          path: '/config/config',
        });
      return session(device, signal, async (cli) => {
        const opened = await sendAll(cli, enter);
        const lines = cliLines(config).filter((line) => !line.trimStart().startsWith('!'));
        const sent = opened.refused ? opened : await sendAll(cli, lines);
        const closed = await sendAll(cli, leave);
        const failed = [sent, closed].find(({ refused }) => refused);
        const body = failed
          ? { device: device.name, status: 'error', ...failed }
          : { device: device.name, status: 'success', output: sent.output };
        return { status: failed ? 422 : 200, text: JSON.stringify(body) };
      });
    },
    configuration: (device, signal) => session(device, signal, (cli) => cli.run(show)),
    run: async (device, command, signal) => {
      if (controls.test(command) || /[\r\n]/.test(command))
        throw new RequestError('invalid', 'A command is one line without control characters');
      return session(device, signal, (cli) => cli.run(command));
    },
  };
};
