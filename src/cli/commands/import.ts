import { readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { argument, command } from '../engine/command.ts';

export const importLog = command({
  name: 'import',
  about: 'Make the log of a stopped service from an export; run it again to go on after a stop',
  args: { file: argument('the export') },
  help: `\
Every line is checked; the first one that is wrong is named, and nothing of its ten thousand is stored. The log must not
have events. It brings back a past: no trigger and no schedule fires for what was, and the log gets a new id.`,
  run: async ({ file }) => {
    const { importFile } = await import('../importFile.ts');
    await importFile(readConfig(process.env), file, stopSignal('Stopped; run the same command again to go on'));
    return 0;
  },
});
