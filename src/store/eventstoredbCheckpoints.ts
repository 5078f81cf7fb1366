import { randomUUID } from 'node:crypto';
import { mutex } from '../concurrency/mutex.ts';
import type { EventStoreDbReads } from './eventstoredbReads.ts';
import { type EventStore, type StoredEvent, WrongRevision } from './port.ts';

const kept = 10;

/**
 * The position in a checkpoint event, or 0 if there is none. At 0 a reader begins again and finds its work done, which
 * is harmless.
 */
const positionIn = ({ data }: StoredEvent): number => {
  try {
    const { position } = JSON.parse(data) as { readonly position: unknown };
    return typeof position === 'number' && Number.isSafeInteger(position) ? Math.max(0, position) : 0;
  } catch {
    return 0;
  }
};

/** The checkpoints of readers. A checkpoint is the position in the newest event of `checkpoint-<name>`. */
export const eventStoreDbCheckpoints = (reads: EventStoreDbReads, append: EventStore['append']) => {
  // The last known revision of each checkpoint stream, by the reader's name.
  const revisions = new Map<string, number>();
  const exclusively = mutex();

  const stored = async (name: string): Promise<{ revision: number; position: number }> => {
    const event = await reads.newest(`checkpoint-${name}`);
    return event ? { revision: event.revision, position: positionIn(event) } : { revision: -1, position: 0 };
  };

  /**
   * Makes EventStoreDB remove old checkpoints. This is done once for a stream. Errors are ignored, because old
   * checkpoints do no harm.
   */
  const keepFew = (stream: string): Promise<unknown> =>
    append(`$$${stream}`, -1, [
      { id: randomUUID(), type: '$metadata', data: JSON.stringify({ $maxCount: kept }), metadata: '{}' },
    ]).catch(() => undefined);

  const set = async (name: string, wanted: number): Promise<void> => {
    const stream = `checkpoint-${name}`;
    let before = revisions.get(name) ?? (await stored(name)).revision;
    for (let position = wanted; ; ) {
      try {
        const event = {
          id: randomUUID(),
          type: '@platform/log:checkpointSet',
          data: JSON.stringify({ position }),
          metadata: '{}',
        };
        revisions.set(name, (await append(stream, before, [event])).revision);
        if (before === -1) await keepFew(stream);
        return;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
        // Another node has set the checkpoint. The larger position is kept.
        const other = await stored(name);
        before = other.revision;
        position = Math.max(wanted, other.position);
      }
    }
  };

  return {
    checkpoint: async (name: string): Promise<number> => (await stored(name)).position,
    setCheckpoint: (name: string, position: number): Promise<void> => exclusively(name, () => set(name, position)),
  };
};
