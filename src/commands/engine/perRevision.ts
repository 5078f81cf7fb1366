import { LRUCache } from 'lru-cache';

/** A document as it is at a revision of its stream. */
export type Version = { readonly id: string; readonly revision: number };

const keyOf = ({ id, revision }: Version): string => `${id} ${revision}`;

type Keeping<Document, Value> = {
  readonly make: (document: Document) => Value;
  /** The memory that a value takes, about, in bytes. */
  readonly sizeOf: (value: Value) => number;
  /** All values together, in bytes. */
  readonly most: number;
};

/** Computes a value once for each revision of a document, and keeps the values that were used last. */
export const perRevision = <Document, Value extends object>({ make, sizeOf, most }: Keeping<Document, Value>) => {
  const all = new LRUCache<string, Value>({
    maxSize: most,
    sizeCalculation: (value) => Math.min(sizeOf(value), most / 2),
  });
  return {
    find: (version: Version): Value | undefined => all.get(keyOf(version)),
    of: (version: Version, read: () => Document): Value => {
      const before = all.get(keyOf(version));
      if (before) return before;
      const value = make(read());
      all.set(keyOf(version), value);
      return value;
    },
  };
};
