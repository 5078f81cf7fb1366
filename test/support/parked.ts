import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { encode } from '../../src/store/event.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

/** Parks a run in the log of a folder, which no service uses. */
export const parkRun = async (folder: string, id: string): Promise<void> => {
  const log = await openSqliteStore({ file: join(folder, 'events.db') });
  try {
    const stream = `parkedReaction-${id}`;
    const caused = randomUUID();
    const about = {
      $correlationId: caused,
      $causationId: caused,
      at: new Date().toISOString(),
      actor: { id: '', username: 'platform', provenance: 'platform' },
      operation: 'runEventTrigger',
      requestId: caused,
      schemaVersion: 1,
    };
    const data = { stream: `publishedEvent-${caused}`, revision: 0, reason: 'It failed', trigger: 'gone', tries: 6 };
    const place = { stream, revision: 0, id: randomUUID(), source: '@platform/operations-manager' };
    await log.append(stream, -1, [encode(place, { topic: 'reactionParked', data }, about, '')]);
  } finally {
    await log.close();
  }
};
