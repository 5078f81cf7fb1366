import { auditKeySource, type Config, readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { command, flag, UsageError } from '../engine/command.ts';
import { progressLine, type Terminal } from '../progress.ts';

export const exportLog = command({
  name: 'export',
  about: 'Write the whole log to standard output, as lines of JSON',
  options: { skipIncomplete: flag('leave out streams of other tools that have lost events') },
  help: `\
automation-platform export > file
The service may run. The lines have checksums, and the last one has a digest over all of them.`,
  run: async ({ skipIncomplete }) => {
    if (process.stdout.isTTY) throw new UsageError('the export goes to standard output: export > file');
    const signal = stopSignal('Stopped; the export is not complete');
    await exportFile(readConfig(process.env), signal, { skipIncomplete });
    return 0;
  },
});

type Choices = {
  /** Leaves out tools' streams that have lost events. */
  readonly skipIncomplete?: boolean;
  readonly output?: NodeJS.WritableStream;
  readonly messages?: Terminal;
};

/** Writes a text, and waits until the output takes more. Rejects when nobody reads any more. */
const writerTo = (output: NodeJS.WritableStream) => {
  let failed: Error | undefined;
  let wake = (): void => undefined;
  output.on('error', (error: Error) => {
    failed = error;
    wake();
  });
  output.on('drain', () => wake());
  return async (text: string): Promise<void> => {
    if (failed) throw failed;
    if (output.write(text)) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (failed) throw failed;
  };
};

/** Exports the log that the settings name, also while a service writes to it. */
export const exportFile = async (config: Config, signal: AbortSignal, choices: Choices = {}): Promise<void> => {
  const { skipIncomplete = false, output = process.stdout, messages = process.stderr } = choices;
  const { exportLog } = await import('../../store/moving/exportLog.ts');
  const { fingerprintOf } = await import('@automation-platform/log-proof');
  const { keysAtHand } = await import('../../store/signingKeys.ts');
  const key = keysAtHand(auditKeySource(config))?.own;
  const say = (line: string): void => void messages.write(`${line}\n`);
  const progress = progressLine(messages);
  try {
    const end = await exportLog(
      {
        at: config.EVENTSTORE_URL,
        skipIncomplete,
        key,
        now: () => new Date(),
        log: say,
        report: ({ events, position, head }) => {
          signal.throwIfAborted();
          progress.show(() => `${Math.floor((100 * position) / head)} % (${events} events)`);
        },
      },
      writerTo(output),
    );
    progress.end();
    const signed = key
      ? `signed by the key ${fingerprintOf(key.key)}`
      : 'not signed, because no signing key is at hand';
    say(`${end.events} events exported; the export is ${signed}`);
    say('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from');
  } finally {
    progress.end();
  }
};
