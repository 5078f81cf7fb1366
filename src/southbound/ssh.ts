import type { SshProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { isCommit, judge, needsCommit, refusalIn } from './cliAnswers.ts';
import { cliLines } from './cliLines.ts';
import { adapterFailure } from './failure.ts';
import type { Outbound } from './outbound.ts';
import type { Device, DeviceAdapter } from './port.ts';
import { SshFailure, withShell } from './sshConnection.ts';
import { type Cli, cliOf } from './sshSession.ts';

const maxBytes = 4 * 1024 * 1024;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** What came of some lines. `refused`: the first that the device refused, and the words of the device. */
type Sent = {
  readonly refused?: { readonly line: number; readonly text: string; readonly message: string };
  readonly output: string;
  readonly unrecognized: readonly string[];
};

const nothingSent: Sent = { output: '', unrecognized: [] };
const mostUnrecognized = 20;

const answer = (status: number, body: object) => ({ status, text: JSON.stringify(body) });

/**
 * Devices with a CLI over SSH, one connection per call. A configuration is sent line by line. When the device rejects a
 * line, the rest is not sent. The answer is then 422 with that line and the output of the device. A configuration is
 * taken only where the device says nothing, or what is known to be harmless; else the answer is `unverified`.
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

  /** Sends the lines up to the first one that the device refuses. */
  const sendAll = async (cli: Cli, lines: readonly string[]): Promise<Sent> => {
    let output = '';
    const unrecognized: string[] = [];
    for (const [i, line] of lines.entries()) {
      const printed = await cli.run(line);
      const judged = judge(printed, properties);
      if (judged.refusal !== undefined)
        return { refused: { line: i + 1, text: line, message: judged.refusal }, output: printed, unrecognized };
      if (printed !== '') output += `${printed}\n`;
      unrecognized.push(...judged.unrecognized);
    }
    return { output, unrecognized };
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
        // Without its commit, a device forgets what it was sent.
        const closed = sent.refused && leave.some(isCommit) ? nothingSent : await sendAll(cli, leave);
        const refused = sent.refused ?? closed.refused;
        if (refused) {
          const { message, ...line } = refused;
          const { output } = sent.refused ? sent : closed;
          return answer(422, { device: device.name, status: 'error', message, refused: line, output });
        }
        const said = [opened, sent, closed];
        const isCommitted = [...lines, ...leave].some(isCommit);
        const seen = { ostype: device.ostype, prompt: cli.prompt(), said: said.map(({ output }) => output).join('') };
        const warnings = !isCommitted && needsCommit(seen) ? ['No line commits the configuration'] : [];
        const unrecognized = said.flatMap((part) => part.unrecognized).slice(0, mostUnrecognized);
        const { output } = sent;
        if (unrecognized.length === 0 && warnings.length === 0)
          return answer(200, { device: device.name, status: 'success', output });
        const body = { device: device.name, status: 'unverified', output, unrecognized, warnings };
        return { ...answer(200, body), unverified: true };
      });
    },
    configuration: async (device, signal) => {
      const text = await session(device, signal, (cli) => cli.run(show));
      const refusal = refusalIn(text, properties);
      if (refusal !== undefined) throw adapterFailure(name, refusal, { status: 422, body: text });
      return text;
    },
    run: async (device, command, signal) => {
      if (controls.test(command) || /[\r\n]/.test(command))
        throw new RequestError('invalid', 'A command is one line without control characters');
      return session(device, signal, (cli) => cli.run(command));
    },
  };
};
