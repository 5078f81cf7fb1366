import { setImmediate as nextTurn } from 'node:timers/promises';
import { dueQueue } from '@automation-platform/concurrency';
import { retirement } from '../../domain/engine/retirement.ts';
import { splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { endedAt, type Projection } from './define.ts';
import { documentIn, pagesOf } from './documents.ts';
import type { DocumentsByStream, LoadedDocument, StreamDocuments } from './documentsByStream.ts';
import type { ReadStore } from './port.ts';

type Needs = {
  /** Lists what the read store holds. */
  readonly list: ReadStore['list'];
  readonly documentsByStream: Pick<DocumentsByStream, 'before' | 'removed'>;
  /** The documents that had an event since the last drain, by stream. */
  readonly pending: Map<string, StreamDocuments>;
};

/** How many documents are looked at before other work has its turn. */
const looked = 400;

/** A projection whose documents are retired, and those that name its documents. */
type Kind = { readonly main: Projection; readonly naming: readonly Projection[] };

const kindsIn = (projections: readonly Projection[]): ReadonlyMap<string, Kind> => {
  const kinds = new Map<string, Kind>();
  for (const main of projections)
    if (main.retires) {
      const { category } = main.of;
      kinds.set(category, { main, naming: projections.filter(({ forgets }) => forgets?.category === category) });
    }
  return kinds;
};

/** The time before which this event retires what has ended, epoch milliseconds; undefined: it retires nothing. */
export const retiredBefore = ({ stream, type, data }: StoredEvent, { of }: Projection): number | undefined => {
  if (stream !== `${retirement.category}-${of.category}` || type !== `@platform/${of.area}:endedRetired`)
    return undefined;
  try {
    const { before } = JSON.parse(data) as { readonly before?: unknown };
    return typeof before === 'string' ? Date.parse(before) || undefined : undefined;
  } catch {
    return undefined;
  }
};

/** The documents that ended before a time (epoch milliseconds), page by page: ids and the times of their ends. */
export async function* endedBefore(
  model: Pick<ReadStore, 'list'>,
  projection: Projection,
  before: number,
): AsyncGenerator<readonly { readonly id: string; readonly at: number }[]> {
  const { from = '' } = projection.retires ?? {};
  const fromOf = projection.sorts[from];
  for await (const entries of pagesOf(model, projection, { sort: from, order: 1, length: looked })) {
    const ended: { readonly id: string; readonly at: number }[] = [];
    let isLast = false;
    for (const entry of entries) {
      const doc: unknown = documentIn(projection, entry);
      isLast = Date.parse(fromOf?.(doc) ?? '') >= before;
      if (isLast) break;
      const at = endedAt(projection, doc);
      if (at !== undefined && at < before) ended.push({ id: entry.id, at });
    }
    yield ended;
    if (isLast) return;
    await nextTurn();
  }
}

const ofProjection = (ofStream: StreamDocuments, projection: Projection): LoadedDocument | undefined =>
  ofStream.docs.find((one) => one.projection === projection);

/**
 * Removes documents that ended long ago, at the event that says so: both those that the read store holds and those that
 * have changed since the last drain. So the log alone decides which documents there are.
 */
export const newRetiring = (projections: readonly Projection[], { list, documentsByStream, pending }: Needs) => {
  const kinds = kindsIn(projections);
  // By category, streams with an event since the last drain: `changed` had one since the last retirement, `ends` are of the rest.
  const newNotes = () => ({ changed: new Set<StreamDocuments>(), ends: dueQueue() });
  const notes = new Map([...kinds.keys()].map((category) => [category, newNotes()]));
  const naming = new Set([...kinds.values()].flatMap((kind) => kind.naming));
  const namingStreams = new Set<string>();

  const removeStored = async (main: Projection, before: number, deletedIds: Set<string>): Promise<void> => {
    for await (const page of endedBefore({ list }, main, before))
      for (const { id } of page) {
        const stream = `${main.of.category}-${id}`;
        if (pending.has(stream)) continue;
        const removed = documentsByStream.removed(stream);
        if (removed) pending.set(stream, removed);
        deletedIds.add(id);
      }
  };

  const removePending = (main: Projection, before: number, deletedIds: Set<string>): void => {
    const { changed, ends } = notes.get(main.of.category) ?? newNotes();
    const endOf = (ofStream: StreamDocuments) => endedAt(main, ofProjection(ofStream, main)?.doc);
    for (const ofStream of changed) {
      const at = endOf(ofStream);
      if (at !== undefined) ends.set(splitStream(ofStream.stream).id, at);
    }
    changed.clear();
    for (const { id } of ends.take(before - 1)) {
      const ofStream = pending.get(`${main.of.category}-${id}`);
      const at = ofStream && endOf(ofStream);
      if (!ofStream || at === undefined || at >= before) continue;
      for (const one of ofStream.docs) Object.assign(one, { doc: undefined, changed: true });
      ofStream.isRetired = true;
      deletedIds.add(id);
    }
  };

  /** Takes the ids of retired documents out of a document that names them. */
  const forget = async (projection: Projection, stream: string, deletedIds: ReadonlySet<string>): Promise<void> => {
    const ofStream = pending.get(stream) ?? (await documentsByStream.before({ stream, revision: 1 }));
    const one = ofStream && ofProjection(ofStream, projection);
    if (!ofStream || one?.doc === undefined) return;
    const next = projection.forgets?.without(one.doc, deletedIds);
    if (next === one.doc) return;
    one.doc = next;
    one.changed = true;
    pending.set(stream, ofStream);
  };

  const forgetAll = async (projection: Projection, deletedIds: ReadonlySet<string>): Promise<void> => {
    const streams = new Set(namingStreams);
    const [sort = ''] = Object.keys(projection.sorts);
    for await (const entries of pagesOf({ list }, projection, { sort, order: 1 }))
      for (const { id } of entries) streams.add(`${projection.of.category}-${id}`);
    for (const stream of streams) await forget(projection, stream, deletedIds);
  };

  return {
    /** Removes what the event retires; undefined: it is no such event. */
    take: (event: StoredEvent): Promise<void> | undefined => {
      if (!event.stream.startsWith(`${retirement.category}-`)) return undefined;
      const kind = kinds.get(splitStream(event.stream).id);
      const before = kind && retiredBefore(event, kind.main);
      if (!kind || before === undefined) return undefined;
      return (async () => {
        const retiredIds = new Set<string>();
        removePending(kind.main, before, retiredIds);
        await removeStored(kind.main, before, retiredIds);
        if (retiredIds.size > 0) for (const projection of kind.naming) await forgetAll(projection, retiredIds);
      })();
    },
    /** To be called with the documents of a stream after each of its events. */
    note: (ofStream: StreamDocuments): void => {
      for (const { projection } of ofStream.docs) {
        if (naming.has(projection)) namingStreams.add(ofStream.stream);
        if (projection.retires) notes.get(projection.of.category)?.changed.add(ofStream);
      }
    },
    /** Nothing has changed since the last drain. */
    drained: (): void => {
      for (const category of notes.keys()) notes.set(category, newNotes());
      namingStreams.clear();
    },
  };
};
