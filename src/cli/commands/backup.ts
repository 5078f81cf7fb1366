import { resolve } from 'node:path';
import { type Config, readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { fileOfLog, progressLine, type Terminal } from '../progress.ts';

export const backup = command({
  name: 'backup',
  about: 'Copy the log into a file, also while the service runs, and check the copy',
  args: { file: argument('an earlier backup of this name stays until the new one is complete') },
  help: 'The key of secrets is not in it: keep secret.key, or SECRET_KEY, elsewhere.',
  run: async ({ file }) => {
    await backupFile(readConfig(process.env), file);
    return 0;
  },
});

/** Makes a backup of the log that the settings name, also while the service runs. */
export const backupFile = async (config: Config, name: string, output: Terminal = process.stderr): Promise<void> => {
  const file = fileOfLog(config, 'backup');
  const to = resolve(name);
  const { backUp } = await import('../../store/moving/backup.ts');
  const progress = progressLine(output);
  try {
    const events = await backUp({ file, to, report: (position) => progress.show(() => `${position} events checked`) });
    progress.end();
    output.write(
      `${events} events are in ${to}, and were checked. Keep secret.key elsewhere: it is not in the backup\n`,
    );
  } finally {
    progress.end();
  }
};
