import { stopSignal } from '../../process/program.ts';
import { argument, command } from '../engine/command.ts';

export const replay = command({
  name: 'replay',
  about: 'Copy a log as `log copy` does, fold both logs, and compare them document by document',
  args: {
    from: argument('sqlite:<file> or esdb://...'),
    to: argument('the same; it may hold a part of the log already'),
  },
  help: 'The exit status is 3 if a document differs. The service must be stopped.',
  run: async ({ from, to }) => {
    const { replayLog } = await import('../replayLog.ts');
    const { showCompared } = await import('../showCompared.ts');
    const collections = await replayLog(from, to, stopSignal('Stopped; run the same command again to go on'));
    return (await showCompared(collections)) ? 3 : 0;
  },
});
