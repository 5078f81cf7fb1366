import { LRUCache } from 'lru-cache';
import { decode, type Recorded, splitStream } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { type Children, entryOf, project, type Projection, specsOf } from './define.ts';
import type { Change, CollectionSpec, Entry } from './port.ts';

/** The collection that keeps why a document's projection threw: id is `<collection>/<id>`. */
const parkedSpec: CollectionSpec = { name: 'parked', sorts: ['name'], filters: [] };

/** All collections that the projections fill. */
export const collectionsOf = (projections: readonly Projection[]): readonly CollectionSpec[] => [...projections.flatMap(specsOf), parkedSpec];

/** A document as far as its stream has been folded; `changed` since the last drain. */
type Held = { readonly projection: Projection; readonly id: string; readonly key: string; doc: unknown; revision: number; changed: boolean };

/** What has become of the children of one document since the last drain: `docs` by name, after `cleared`. */
type Brood = { readonly children: Children; readonly id: string; cleared: boolean; readonly docs: Map<string, Pick<Held, 'doc' | 'revision'>> };

/**
 * Folds events into documents. `take` works out what they become, `drain` gives what changed since the last drain as
 * entries: a document that many events touch is put into words once. A document whose projection throws is parked with
 * the reason and stays as it was; the others go on. The children of a document are parked together. `read` gives the
 * entry that the read store holds.
 */
export const projector = (projections: readonly Projection[], read: (collection: string, id: string) => Promise<Entry | undefined>, log: (message: string, about: Record<string, unknown>) => void) => {
  const byCategory = new Map(projections.map(({ of }) => [of.category, projections.filter((p) => p.of.category === of.category)]));
  // Both by stream: the documents that its events make.
  const docs = new LRUCache<string, readonly Held[]>({ max: 200_000 });
  const touched = new Map<string, readonly Held[]>();
  const broods = new Map<string, Brood>();
  const parked = new Map<string, string>();
  const newlyParked = new Set<string>();
  let nothingBefore = false;

  const held = (projection: Projection, id: string, entry?: Entry): Held =>
    ({ projection, id, key: `${projection.collection}/${id}`, doc: entry && JSON.parse(entry.text), revision: entry?.revision ?? -1, changed: false });

  /** The documents of a stream as they are before an event; undefined if it makes none. */
  const before = ({ stream, revision }: StoredEvent): readonly Held[] | undefined | Promise<readonly Held[]> => {
    const known = docs.get(stream);
    if (known) return known;
    const { category, id } = splitStream(stream);
    const concerned = byCategory.get(category);
    if (nothingBefore && revision === 0) return concerned?.map((projection) => held(projection, id));
    return concerned && Promise.all(concerned.map(async (projection) => held(projection, id, await read(projection.collection, id))));
  };

  const parking = (key: string, event: Recorded, step: () => void): void => {
    if (parked.size > 0 && parked.has(key)) return;
    try {
      step();
    } catch (error) {
      log('A projection threw; its document is parked', { document: key, position: event.position, error });
      parked.set(key, `${event.source}:${event.topic} at position ${event.position}: ${String(error)}`);
      newlyParked.add(key);
    }
  };

  const step = (one: Held, event: Recorded): void => parking(one.key, event, () => {
    one.doc = project(one.projection, one.doc, event);
    one.revision = event.revision;
    one.changed = true;
  });

  const stepChildren = (children: Children, id: string, event: Recorded): void => {
    const key = `${children.collection}/${id}`;
    parking(key, event, () => {
      const { cleared, put = [] } = children.on[event.topic]?.(event) ?? {};
      const brood = broods.get(key) ?? { children, id, cleared: false, docs: new Map() };
      broods.set(key, brood);
      if (cleared) {
        brood.cleared = true;
        brood.docs.clear();
      }
      for (const [name, doc] of put) brood.docs.set(name, { doc, revision: event.revision });
    });
  };

  return {
    /** Forgets everything; `empty` says that the read store holds nothing, so that nothing has to be looked up in it. */
    reset: (empty: boolean, parkedBefore: ReadonlyMap<string, string> = new Map()): void => {
      docs.clear();
      touched.clear();
      broods.clear();
      newlyParked.clear();
      parked.clear();
      for (const [key, reason] of parkedBefore) parked.set(key, reason);
      nothingBefore = empty;
    },
    take: async (events: readonly StoredEvent[]): Promise<void> => {
      for (const stored of events) {
        let concerned = touched.get(stored.stream);
        if (!concerned) {
          const found = before(stored);
          concerned = found instanceof Promise ? await found : found;
          if (!concerned) continue;
          touched.set(stored.stream, concerned);
        }
        const event = decode(stored);
        for (const one of concerned) {
          step(one, event);
          if (one.projection.children) stepChildren(one.projection.children, one.id, event);
        }
      }
    },
    drain: (): Change[] => {
      const changes: Change[] = [];
      for (const [stream, concerned] of touched) {
        docs.set(stream, concerned);
        for (const one of concerned) {
          if (!one.changed) continue;
          const { projection: { collection }, projection, id, doc, revision } = one;
          changes.push(doc === undefined ? { collection, id } : { collection, id, entry: entryOf(projection, id, doc, revision) });
          one.changed = false;
        }
      }
      for (const { children, id: parent, cleared, docs } of broods.values()) {
        const { collection } = children;
        if (cleared) changes.push({ collection, id: parent, wholePart: true });
        for (const [name, { doc, revision }] of docs) {
          const id = `${parent}/${name}`;
          changes.push({ collection, id, entry: entryOf(children, id, doc, revision) });
        }
      }
      for (const key of newlyParked)
        changes.push({ collection: parkedSpec.name, id: key, entry: { id: key, text: JSON.stringify({ document: key, reason: parked.get(key) }), revision: 0, sorts: { name: key }, filters: {} } });
      touched.clear();
      broods.clear();
      newlyParked.clear();
      return changes;
    },
    parked: (): ReadonlyMap<string, string> => parked,
  };
};

export type Projector = ReturnType<typeof projector>;
