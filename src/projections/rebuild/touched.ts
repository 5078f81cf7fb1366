import { keyOf } from '../engine/parked.ts';
import type { Change, ReadStore } from '../engine/port.ts';

/** A document by collection and id. */
export type Named = readonly [collection: string, id: string];

/** Notes which documents a read store changes, while somebody wants to know. */
export const touching = (model: ReadStore) => {
  let touched: Map<string, Named> | undefined;

  const documentsIn = ({ collection, id, wholePart }: Change): readonly Named[] =>
    wholePart ? Array.from(model.ids(collection, id), (child) => [collection, child] as const) : [[collection, id]];

  const note = (documents: readonly Named[]): void => {
    if (touched) for (const [collection, id] of documents) touched.set(keyOf(collection, id), [collection, id]);
  };

  return {
    model: {
      ...model,
      // They are noted twice, because noting may begin while a change is being written.
      apply: async (changes, from, to) => {
        const documents = changes.flatMap(documentsIn);
        note(documents);
        const applied = await model.apply(changes, from, to);
        note(documents);
        return applied;
      },
    } satisfies ReadStore,
    /** Begins to note. */
    begin: (): void => {
      touched = new Map();
    },
    end: (): void => {
      touched = undefined;
    },
    isTouched: (collection: string, id: string): boolean => touched?.has(keyOf(collection, id)) ?? false,
    /** How many documents were noted since the last `take`. */
    count: (): number => touched?.size ?? 0,
    /** The documents that were noted; the notes begin anew. */
    take: (): readonly Named[] => {
      const taken = [...(touched?.values() ?? [])];
      touched = new Map();
      return taken;
    },
  };
};

export type Touching = ReturnType<typeof touching>;
