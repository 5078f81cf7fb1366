import { stopSignal } from '../../process/program.ts';
import { askHelp, askOptions } from '../askOptions.ts';
import { command } from '../engine/command.ts';

export const rebuild = command({
  name: 'rebuild',
  about: 'Compare the read models of the running service with its log, and put right what differs',
  options: askOptions,
  help: `The service goes on meanwhile. The exit status is 3 if a document differed.\n${askHelp}`,
  run: async (options) => {
    const { accessFrom } = await import('../askService.ts');
    const { askRebuild } = await import('../askRebuild.ts');
    const { showCompared } = await import('../showCompared.ts');
    const collections = await askRebuild(await accessFrom(options), stopSignal('Stopped; the service goes on with it'));
    return (await showCompared(collections)) ? 3 : 0;
  },
});
