import { LRUCache } from 'lru-cache';
import { decode, type Recorded, splitStream } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { entryOf, project, type Projection, specOf } from './define.ts';
import type { Change, CollectionSpec, Entry } from './port.ts';

/** The collection that keeps why a document's projection threw: id is `<collection>/<id>`. */
const parkedSpec: CollectionSpec = { name: 'parked', sorts: ['name'], filters: [] };

/** All collections that the projections fill. */
export const collectionsOf = (projections: readonly Projection[]): readonly CollectionSpec[] => [...projections.map(specOf), parkedSpec];

type Held = { readonly projection: Projection; readonly id: string; readonly doc: unknown; readonly revision: number };

/**
 * Folds events into documents. `take` works out what they become, `drain` gives what changed since the last drain as
 * entries: a document that many events touch is put into words once. A document whose projection throws is parked with
 * the reason and stays as it was; the others go on. `read` gives the entry that the read store holds.
 */
export const projector = (projections: readonly Projection[], read: (collection: string, id: string) => Promise<Entry | undefined>, log: (message: string, about: Record<string, unknown>) => void) => {
  const byCategory = new Map(projections.map(({ of }) => [of.category, projections.filter((p) => p.of.category === of.category)]));
  const docs = new LRUCache<string, Held>({ max: 200_000 });
  const touched = new Map<string, Held>();
  const parked = new Map<string, string>();
  const newlyParked = new Set<string>();
  let nothingBefore = false;

  const load = async (projection: Projection, id: string): Promise<Held> => {
    const entry = await read(projection.collection, id);
    return { projection, id, doc: entry && JSON.parse(entry.text), revision: entry?.revision ?? -1 };
  };

  const step = (key: string, held: Held, event: Recorded): void => {
    if (parked.has(key)) return;
    try {
      const { projection, id } = held;
      touched.set(key, { projection, id, doc: project(projection, held.doc, event), revision: event.revision });
    } catch (error) {
      log('A projection threw; its document is parked', { document: key, position: event.position, error });
      parked.set(key, `${event.source}:${event.topic} at position ${event.position}: ${String(error)}`);
      newlyParked.add(key);
    }
  };

  return {
    /** Forgets everything; `empty` says that the read store holds nothing, so that nothing has to be looked up in it. */
    reset: (empty: boolean, parkedBefore: ReadonlyMap<string, string> = new Map()): void => {
      docs.clear();
      touched.clear();
      newlyParked.clear();
      parked.clear();
      for (const [key, reason] of parkedBefore) parked.set(key, reason);
      nothingBefore = empty;
    },
    take: async (events: readonly StoredEvent[]): Promise<void> => {
      for (const stored of events) {
        const { category, id } = splitStream(stored.stream);
        const concerned = byCategory.get(category);
        if (!concerned) continue;
        const event = decode(stored);
        for (const projection of concerned) {
          const key = `${projection.collection}/${id}`;
          const known = touched.get(key) ?? docs.get(key);
          const isNew = nothingBefore && event.revision === 0;
          step(key, known ?? (isNew ? { projection, id, doc: undefined, revision: -1 } : await load(projection, id)), event);
        }
      }
    },
    drain: (): Change[] => {
      const changes: Change[] = [];
      for (const [key, held] of touched) {
        const { projection, id, doc, revision } = held;
        docs.set(key, held);
        changes.push(doc === undefined ? { collection: projection.collection, id } : { collection: projection.collection, id, entry: entryOf(projection, id, doc, revision) });
      }
      for (const key of newlyParked)
        changes.push({ collection: parkedSpec.name, id: key, entry: { id: key, text: JSON.stringify({ document: key, reason: parked.get(key) }), revision: 0, sorts: { name: key }, filters: {} } });
      touched.clear();
      newlyParked.clear();
      return changes;
    },
    parked: (): ReadonlyMap<string, string> => parked,
  };
};

export type Projector = ReturnType<typeof projector>;
