import { stopSignal } from '../../process/program.ts';
import { askHelp, askOptions } from '../askOptions.ts';
import { command, option, optionOr } from '../engine/command.ts';
import { fromIn } from '../fromIn.ts';

export const eventsTail = command({
  name: 'events tail',
  about: 'Show events of the running service as they happen',
  options: {
    source: option('<source>', 'only events of this source'),
    topic: option('<topic>', 'only events of this topic'),
    resource: option('<resource>', 'only events of a kind of resource (job), or of one (job/65f0...)'),
    from: {
      ...optionOr('<position>', 'the position after which to begin, or start, or now', 'now'),
      fault: (text: string) => (fromIn(text) === undefined ? 'It is neither start, now nor a position.' : undefined),
    },
    ...askOptions,
  },
  help: askHelp,
  run: async ({ url, user, ...options }) => {
    const { accessFrom } = await import('../askService.ts');
    const { tailEvents } = await import('../eventsTail.ts');
    await tailEvents(options, await accessFrom({ url, user }), stopSignal('Stopped'));
    return 0;
  },
});
