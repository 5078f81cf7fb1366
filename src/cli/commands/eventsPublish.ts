import { stopSignal } from '../../process/program.ts';
import { askHelp, askOptions } from '../askOptions.ts';
import { argument, argumentOr, command, UsageError } from '../engine/command.ts';
import { jsonFault } from '../jsonFault.ts';

export const eventsPublish = command({
  name: 'events publish',
  about: 'Publish an event through the running service',
  args: {
    source: argument('not beginning with @platform/ or $'),
    topic: argument('without a colon'),
    payload: {
      ...argumentOr('JSON; - reads it from standard input', 'null'),
      fault: (text: string) => (text === '-' ? undefined : jsonFault(text)),
    },
  },
  options: askOptions,
  help: askHelp,
  run: async ({ source, topic, payload, url, user }) => {
    if (payload === '-' && process.env.AUTOMATION_PLATFORM_PASSWORD === undefined)
      throw new UsageError('standard input has the payload, so AUTOMATION_PLATFORM_PASSWORD must have the password');
    const { accessFrom } = await import('../askService.ts');
    const { allOf, publishEvent } = await import('../events.ts');
    const text = payload === '-' ? await allOf(process.stdin) : payload;
    await publishEvent({ source, topic, payload: text }, await accessFrom({ url, user }), stopSignal('Stopped'));
    return 0;
  },
});
