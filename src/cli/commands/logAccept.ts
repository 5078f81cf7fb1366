import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { plainText } from '@automation-platform/client';
import { type Config, readConfig } from '../../config.ts';
import { command } from '../engine/command.ts';

export const accept = command({
  name: 'log accept',
  about: 'Accept that the log lacks events that were in it, and what is damaged in it',
  run: async () => {
    await logAccept(readConfig(process.env));
    return 0;
  },
});

/**
 * Accepts that the embedded log lacks events, as after a restored backup, or has damaged events. It lists them, and
 * removes the files that remember the earlier log: the note beside the log, and the snapshot. The service must be
 * stopped; if it is not, an Error is thrown.
 */
export const logAccept = async (config: Config, output: NodeJS.WritableStream = process.stderr): Promise<void> => {
  const { seenBySnapshot, snapshotName } = await import('../../projections/snapshots/snapshot.ts');
  const { acceptDamage } = await import('../../store/sqlite/accept.ts');
  const { lockFolder } = await import('../../store/sqlite/log.ts');
  const { noteOf } = await import('../../store/sqlite/note.ts');
  const { isMissing, shorterThan } = await import('../../store/sqlite/shorter.ts');
  const { EVENTSTORE_URL: at, DATA_DIR: folder } = config;
  if (!('file' in at)) throw new Error('log accept is for a log in a file (sqlite:), not for EventStoreDB');
  if (!existsSync(dirname(at.file))) throw new Error(`There is no folder ${dirname(at.file)}`);
  const unlock = lockFolder(at.file);
  try {
    const snapshot = join(folder, snapshotName);
    const shorter = await shorterThan(at.file, await seenBySnapshot(snapshot));
    if (isMissing(at.file) && !shorter) throw new Error(`There is no log at ${at.file}`);
    const damaged = isMissing(at.file) ? [] : acceptDamage(at.file);
    if (!shorter && damaged.length === 0) {
      output.write('Nothing is missing or damaged; nothing was changed\n');
      return;
    }
    for (const file of [noteOf(at.file), snapshot]) await rm(file, { force: true });
    if (shorter) output.write(`${shorter.sentence}; ${shorter.missing} missing\n`);
    for (const reason of damaged) output.write(`${plainText(reason)}\n`);
    output.write('This is accepted now: the service starts with what the log has\n');
  } finally {
    unlock();
  }
};
