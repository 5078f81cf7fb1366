import type { ForeignSources } from '../../domain/sources.ts';
import type { EventStore } from '../../store/port.ts';
import { streamUpTo } from '../../store/upTo.ts';
import { countedEvents } from '../countedEvents.ts';
import { goneSpec } from '../engine/gone.ts';
import type { Change, Entry } from '../engine/port.ts';
import { projector } from '../engine/projector.ts';
import { eventsOf } from './pastEvents.ts';
import { leavingRetired } from './retired.ts';
import { projectionsOf, type Unit } from './units.ts';

type Read = (collection: string, id: string) => Promise<Entry | undefined>;

const foldOf = (unit: Unit, read: Read, foreign?: ForeignSources) => {
  const counted = unit === 'log' ? countedEvents(foreign) : undefined;
  const fold = projector(projectionsOf(unit), { read, log: () => undefined, counted, keptStreams: 1 });
  fold.reset(true);
  return fold;
};

const nothing: Read = async () => undefined;

/** The documents that some streams of one category had at a position, by `<collection>/<id>`. */
export const foldStreams = async (
  log: EventStore,
  streams: readonly string[],
  until: number,
): Promise<ReadonlyMap<string, Entry>> => {
  const fold = foldOf({ stream: streams[0] ?? '' }, nothing);
  for (const stream of streams) for await (const events of streamUpTo(log, stream, until)) await fold.take(events);
  const left = await leavingRetired(log, { stream: streams[0] ?? '' }, until);
  const found = new Map<string, Entry>();
  for (const { collection, id, entry } of left(fold.drain())) if (entry) found.set(`${collection}/${id}`, entry);
  return found;
};

/**
 * Folds the events of a unit up to a position, and hands on the documents that they make. A part of the documents is
 * handed on as soon as their streams are complete, so that the events of few streams are in memory at a time.
 */
export const foldUnit = async (
  { log, foreign }: { readonly log: EventStore; readonly foreign?: ForeignSources | undefined },
  unit: Unit,
  until: number,
  put: (changes: readonly Change[]) => void,
): Promise<void> => {
  // Streams that are not complete are never drained, so no document has to be read again.
  const fold = foldOf(unit, nothing, foreign);
  const left = await leavingRetired(log, unit, until);
  const drain = (): void => {
    // Rights are those of now.
    put(left(fold.drain()).filter(({ collection }) => collection !== goneSpec.name));
    fold.reset(true, new Map());
  };
  for await (const { events, whole } of eventsOf(log, unit, until)) {
    await fold.take(events);
    if (whole) drain();
  }
  drain();
};
