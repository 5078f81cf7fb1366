/** An entry of the queue. */
export type Due = { readonly id: string; readonly at: number };

/** By time, then by id. */
const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.id < b.id);

/**
 * Ids by the times at which they are due. Each id has one time. A change leaves its old entry in the heap, because
 * finding it would take longer than passing over it later.
 */
export const dueQueue = () => {
  const times = new Map<string, number>();
  let heap: Due[] = [];

  const rise = (entry: Due): void => {
    let i = heap.length;
    while (i > 0) {
      const above = (i - 1) >> 1;
      const parent = heap[above];
      if (!parent || !isBefore(entry, parent)) break;
      heap[i] = parent;
      i = above;
    }
    heap[i] = entry;
  };

  const sink = (entry: Due): void => {
    let i = 0;
    for (;;) {
      const [left, right] = [heap[2 * i + 1], heap[2 * i + 2]];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || !isBefore(child, entry)) break;
      heap[i] = child;
      i = 2 * i + (child === right ? 2 : 1);
    }
    heap[i] = entry;
  };

  const dropFirst = (): void => {
    const last = heap.pop();
    if (last && heap.length > 0) sink(last);
  };

  /** Makes the heap anew once most of its entries are old. */
  const tidy = (): void => {
    if (heap.length < 1000 || heap.length < 2 * times.size) return;
    heap = [];
    for (const [id, at] of times) rise({ id, at });
  };

  const first = (): Due | undefined => {
    for (;;) {
      const entry = heap[0];
      if (!entry || times.get(entry.id) === entry.at) return entry;
      dropFirst();
    }
  };

  return {
    set: (id: string, at: number): void => {
      if (times.get(id) === at) return;
      times.set(id, at);
      rise({ id, at });
      tidy();
    },
    remove: (id: string): void => {
      times.delete(id);
      tidy();
    },
    /** The entry that is due first. */
    first,
    /** Takes the entries that are due at a time out of the queue, in order. */
    take: (now: number): readonly Due[] => {
      const dueItems: Due[] = [];
      for (let entry = first(); entry && entry.at <= now; entry = first()) {
        dueItems.push(entry);
        times.delete(entry.id);
        dropFirst();
      }
      return dueItems;
    },
    size: (): number => times.size,
  };
};
