import type { Log } from '../../concurrency/log.ts';
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

/** The checkpoint for a position up to which every event was delivered. `events` are the last ones delivered. */
export const checkpointAt = (position: number, events: readonly StoredEvent[]): Checkpoint => {
  const last = events.at(-1);
  return { position, event: last?.position === position ? last.id : '' };
};

/**
 * True if the log goes on from the checkpoint. A missing event proves nothing, because EventStoreDB drops old events
 * when it is scavenged. Another event at the position shows that the log is another one. So does a head before the
 * position: the log became shorter, and other events will take the position.
 */
const goesOnFrom = async (store: EventStore, { position, event }: Checkpoint): Promise<boolean> => {
  const there = event === '' ? undefined : await store.at(position);
  return there ? there.id === event : position <= (await store.head());
};

/**
 * The checkpoint from which projecting goes on: that of the read store if the log goes on from there, else the
 * beginning.
 */
export const resume = async (
  store: EventStore,
  model: ReadStore,
  documents: Projector,
  log: Log,
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
