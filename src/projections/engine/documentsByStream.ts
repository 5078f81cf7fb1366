import { lruCache } from '@automation-platform/concurrency';
import { splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Projection } from './define.ts';
import { keyOf } from './parked.ts';
import type { Entry } from './port.ts';

/** A document, folded from its stream up to `revision`. `changed` is true if it has changed since the last drain. */
export type LoadedDocument = {
  readonly projection: Projection;
  readonly id: string;
  doc: unknown;
  revision: number;
  changed: boolean;
};

/** The documents that the events of one stream make, up to a revision. `key` finds out whether they are parked. */
export type StreamDocuments = {
  readonly stream: string;
  readonly key: string;
  readonly docs: readonly LoadedDocument[];
  /** Revision of the last event; -1 before the first event; undefined if unknown, because the document was removed. */
  revision: number | undefined;
  /** True if the documents were retired. */
  isRetired?: true;
};

/** The projections that concern the streams of one category. */
type Concerned = {
  readonly projections: readonly Projection[];
  /** The collection of the first projection. With a stream's id it makes the key of the stream's documents. */
  readonly collection: string;
};

const byCategoryOf = (projections: readonly Projection[]): ReadonlyMap<string, Concerned> => {
  const concerned = new Map<string, Concerned>();
  for (const { of, collection } of projections) {
    const { category } = of;
    if (!concerned.has(category))
      concerned.set(category, { projections: projections.filter((p) => p.of.category === category), collection });
  }
  return concerned;
};

const loadedDocument = (projection: Projection, id: string, entry?: Entry): LoadedDocument => ({
  projection,
  id,
  doc: entry && JSON.parse(entry.text),
  revision: entry?.revision ?? -1,
  changed: false,
});

/**
 * Keeps the documents of the streams that were used last, `mostStreams` of them. `read` gives the entry that the read
 * store holds.
 */
export const newDocumentsByStream = (
  projections: readonly Projection[],
  read: (collection: string, id: string) => Promise<Entry | undefined>,
  mostStreams: number,
) => {
  const byCategory = byCategoryOf(projections);
  let nothingBefore = false;
  // True if `cache` has every stream that had an event.
  let keepsAll = false;
  // True if `cache` or the read store has every stream that had an event.
  let knowsAll = false;
  const cache = lruCache<StreamDocuments>(mostStreams, {
    dispose: (_, __, why) => {
      if (why !== 'evict') return;
      keepsAll = false;
      knowsAll = false;
    },
  });

  return {
    /** The documents of a stream as they are before an event; undefined if no projection concerns the stream. */
    before: ({
      stream,
      revision,
    }: Pick<StoredEvent, 'stream' | 'revision'>): StreamDocuments | undefined | Promise<StreamDocuments> => {
      const cachedDocuments = cache.get(stream);
      if (cachedDocuments) return cachedDocuments;
      const { category, id } = splitStream(stream);
      const concerned = byCategory.get(category);
      if (!concerned) return undefined;
      const key = keyOf(concerned.collection, id);
      if (keepsAll || (nothingBefore && revision === 0)) {
        return {
          stream,
          key,
          docs: concerned.projections.map((projection) => loadedDocument(projection, id)),
          revision: -1,
        };
      }
      const reading = concerned.projections.map(async (projection) =>
        loadedDocument(projection, id, await read(projection.collection, id)),
      );
      return Promise.all(reading).then((docs) => {
        const last = Math.max(...docs.map((one) => one.revision));
        return { stream, key, docs, revision: last < 0 && revision > 0 && !knowsAll ? undefined : last };
      });
    },
    /** The documents of a stream once they are retired, whatever they were. */
    removed: (stream: string): StreamDocuments | undefined => {
      const { category, id } = splitStream(stream);
      const concerned = byCategory.get(category);
      if (!concerned) return undefined;
      const docs = concerned.projections.map((projection) => ({ ...loadedDocument(projection, id), changed: true }));
      return { stream, key: keyOf(concerned.collection, id), docs, revision: undefined, isRetired: true };
    },
    keep: (documents: StreamDocuments): void => void cache.set(documents.stream, documents),
    /** A document that has ended takes up no memory: the read store has it. */
    release: (stream: string): void => {
      cache.delete(stream);
      keepsAll = false;
    },
    /** A retired document is nowhere. */
    forget: (stream: string): void => {
      cache.delete(stream);
      keepsAll = false;
      knowsAll = false;
    },
    /**
     * Forgets all documents. `empty` says that the read store holds nothing, so that no document is looked up there.
     */
    reset: (empty: boolean): void => {
      cache.clear();
      nothingBefore = empty;
      keepsAll = empty;
      knowsAll = empty;
    },
  };
};

export type DocumentsByStream = ReturnType<typeof newDocumentsByStream>;
