import type { Log } from '@automation-platform/concurrency';
import { cut } from '@automation-platform/json';
import { decode } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import {
  type Children,
  endedAt,
  entryOf,
  nameOf,
  type Projection,
  project,
  projectChildren,
  specsOf,
} from './define.ts';
import { type LoadedDocument, newDocumentsByStream, type StreamDocuments } from './documentsByStream.ts';
import { type Counted, eventTypesSpec, newEventCounts } from './eventTypes.ts';
import { goneSpec, newGone } from './guards.ts';
import { keyOf, parkedEntry, parkedSpec } from './parked.ts';
import type { Change, CollectionSpec, Entry, ReadStore } from './port.ts';
import { newRetiring } from './retiring.ts';

/** All collections that a projector fills. */
export const collectionsOf = (projections: readonly Projection[]): readonly CollectionSpec[] => [
  ...projections.flatMap(specsOf),
  eventTypesSpec,
  parkedSpec,
  goneSpec,
];

const changeOf = ({ projection, id, doc, revision }: LoadedDocument): Change => {
  const { collection } = projection;
  return doc === undefined ? { collection, id } : { collection, id, entry: entryOf(projection, id, doc, revision) };
};

/** True if the documents have ended, so that hardly any event will follow. There may be millions of these. */
const hasEnded = ({ docs }: StreamDocuments): boolean =>
  docs.some(({ projection, doc }) => endedAt(projection, doc) !== undefined);

type Needs = {
  readonly read: (collection: string, id: string) => Promise<Entry | undefined>;
  /** Lists what the read store holds; nothing if not set. */
  readonly list?: ReadStore['list'];
  readonly log: Log;
  readonly onTampered?: ((stream: string, reason: string) => void) | undefined;
  /** Which events are counted by type; none if not set. */
  readonly counted?: Counted | undefined;
  /** Of how many streams the documents are kept, between drains and after one. */
  readonly keptStreams?: number;
};

const nothingListed: ReadStore['list'] = async () => ({ entries: [], total: 0 });
const nothingCounted: Counted = { known: [], counts: () => false };

/**
 * Folds events into documents. `take` folds events. `drain` gives the entries of all documents that have changed since
 * the last drain. So a document that many events change is written as JSON only once. `read` gives the entry that the
 * read store holds.
 *
 * If an event cannot be folded, or events before it are missing, only its stream is concerned: the stream's documents
 * are parked, with their children. They leave their collections, their reason goes to the collection `parked`, and
 * later events of the stream are skipped. The log alone decides which documents are parked, so every rebuild parks the
 * same ones.
 */
export const projector = (projections: readonly Projection[], needs: Needs) => {
  const { read, list = nothingListed, log, onTampered = () => undefined } = needs;
  const { counted = nothingCounted, keptStreams = 200_000 } = needs;
  const documentsByStream = newDocumentsByStream(projections, read, keptStreams);
  const pendingChildren = newPendingChildren();
  const parking = newParking(pendingChildren, log);
  const { parked, park } = parking;
  const deletions = newGone();
  const eventCounts = newEventCounts(counted, read);
  // The documents that had an event since the last drain, by stream.
  const pendingStreams = new Map<string, StreamDocuments>();
  const retiring = newRetiring(projections, { list, documentsByStream, pending: pendingStreams });

  const step = (one: LoadedDocument, event: ReturnType<typeof decode>): void => {
    const { projection, id } = one;
    const { children } = projection;
    const next = project(projection, one.doc, event);
    const { cleared, removed = [], put = [] } = children ? projectChildren(children, id, event) : {};
    if (next === undefined && one.doc !== undefined) deletions.note(projection, id, one.doc, event.revision);
    // A kind of stream may have projections that make a document of few streams.
    if (next !== undefined || one.doc !== undefined) one.changed = true;
    one.doc = next;
    one.revision = event.revision;
    if (!children || !(cleared || removed.length > 0 || put.length > 0)) return;
    const pending = pendingChildren.of(children, id);
    if (cleared) pendingChildren.clear(pending);
    for (const name of removed) pending.docs.set(name, undefined);
    for (const [name, doc] of put) pending.docs.set(name, { doc, revision: event.revision });
  };

  /** Parks the documents of a stream that lacks events: the remaining events do not give the resource's true state. */
  const parkTampered = (ofStream: StreamDocuments, { stream, revision }: StoredEvent, next: number): void => {
    const reason = `Stream ${stream} goes on at revision ${revision}, where ${next} was to come`;
    park(ofStream, reason, { touched: true });
    onTampered(stream, reason);
  };

  const advance = (ofStream: StreamDocuments, stored: StoredEvent): void => {
    const next = (ofStream.revision ?? stored.revision - 1) + 1;
    ofStream.revision = stored.revision;
    if (stored.revision !== next) {
      parkTampered(ofStream, stored, next);
      return;
    }
    try {
      const event = decode(stored);
      for (const one of ofStream.docs) step(one, event);
      retiring.note(ofStream);
    } catch (error) {
      park(ofStream, `${stored.type} at position ${stored.position}: ${String(error)}`);
    }
  };

  /** The changes of a stream's documents. */
  const changesOf = (ofStream: StreamDocuments): readonly Change[] => {
    const changed = (): Change[] => ofStream.docs.filter((one) => one.changed).map(changeOf);
    try {
      return changed();
    } catch (error) {
      park(ofStream, `in words: ${String(error)}`);
      return changed();
    }
  };

  function* changesNow(): Generator<Change> {
    for (const ofStream of pendingStreams.values()) {
      if (ofStream.isRetired) documentsByStream.forget(ofStream.stream);
      else if (hasEnded(ofStream)) documentsByStream.release(ofStream.stream);
      else documentsByStream.keep(ofStream);
      yield* changesOf(ofStream);
      for (const one of ofStream.docs) one.changed = false;
    }
    yield* pendingChildren.drain();
    yield* parking.drain();
    yield* deletions.drain();
    yield* eventCounts.drain();
    pendingStreams.clear();
    retiring.drained();
  }

  return {
    /** Forgets everything. `empty` says that the read store holds nothing, so that no document is looked up there. */
    reset: (empty: boolean, parkedBefore: ReadonlyMap<string, string> = new Map()): void => {
      documentsByStream.reset(empty);
      pendingStreams.clear();
      pendingChildren.reset();
      retiring.drained();
      parking.reset(parkedBefore);
      deletions.reset();
      eventCounts.reset(empty);
    },
    take: async (events: readonly StoredEvent[]): Promise<void> => {
      for (const stored of events) {
        const counting = eventCounts.take(stored);
        if (counting) await counting;
        const retired = retiring.take(stored);
        if (retired) await retired;
        let ofStream = pendingStreams.get(stored.stream);
        if (!ofStream) {
          const found = documentsByStream.before(stored);
          ofStream = found instanceof Promise ? await found : found;
          if (!ofStream) continue;
          pendingStreams.set(stored.stream, ofStream);
        }
        if (parked.size === 0 || !parked.has(ofStream.key)) advance(ofStream, stored);
      }
    },
    /** True once the changed documents take up much memory and should be drained. */
    isFull: (): boolean => pendingStreams.size >= keptStreams,
    drain: (): Change[] => [...changesNow()],
    /** As `drain`, one by one: each document becomes JSON when its turn comes. All are read before `take` goes on. */
    changes: changesNow,
    parked: (): ReadonlyMap<string, string> => parked,
  };
};

export type Projector = ReturnType<typeof projector>;

const longestReason = 300;

/** Keeps the keys of parked documents and the reasons. */
const newParking = (pendingChildren: AllPendingChildren, log: Log) => {
  const parked = new Map<string, string>();
  const newlyParked = new Map<string, Entry>();

  return {
    /** The reasons by key. */
    parked: parked as ReadonlyMap<string, string>,
    /** Removes a stream's documents and their children from their collections, and records the reason. */
    park: ({ stream, docs }: StreamDocuments, fault: string, more?: { readonly touched: true }): void => {
      const reason = cut(fault, longestReason);
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
        if (projection.children) pendingChildren.clear(pendingChildren.of(projection.children, id));
      }
    },
    reset: (before: ReadonlyMap<string, string>): void => {
      newlyParked.clear();
      parked.clear();
      for (const [key, reason] of before) parked.set(key, reason);
    },
    *drain(): Generator<Change> {
      for (const [id, entry] of newlyParked) yield { collection: parkedSpec.name, id, entry };
      newlyParked.clear();
    },
  };
};

/** The changes of one document's children since the last drain: first `cleared`, then `docs`, by name. */
type PendingChildren = {
  readonly children: Children;
  readonly id: string;
  cleared: boolean;
  /** By name; undefined: it is removed. */
  readonly docs: Map<string, { readonly doc: unknown; readonly revision: number } | undefined>;
};

/** Collects the changes of children since the last drain. */
const newPendingChildren = () => {
  const pendingChildren = new Map<string, PendingChildren>();

  const of = (children: Children, id: string): PendingChildren => {
    const key = keyOf(children.collection, id);
    const pending = pendingChildren.get(key) ?? { children, id, cleared: false, docs: new Map() };
    pendingChildren.set(key, pending);
    return pending;
  };

  return {
    of,
    /** Removes all children of the document. */
    clear: (pending: PendingChildren): void => {
      pending.cleared = true;
      pending.docs.clear();
    },
    reset: (): void => pendingChildren.clear(),
    *drain(): Generator<Change> {
      for (const { children, id: parent, cleared, docs } of pendingChildren.values()) {
        const { collection } = children;
        if (cleared) yield { collection, id: parent, wholePart: true };
        for (const [name, child] of docs) {
          const id = `${parent}/${name}`;
          if (!child) yield { collection, id };
          else yield { collection, id, entry: entryOf(children, id, child.doc, child.revision) };
        }
      }
      pendingChildren.clear();
    },
  };
};

export type AllPendingChildren = ReturnType<typeof newPendingChildren>;
