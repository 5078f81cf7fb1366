import type { EventStore } from '../store/port.ts';
import type { Checkpoint, ReadStore } from './port.ts';
import type { Projector } from './projector.ts';

/** Where projecting goes on from: what the read store holds, if the log still has that very event there, else the beginning. */
export const resume = async (store: Pick<EventStore, 'at'>, model: ReadStore, documents: Projector, log: (message: string, about: Record<string, unknown>) => void): Promise<Checkpoint> => {
  let checkpoint = await model.resume();
  if (checkpoint.position > 0 && (await store.at(checkpoint.position))?.id !== checkpoint.event) {
    log('The read models do not belong to this log; they are built anew', { position: checkpoint.position });
    await model.clear();
    checkpoint = { position: 0, event: '' };
  }
  const { entries: parked } = await model.list('parked', { sort: 'name', order: 1, skip: 0, limit: 1000 });
  documents.reset(checkpoint.position === 0, new Map(parked.map(({ id, text }) => [id, (JSON.parse(text) as { reason: string }).reason])));
  return checkpoint;
};
