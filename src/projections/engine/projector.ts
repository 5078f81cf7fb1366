import { LRUCache } from 'lru-cache';
import { decode, splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { type Children, entryOf, nameOf, project, projectChildren, type Projection, specsOf } from './define.ts';
import { keyOf, parkedEntry, parkedSpec } from './parked.ts';
import type { Change, CollectionSpec, Entry } from './port.ts';

/** All collections that the projections fill. */
export const collectionsOf = (projections: readonly Projection[]): readonly CollectionSpec[] => [
  ...projections.flatMap(specsOf),
  parkedSpec,
];

/** A document as far as its stream has been folded; `changed` since the last drain. */
type Held = { readonly projection: Projection; readonly id: string; doc: unknown; revision: number; changed: boolean };

/** The documents that the events of one stream make, up to a revision; by `key` it is known whether they are parked. */
type Unit = {
  readonly stream: string;
  readonly key: string;
  readonly docs: readonly Held[];
  /** Of the last event; -1 before the first, undefined if nothing tells: a document that was removed. */
  revision: number | undefined;
};

/** What has become of the children of one document since the last drain: `docs` by name, after `cleared`. */
type Brood = {
  readonly children: Children;
  readonly id: string;
  cleared: boolean;
  readonly docs: Map<string, Pick<Held, 'doc' | 'revision'>>;
};

type Log = (message: string, about: Record<string, unknown>) => void;

const longestReason = 300;
const mostUnits = 200_000;

/**
 * Folds events into documents. `take` works out what they become, `drain` gives what changed since the last drain as
 * entries: a document that many events touch is put into words once. `read` gives the entry that the read store holds.
 *
 * What cannot be done with an event concerns its stream alone, and so do events that are missing before it: the
 * documents that the stream makes are parked, with their children. They leave their collections, the reason comes into
 * `parked`, later events pass them by. Which are parked follows from the log alone, so it is the same however the read
 * models come about.
 */
export const projector = (
  projections: readonly Projection[],
  read: (collection: string, id: string) => Promise<Entry | undefined>,
  log: Log,
  onTouched: (stream: string, reason: string) => void = () => undefined,
) => {
  const byCategory = new Map(
    projections.map(({ of }) => [of.category, projections.filter((p) => p.of.category === of.category)]),
  );
  // Both by stream.
  const units = new LRUCache<string, Unit>({
    max: mostUnits,
    dispose: (_, __, why) => {
      knowsAll &&= why !== 'evict';
    },
  });
  const touched = new Map<string, Unit>();
  const broods = new Map<string, Brood>();
  const parked = new Map<string, string>();
  const newlyParked = new Map<string, Entry>();
  let nothingBefore = false;
  // Whether every stream that had an event is among the units.
  let knowsAll = false;

  const held = (projection: Projection, id: string, entry?: Entry): Held => ({
    projection,
    id,
    doc: entry && JSON.parse(entry.text),
    revision: entry?.revision ?? -1,
    changed: false,
  });

  /** The documents of a stream as they are before an event; undefined if it makes none. */
  const before = ({ stream, revision }: StoredEvent): Unit | undefined | Promise<Unit> => {
    const known = units.get(stream);
    if (known) return known;
    const { category, id } = splitStream(stream);
    const concerned = byCategory.get(category);
    if (!concerned) return undefined;
    const key = keyOf(concerned[0]!.collection, id);
    if (knowsAll || (nothingBefore && revision === 0)) {
      return { stream, key, docs: concerned.map((projection) => held(projection, id)), revision: -1 };
    }
    const reading = concerned.map(async (projection) => held(projection, id, await read(projection.collection, id)));
    return Promise.all(reading).then((docs) => {
      const last = Math.max(...docs.map((one) => one.revision));
      return { stream, key, docs, revision: last < 0 && revision > 0 ? undefined : last };
    });
  };

  const broodOf = (children: Children, id: string): Brood => {
    const key = keyOf(children.collection, id);
    const brood = broods.get(key) ?? { children, id, cleared: false, docs: new Map() };
    broods.set(key, brood);
    return brood;
  };

  const clear = (brood: Brood): void => {
    brood.cleared = true;
    brood.docs.clear();
  };

  const park = ({ stream, docs }: Unit, fault: string, more?: { readonly touched: true }): void => {
    const reason = fault.slice(0, longestReason);
    log('The documents of a stream are parked', { stream, reason });
    for (const one of docs) {
      const { projection, id, doc } = one;
      const document = keyOf(projection.collection, id);
      const name = doc === undefined ? id : nameOf(projection, doc);
      parked.set(document, reason);
      newlyParked.set(
        document,
        parkedEntry(
          { document, stream, reason, ...more },
          keyOf(projection.collection, name),
          doc === undefined ? undefined : projection.guard?.(doc),
        ),
      );
      one.doc = undefined;
      one.changed = true;
      if (projection.children) clear(broodOf(projection.children, id));
    }
  };

  const step = (one: Held, event: ReturnType<typeof decode>): void => {
    const { projection, id } = one;
    const { children } = projection;
    const next = project(projection, one.doc, event);
    const { cleared, put = [] } = children ? projectChildren(children, id, event) : {};
    one.doc = next;
    one.revision = event.revision;
    one.changed = true;
    if (!children || !(cleared || put.length > 0)) return;
    const brood = broodOf(children, id);
    if (cleared) clear(brood);
    for (const [name, doc] of put) brood.docs.set(name, { doc, revision: event.revision });
  };

  /** Some events of a stream are gone: what the others make is not what the resource is. */
  const parkTouched = (unit: Unit, { stream, revision }: StoredEvent, next: number): void => {
    const reason = `Stream ${stream} goes on at revision ${revision}, where ${next} was to come`;
    park(unit, reason, { touched: true });
    onTouched(stream, reason);
  };

  const advance = (unit: Unit, stored: StoredEvent): void => {
    const next = (unit.revision ?? stored.revision - 1) + 1;
    unit.revision = stored.revision;
    if (stored.revision !== next) {
      parkTouched(unit, stored, next);
      return;
    }
    try {
      const event = decode(stored);
      for (const one of unit.docs) step(one, event);
    } catch (error) {
      park(unit, `${stored.type} at position ${stored.position}: ${String(error)}`);
    }
  };

  const changeOf = ({ projection, id, doc, revision }: Held): Change => {
    const { collection } = projection;
    return doc === undefined ? { collection, id } : { collection, id, entry: entryOf(projection, id, doc, revision) };
  };

  /** What has changed of a stream's documents. */
  const changesOf = (unit: Unit): readonly Change[] => {
    const changed = (): Change[] => unit.docs.filter((one) => one.changed).map(changeOf);
    try {
      return changed();
    } catch (error) {
      park(unit, `in words: ${String(error)}`);
      return changed();
    }
  };

  return {
    /**
     * Forgets everything; `empty` says that the read store holds nothing, so that nothing has to be looked up in it.
     */
    reset: (empty: boolean, parkedBefore: ReadonlyMap<string, string> = new Map()): void => {
      units.clear();
      touched.clear();
      broods.clear();
      newlyParked.clear();
      parked.clear();
      for (const [key, reason] of parkedBefore) parked.set(key, reason);
      nothingBefore = empty;
      knowsAll = empty;
    },
    take: async (events: readonly StoredEvent[]): Promise<void> => {
      for (const stored of events) {
        let unit = touched.get(stored.stream);
        if (!unit) {
          const found = before(stored);
          unit = found instanceof Promise ? await found : found;
          if (!unit) continue;
          touched.set(stored.stream, unit);
        }
        if (parked.size === 0 || !parked.has(unit.key)) advance(unit, stored);
      }
    },
    drain: (): Change[] => {
      const changes: Change[] = [];
      for (const [stream, unit] of touched) {
        units.set(stream, unit);
        changes.push(...changesOf(unit));
        for (const one of unit.docs) one.changed = false;
      }
      for (const { children, id: parent, cleared, docs } of broods.values()) {
        const { collection } = children;
        if (cleared) changes.push({ collection, id: parent, wholePart: true });
        for (const [name, { doc, revision }] of docs) {
          const id = `${parent}/${name}`;
          changes.push({ collection, id, entry: entryOf(children, id, doc, revision) });
        }
      }
      for (const [id, entry] of newlyParked) changes.push({ collection: parkedSpec.name, id, entry });
      touched.clear();
      broods.clear();
      newlyParked.clear();
      return changes;
    },
    parked: (): ReadonlyMap<string, string> => parked,
  };
};

export type Projector = ReturnType<typeof projector>;
