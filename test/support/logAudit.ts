import assert from 'node:assert/strict';
import { link } from '@automation-platform/event-log';
import { decode, type Recorded, splitStream } from '../../src/store/event.ts';
import type { EventStore } from '../../src/store/port.ts';

/**
 * Reads a log on from where it was read before and checks that no event is in it twice and that every event is linked
 * to its predecessor. Gives the new events.
 */
export const logAudit = (open: () => Promise<Pick<EventStore, 'readAll' | 'close'>>) => {
  const heads = new Map<string, { readonly revision: number; readonly hash: string }>();
  const ids = new Set<string>();
  let after = 0;
  return async (): Promise<readonly Recorded[]> => {
    const found: Recorded[] = [];
    const log = await open();
    try {
      for await (const { events, position } of log.readAll(after)) {
        for (const event of events) {
          assert.ok(!ids.has(event.id), `event ${event.id} is there twice`);
          ids.add(event.id);
          if (!event.type.startsWith('@platform/')) continue;
          const { stream, revision, id, type, data, metadata } = event;
          const recorded = decode(event);
          // Parts of large events go by their content; the log's id, its key and checkpoints by themselves.
          if (['payload', 'log', 'secret', 'checkpoint'].includes(splitStream(stream).category)) continue;
          const before = heads.get(stream) ?? { revision: -1, hash: '' };
          assert.equal(revision, before.revision + 1, stream);
          const { hash } = recorded.metadata;
          assert.equal(
            link(
              { stream, revision, id, type, data, metadata: metadata.replace(/,"hash":"[^"]*"\}$/, '}') },
              before.hash,
            ),
            hash,
            `${stream} ${revision}`,
          );
          heads.set(stream, { revision, hash });
          found.push(recorded);
        }
        after = position;
      }
    } finally {
      await log.close();
    }
    return found;
  };
};
