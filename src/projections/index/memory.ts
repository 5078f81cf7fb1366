import { paced } from '@automation-platform/concurrency';
import {
  type Change,
  type Checkpoint,
  type CollectionSpec,
  type Entry,
  partOfTurnMs,
  type ReadStore,
} from '../engine/port.ts';
import { checkStep, collections } from './collections.ts';

const nothing: Checkpoint = { position: 0, event: '' };
/** Changes of a step that are made at once. More would hold up all other work. */
const mostAtOnce = 5000;

export type MemoryOptions = {
  readonly collections: readonly CollectionSpec[];
  /**
   * Loads the state of an earlier run. It is called once, at the first resume. If it throws, even late, nothing of it
   * is used, because the log has everything.
   */
  readonly load?: () => Promise<
    { readonly checkpoint: Checkpoint; readonly changes: AsyncIterable<readonly Change[]> } | undefined
  >;
};

/** `entries` gives all documents, each with its collection. */
export type MemoryReadStore = ReadStore & { readonly entries: () => Iterable<readonly [string, Entry]> };

/**
 * The read store in this process's memory, the default of an embedded service. Its state ends with the process and is
 * never lost before.
 */
export const memoryReadStore = ({ collections: specs, load }: MemoryOptions): MemoryReadStore => {
  const documents = collections<Entry>(specs);
  let checkpoint = nothing;
  let toLoad = load;

  const loadOnce = async (): Promise<void> => {
    const ask = toLoad;
    toLoad = undefined;
    const snapshot = await ask?.();
    if (!snapshot) return;
    try {
      for await (const some of snapshot.changes) documents.apply(some);
      checkpoint = snapshot.checkpoint;
    } catch (error) {
      documents.reset([]);
      throw error;
    }
  };

  const { inPieces } = paced(partOfTurnMs);
  // A step of many changes takes several turns. Reads wait for its end: they never see a part of it.
  let step: Promise<void> | undefined;

  const makeChanges = async (changes: readonly Change[]): Promise<void> => {
    await inPieces(changes, documents.check);
    await inPieces(changes, documents.make);
  };

  const forRunner: ReadStore['forRunner'] = {
    get: async (collection, id) => {
      if (step) await step;
      return documents.of(collection).get(id);
    },
    list: async (collection, query) => {
      const index = documents.of(collection);
      await index.prepare(query);
      if (step) await step;
      return index.page(query);
    },
  };

  return {
    forRunner,
    // Memory never starts over, so nothing has to be noted.
    onProjected: () => undefined,
    async resume() {
      await loadOnce().catch(() => undefined);
      return checkpoint;
    },
    catchUp: async () => checkpoint,
    // No other process shares this store.
    takeLeadership: async () => true,
    resign: async () => undefined,
    async apply(changes, from, to) {
      checkStep(changes, from, to.position);
      if (checkpoint.position !== from) return false;
      if (changes.length <= mostAtOnce) documents.apply(changes);
      else {
        step = makeChanges(changes).finally(() => {
          step = undefined;
        });
        await step;
      }
      checkpoint = to;
      return true;
    },
    async mend(changes) {
      documents.apply(changes);
    },
    *ids(collection, part) {
      for (const { id } of documents.of(collection).all(part)) yield id;
    },
    async clear() {
      documents.reset([]);
      checkpoint = nothing;
    },
    get: forRunner.get,
    async getMany(collection, ids) {
      if (step) await step;
      const index = documents.of(collection);
      return ids.map((id) => index.get(id));
    },
    idsNamed: async (collection, name) => {
      const index = documents.of(collection);
      await index.prepare();
      if (step) await step;
      return index.named(name).map(({ id }) => id);
    },
    list: forRunner.list,
    guard(collection, id) {
      const entry = documents.of(collection).get(id);
      return entry && (entry.guard ?? null);
    },
    version: (collection) => documents.of(collection).version(),
    entries: documents.all,
    onLost: () => undefined,
    onMoved: () => undefined,
    close: async () => undefined,
  };
};
