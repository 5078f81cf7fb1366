/** A number of places. Who finds none free waits, first come, first served. `take` resolves to the way to give it back. */
export const places = (count: number) => {
  let free = count;
  const waiting: (() => void)[] = [];

  const giveBack = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };

  return async (): Promise<() => void> => {
    if (free > 0) free--;
    else
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    let back = false;
    return () => {
      if (!back) giveBack();
      back = true;
    };
  };
};
