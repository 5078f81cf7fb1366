type Needs<Item, Result> = {
  /** Works on items together. A result for each, in their order: one that is a promise may fail alone. If it throws, all fail. */
  readonly work: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  /** True if one more item may join these. */
  readonly fits?: (items: readonly Item[], more: Item) => boolean;
};

type Entry<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes a function that works on items in batches, one batch at a time: those that come while one is under way are in the
 * next ones together. Each call resolves with the result of its item.
 */
export const gathering = <Item, Result>({ work, fits = () => true }: Needs<Item, Result>) => {
  const waiting: Entry<Item, Result>[] = [];
  let working = false;

  const take = (): readonly Entry<Item, Result>[] => {
    const items: Item[] = [];
    for (const { item } of waiting) {
      if (items.length > 0 && !fits(items, item)) break;
      items.push(item);
    }
    return waiting.splice(0, items.length);
  };

  const workAll = async (): Promise<void> => {
    working = true;
    while (waiting.length > 0) {
      const batch = take();
      try {
        const results = await work(batch.map(({ item }) => item));
        for (const [n, { resolve }] of batch.entries()) resolve(results[n] as Result); // one for each
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    working = false;
  };

  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!working) void workAll();
    });
};
