import { type Config, readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { argument, command } from '../engine/command.ts';
import { progressLine, type Terminal } from '../progress.ts';

export const importLog = command({
  name: 'import',
  about: 'Make the log of a stopped service from an export; run it again to go on after a stop',
  args: { file: argument('the export') },
  help: `\
Every line is checked; the first one that is wrong is named, and nothing of its ten thousand is stored. The log must not
have events. It brings back a past: no trigger and no schedule fires for what was, and the log gets a new id.`,
  run: async ({ file }) => {
    await importFile(readConfig(process.env), file, stopSignal('Stopped; run the same command again to go on'));
    return 0;
  },
});

/** Makes the log that the settings name from an export. Throws an Error that names the first line that is wrong. */
export const importFile = async (
  { EVENTSTORE_URL: at, DATA_DIR: folder }: Config,
  from: string,
  signal: AbortSignal,
  output: Terminal = process.stderr,
): Promise<void> => {
  const { importInto } = await import('../../store/moving/importInto.ts');
  const { fingerprintOf } = await import('@automation-platform/log-proof');
  const { beginSchedules } = await import('../beginSchedules.ts');
  const say = (line: string): void => void output.write(`${line}\n`);
  const progress = progressLine(output);
  try {
    const showProgress = (words: string): void => progress.show(() => words);
    const importResult = await importInto({ from, at, folder, beginSchedules, signal, log: say, report: showProgress });
    progress.end();
    if (importResult) {
      const { end, head, found, unfit } = importResult;
      const signed = end.key === null ? 'it is not signed' : `it is signed by the key ${fingerprintOf(end.key)}`;
      say(`${end.events} events imported, ${found} were there already; exported at ${head.at}, ${signed}`);
      unfit.forEach(say);
    }
    say('The log is in place. Secrets in it open with the SECRET_KEY or secret.key of the service that it is from');
  } finally {
    progress.end();
  }
};
