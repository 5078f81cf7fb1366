import { resolve } from 'node:path';
import { type Config, readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { fileOfLog, progressLine, type Terminal } from '../progress.ts';

export const restore = command({
  name: 'restore',
  about: 'Put a backup in the place of the log of a stopped service, after it was checked',
  args: { file: argument('a file that backup has made') },
  help: `\
The log that was there stays as <log file>.replaced, or .replaced-2 and so on. The backup brings back a past: no trigger and
no schedule fires for what was, and the log gets a new id.`,
  run: async ({ file }) => {
    await restoreFile(readConfig(process.env), file);
    return 0;
  },
});

/** Puts a backup in the place of the log that the settings name. */
export const restoreFile = async (config: Config, name: string, output: Terminal = process.stderr): Promise<void> => {
  const file = fileOfLog(config, 'restore');
  const from = resolve(name);
  const { restore } = await import('../../store/moving/backup.ts');
  const { beginSchedules } = await import('../beginSchedules.ts');
  const progress = progressLine(output);
  try {
    const showProgress = (position: number): void => progress.show(() => `${position} events checked`);
    const { events, unfit, kept } = await restore({ from, file, beginSchedules, report: showProgress });
    progress.end();
    for (const line of [`${events} events restored from ${from}`, ...unfit]) output.write(`${line}\n`);
    if (kept !== undefined) output.write(`The log that was there is ${kept}; remove it when you need it no more\n`);
  } finally {
    progress.end();
  }
};
