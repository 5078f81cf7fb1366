/** Shares work in progress: callers with the same key get the same promise. */
export const sharing = <T>() => {
  const under = new Map<string, Promise<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    const caller = under.get(key);
    if (caller) return caller;
    const mine = work().finally(() => under.delete(key));
    under.set(key, mine);
    return mine;
  };
};
