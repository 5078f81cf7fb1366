import { stopSignal } from '../../program.ts';
import { argument, command, flag } from '../engine/command.ts';

export const copy = command({
  name: 'log copy',
  about: 'Copy the log of a stopped service to another place; run it again to go on after a stop',
  args: {
    from: argument('sqlite:<file> or esdb://...'),
    to: argument('the same; it may hold a part of the log already'),
  },
  options: {
    skipIncomplete: flag(
      'leave out streams of other tools that have lost events, as by scavenging; without it such a stream ends the copy',
    ),
  },
  help: `\
Events are copied byte by byte, those of other tools with their content types. Streams that were deleted, or deleted for
ever, are so in the copy. Not copied: streams and events of EventStoreDB's own (names and types that begin with $), but
for the metadata of streams of other tools. What stays behind is named at the end.`,
  run: async ({ from, to, skipIncomplete }) => {
    const { logCopy } = await import('../logCopy.ts');
    await logCopy(from, to, stopSignal('Stopped; run the same command again to go on'), { skipIncomplete });
    return 0;
  },
});
