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
