import type { EventStore } from '../store/port.ts';
import { parkedIn, parkedSpec } from './parked.ts';
import type { Checkpoint, ReadStore } from './port.ts';
import type { Projector } from './projector.ts';

const pageLength = 1000;

const parkedBefore = async ({ list }: ReadStore['forRunner']): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (;;) {
    const { entries, total } = await list(parkedSpec.name, { sort: 'name', order: 1, skip: found.size, limit: pageLength });
    for (const entry of entries) found.set(entry.id, parkedIn(entry).reason);
    if (found.size >= total || entries.length === 0) return found;
  }
};

/** Where projecting goes on from: what the read store holds, if the log still has that very event there, else the beginning. */
export const resume = async (store: Pick<EventStore, 'at'>, model: ReadStore, documents: Projector, log: (message: string, about: Record<string, unknown>) => void): Promise<Checkpoint> => {
  let checkpoint = await model.resume();
  if (checkpoint.position > 0 && (await store.at(checkpoint.position))?.id !== checkpoint.event) {
    log('The read models do not belong to this log; they are built anew', { position: checkpoint.position });
    await model.clear();
    checkpoint = { position: 0, event: '' };
  }
  documents.reset(checkpoint.position === 0, await parkedBefore(model.forRunner));
  return checkpoint;
};
