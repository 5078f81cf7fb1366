import type { EventStore, StoredEvent } from '../../store/port.ts';
import { parkedIn, parkedSpec } from './parked.ts';
import type { Checkpoint, ReadStore } from './port.ts';
import type { Projector } from './projector.ts';

const pageLength = 1000;

const parkedBefore = async ({ list }: ReadStore['forRunner']): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (;;) {
    const { entries, total } = await list(parkedSpec.name, {
      sort: 'name',
      order: 1,
      skip: found.size,
      limit: pageLength,
    });
    for (const entry of entries) found.set(entry.id, parkedIn(entry).reason);
    if (found.size >= total || entries.length === 0) return found;
  }
};

/** The checkpoint at a position up to which everything was delivered, the last of it these events. */
export const checkpointAt = (position: number, events: readonly StoredEvent[]): Checkpoint => {
  const last = events.at(-1);
  return { position, event: last?.position === position ? last.id : '' };
};

/**
 * Whether the log goes on from where the read models are. No event there says nothing: EventStoreDB drops old ones when
 * it is scavenged. Another event does, and so does an end before it: the log got shorter, and others will come to be
 * there.
 */
const goesOnFrom = async (
  store: Pick<EventStore, 'at' | 'head'>,
  { position, event }: Checkpoint,
): Promise<boolean> => {
  const there = event === '' ? undefined : await store.at(position);
  return there ? there.id === event : position <= (await store.head());
};

/** Where projecting goes on from: what the read store holds, if the log goes on from there, else the beginning. */
export const resume = async (
  store: Pick<EventStore, 'at' | 'head'>,
  model: ReadStore,
  documents: Projector,
  log: (message: string, about: Record<string, unknown>) => void,
): Promise<Checkpoint> => {
  let checkpoint = await model.resume();
  if (checkpoint.position > 0 && !(await goesOnFrom(store, checkpoint))) {
    log('The read models do not belong to this log; they are built anew', { position: checkpoint.position });
    await model.clear();
    checkpoint = { position: 0, event: '' };
  }
  documents.reset(checkpoint.position === 0, await parkedBefore(model.forRunner));
  return checkpoint;
};
