import { readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { command, flag, UsageError } from '../engine/command.ts';

export const exportLog = command({
  name: 'export',
  about: 'Write the whole log to standard output, as lines of JSON',
  options: { skipIncomplete: flag('leave out streams of other tools that have lost events') },
  help: `\
automation-platform export > file
The service may run. The lines have checksums, and the last one has a digest over all of them.`,
  run: async ({ skipIncomplete }) => {
    if (process.stdout.isTTY) throw new UsageError('the export goes to standard output: export > file');
    const { exportFile } = await import('../exportFile.ts');
    await exportFile(readConfig(process.env), stopSignal('Stopped; the export is not complete'), { skipIncomplete });
    return 0;
  },
});
