/** Lets one at a time through per key, in the order of asking. */
export const turns = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key);
    const mine = before ? before.then(work, work) : work();
    last.set(key, mine);
    const done = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(done, done);
    return mine;
  };
};
