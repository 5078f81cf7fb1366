import type { ForeignSources } from '../domain/sources.ts';
import { splitStream } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';
import { projections } from './all.ts';
import { countedEvents } from './countedEvents.ts';
import type { Checkpoint } from './engine/port.ts';
import { collectionsOf, projector } from './engine/projector.ts';
import { checkpointAt, resume } from './engine/resume.ts';
import { type MemoryOptions, memoryReadStore } from './index/memory.ts';

const categories = new Set(projections.map(({ of }) => of.category));

/** True if a projection may use the event. Other events are not needed for a snapshot. */
export const isProjected = ({ stream, type }: StoredEvent): boolean =>
  type.startsWith('@platform/') && categories.has(splitStream(stream).category);

type Folding = {
  /** Gives the state from which folding begins; without it, that is the beginning of the log. */
  readonly load?: MemoryOptions['load'];
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources | undefined;
};

/** Folds a log into read models in memory, beside all others. */
export const foldLog = async (log: EventStore, { load, foreign }: Folding = {}) => {
  const specs = { collections: collectionsOf(projections) };
  const model = memoryReadStore(load ? { ...specs, load } : specs);
  const documents = projector(projections, {
    read: model.forRunner.get,
    list: model.forRunner.list,
    log: () => undefined,
    counted: countedEvents(foreign),
  });
  let at = await resume(log, model, documents, () => undefined);

  return {
    model,
    at: (): Checkpoint => at,
    /** Folds what the log has up to a position, or up to its end. */
    foldTo: async (until = Infinity, told: (position: number) => void = () => undefined): Promise<void> => {
      const keep = async (to: Checkpoint): Promise<void> => {
        if (to.position > at.position) await model.apply(documents.drain(), at.position, to);
        at = to;
      };
      let to = at;
      for await (const batch of log.readAll(at.position)) {
        const events = batch.events.filter(({ position }) => position <= until);
        await documents.take(events);
        to = checkpointAt(Math.min(batch.position, until), events);
        told(to.position);
        if (batch.position >= until) break;
        if (documents.isFull()) await keep(to);
      }
      // In few steps, most documents are written as JSON once.
      await keep(to);
    },
  };
};

export type Fold = Awaited<ReturnType<typeof foldLog>>;
