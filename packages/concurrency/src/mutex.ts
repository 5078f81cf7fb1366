/** A mutex for each key. Works of one key run one at a time, in the order of the calls. */
export const mutex = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key);
    const mine = before ? before.then(work, work) : work();
    last.set(key, mine);
    const release = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(release, release);
    return mine;
  };
};
