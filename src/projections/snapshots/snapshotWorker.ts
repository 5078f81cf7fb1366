import '../../soundJson.ts';
import { workerData } from 'node:worker_threads';
import { splitStream } from '../../store/event.ts';
import { openLogToRead } from '../../store/open.ts';
import { withPayloads } from '../../store/payloads.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { LogUrl } from '../../store/url.ts';
import { projections } from '../all.ts';
import { countedEvents } from '../countedEvents.ts';
import { collectionsOf, projector } from '../engine/projector.ts';
import { checkpointAt, resume } from '../engine/resume.ts';
import { memoryReadStore } from '../index/memory.ts';
import { type Origin, readSnapshot, writeSnapshot } from './snapshot.ts';

export type SnapshotWork = { readonly log: LogUrl; readonly file: string; readonly origin: Origin };

const categories = new Set(projections.map(({ of }) => of.category));

/** True if a projection may use the event. Other events are not needed for a snapshot. */
const isProjected = ({ stream, type }: StoredEvent): boolean =>
  type.startsWith('@platform/') && categories.has(splitStream(stream).category);

// Makes the snapshot from the last one and the log, never from live memory: an error in memory must not be passed on.
const make = async ({ log, file, origin }: SnapshotWork): Promise<void> => {
  const store = withPayloads(await openLogToRead(log, () => undefined), isProjected);
  const model = memoryReadStore({ collections: collectionsOf(projections), load: () => readSnapshot(file, origin) });
  const documents = projector(projections, {
    read: model.forRunner.get,
    log: () => undefined,
    counted: countedEvents,
  });
  const from = await resume(store, model, documents, () => undefined);
  let to = from;
  for await (const { events, position } of store.readAll(from.position)) {
    await documents.take(events);
    to = checkpointAt(position, events);
  }
  if (to.position > from.position) {
    await model.apply(documents.drain(), from.position, to);
    await writeSnapshot(file, origin, to, model.entries());
  }
  await store.close();
};

void make(workerData as SnapshotWork);
