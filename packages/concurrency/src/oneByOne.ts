import { setImmediate as breathe } from 'node:timers/promises';

/** Works on the items one after the other, and lets other requests run in between. */
export const oneByOne = async <T, R>(items: readonly T[], work: (item: T) => R | Promise<R>): Promise<readonly R[]> => {
  const results: R[] = [];
  let since = performance.now();
  for (const item of items) {
    results.push(await work(item));
    if (performance.now() - since < 10) continue;
    await breathe();
    since = performance.now();
  }
  return results;
};

/** Shares work in progress: callers with the same key get the same promise. */
export const sharing = <T>() => {
  const inWork = new Map<string, Promise<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    const before = inWork.get(key);
    if (before) return before;
    const result = work().finally(() => inWork.delete(key));
    inWork.set(key, result);
    return result;
  };
};
