import { mutex } from '@automation-platform/concurrency';
import { runCommand } from '../../src/cli/engine/runCommand.ts';
import { commands } from '../../src/cli/table.ts';
import { sentenceOf } from '../../src/process/program.ts';
import { version } from '../../src/version.ts';

/** The status with which a command ended, and the texts that it wrote. */
export type Ended = { readonly status: number; readonly out: string; readonly err: string };

type Stream = { write: typeof process.stdout.write; isTTY: boolean };

/** Collects what is written to a stream of this process until `release`. The stream counts as no terminal. */
const collect = (stream: Stream) => {
  const { write, isTTY } = stream;
  let text = '';
  stream.isTTY = false;
  stream.write = ((chunk: string | Uint8Array, ...[encoding, written]: readonly any[]) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    (typeof encoding === 'function' ? encoding : written)?.();
    return true;
  }) as typeof write;
  return {
    text: () => text,
    release: () => {
      stream.write = write;
      stream.isTTY = isTTY;
    },
  };
};

const turns = mutex();

/**
 * Runs a command of the program in this process with these settings, as `main.ts` does. A process of its own, which tests
 * of signals and of the program itself need, costs half a second of processor time.
 */
export const runInProcess = (words: readonly string[], settings: Readonly<Record<string, string>>): Promise<Ended> =>
  turns('', async () => {
    const { env } = process;
    const [out, err] = [collect(process.stdout), collect(process.stderr)];
    const listeners = process.getMaxListeners();
    process.setMaxListeners(0); // each command that can be stopped listens for signals
    process.env = { PATH: env.PATH, LOG_LEVEL: 'warn', ...settings };
    try {
      const status = await runCommand(commands, { version, description: '', footer: '' }, words);
      return { status, out: out.text(), err: err.text() };
    } catch (error) {
      return { status: 1, out: out.text(), err: `${err.text()}${sentenceOf(error)}\n` };
    } finally {
      process.env = env;
      process.setMaxListeners(listeners);
      out.release();
      err.release();
    }
  });
