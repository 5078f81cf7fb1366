/** Runs works of the same key one after the other, in the order in which they were given. */
export const inTurn = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, mine);
    const done = (): void => { if (last.get(key) === mine) last.delete(key); };
    mine.then(done, done);
    return mine;
  };
};
