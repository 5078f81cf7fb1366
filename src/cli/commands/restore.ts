import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';

export const restore = command({
  name: 'restore',
  about: 'Put a backup in the place of the log of a stopped service, after it was checked',
  args: { file: argument('a file that backup has made') },
  help: `\
The log that was there stays as <log file>.replaced, or .replaced-2 and so on. The backup brings back a past: no trigger and
no schedule fires for what was, and the log gets a new id.`,
  run: async ({ file }) => {
    const { restoreFile } = await import('../restoreFile.ts');
    await restoreFile(readConfig(process.env), file);
    return 0;
  },
});
