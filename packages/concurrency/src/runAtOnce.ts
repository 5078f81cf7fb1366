/**
 * The results in the order of the items. At most `most` items are in work at the same time. After a failure no further
 * one begins; it is thrown once those in work have ended.
 */
export const runAtOnce = async <T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> => {
  const results: R[] = [];
  const queue = items.entries();
  let failure: { readonly error: unknown } | undefined;
  const workOn = async (): Promise<void> => {
    for (const [i, item] of queue) {
      try {
        results[i] = await work(item);
      } catch (error) {
        failure ??= { error };
      }
      if (failure) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, workOn));
  if (failure) throw failure.error;
  return results;
};
