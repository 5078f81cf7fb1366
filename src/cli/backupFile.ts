import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { backUp } from '../store/moving/backup.ts';
import { progressLine, type Terminal } from './progress.ts';

/** The file of the log. Only a log in a file can be backed up and restored here. */
export const fileOfLog = ({ EVENTSTORE_URL: at }: Pick<Config, 'EVENTSTORE_URL'>, command: string): string => {
  if ('file' in at) return at.file;
  throw new Error(`${command} is for a log in a file (sqlite:); EventStoreDB has backups of its own, or use export`);
};

/** Makes a backup of the log that the settings name, also while the service runs. */
export const backupFile = async (config: Config, name: string, output: Terminal = process.stderr): Promise<void> => {
  const file = fileOfLog(config, 'backup');
  const to = resolve(name);
  if (!existsSync(file)) throw new Error(`There is no log at ${file}`);
  if (to === resolve(file)) throw new Error('The backup cannot be the log itself');
  const progress = progressLine(output);
  try {
    const events = await backUp({ file, to, told: (position) => progress.show(() => `${position} events checked`) });
    progress.end();
    output.write(
      `${events} events are in ${to}, and were checked. Keep secret.key elsewhere: it is not in the backup\n`,
    );
  } finally {
    progress.end();
  }
};
