import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';

export const backup = command({
  name: 'backup',
  about: 'Copy the log into a file, also while the service runs, and check the copy',
  args: { file: argument('an earlier backup of this name stays until the new one is complete') },
  help: 'The key of secrets is not in it: keep secret.key, or SECRET_KEY, elsewhere.',
  run: async ({ file }) => {
    const { backupFile } = await import('../backupFile.ts');
    await backupFile(readConfig(process.env), file);
    return 0;
  },
});
