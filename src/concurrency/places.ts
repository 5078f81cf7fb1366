/** Runs works in the order of the calls, so many at once. The number may change at any time. */
export const places = (atOnce: () => number) => {
  let taken = 0;
  const waiting: (() => void)[] = [];

  const next = (): void => {
    while (taken < Math.max(1, atOnce()) && waiting.length > 0) {
      taken++;
      waiting.shift()?.();
    }
  };

  return async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      next();
    });
    try {
      return await work();
    } finally {
      taken--;
      next();
    }
  };
};
