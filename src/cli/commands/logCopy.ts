import { readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { argument, command, flag, option } from '../engine/command.ts';
import { timeFault } from '../faults.ts';

const inUtc = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : new Date(text.toUpperCase()).toISOString();

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
    forget: option('<account id>', 'replace the names of a deleted account by (forgotten)'),
    withoutJobsBefore: { ...option('<time>', 'leave out jobs that had ended before'), fault: timeFault },
    withoutEventsBefore: { ...option('<time>', 'leave out events that others published before'), fault: timeFault },
  },
  help: `\
Events are copied byte by byte, those of other tools with their content types. Streams that were deleted, or deleted for
ever, are so in the copy. Not copied: streams and events of EventStoreDB's own (names and types that begin with $), but
for the metadata of streams of other tools. What stays behind is named at the end.

With --forget or --without-..., the copy begins its signatures anew: it says what was removed, and is signed with AUDIT_KEY
or <DATA_DIR>/audit.key. AUDIT_ANCHOR is told. Times are RFC 3339: 2026-01-31T00:00:00Z (docs/tampering.md).`,
  run: async ({ from, to, skipIncomplete, forget, withoutJobsBefore, withoutEventsBefore }) => {
    const { logCopy } = await import('../logCopy.ts');
    const asked = { forget, jobsBefore: inUtc(withoutJobsBefore), eventsBefore: inUtc(withoutEventsBefore) };
    const isRewritten = Object.values(asked).some((value) => value !== undefined);
    const rewrite = isRewritten ? { asked, config: readConfig(process.env) } : undefined;
    const signal = stopSignal('Stopped; run the same command again to go on');
    await logCopy(from, to, signal, { skipIncomplete, ...(rewrite && { rewrite }) });
    return 0;
  },
});
