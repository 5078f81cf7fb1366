/**
 * Runs works in the order of the calls, as many at once as `atOnce` says. The number may change at any time. A place may rest after each
 * work, so that other work has its turn.
 */
export const places = (atOnce: () => number, rest?: () => Promise<unknown>) => {
  let placesInUse = 0;
  const waiting: (() => void)[] = [];

  const next = (): void => {
    while (placesInUse < Math.max(1, atOnce()) && waiting.length > 0) {
      placesInUse++;
      waiting.shift()?.();
    }
  };

  const leave = async (): Promise<void> => {
    await rest?.();
    placesInUse--;
    next();
  };

  return async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      next();
    });
    try {
      return await work();
    } finally {
      void leave();
    }
  };
};
