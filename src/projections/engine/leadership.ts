/**
 * The leadership among the processes that share the read models. One process at a time leads: it projects, and does the
 * work that only one process should do.
 */
export type Leadership = {
  /** True if this process leads, as far as it knows. */
  held(): boolean;
  /**
   * Resolves once this process leads, with a signal that aborts as soon as it no longer leads. Resolves also when
   * `stop` aborts.
   */
  taken(stop: AbortSignal): Promise<AbortSignal>;
};

/** Makes a leadership that `set` gives and takes away. */
export const newLeadership = (): Leadership & { readonly set: (held: boolean) => void } => {
  let term: AbortController | undefined;
  const waiting = new Set<() => void>();
  return {
    held: () => term !== undefined,
    set: (held) => {
      if (held === (term !== undefined)) return;
      term?.abort();
      term = held ? new AbortController() : undefined;
      if (held) for (const wake of waiting) wake();
    },
    taken: (stop) =>
      new Promise((resolve) => {
        if (term || stop.aborted) return resolve(term?.signal ?? stop);
        const wake = (): void => {
          waiting.delete(wake);
          stop.removeEventListener('abort', wake);
          resolve(term?.signal ?? stop);
        };
        waiting.add(wake);
        stop.addEventListener('abort', wake);
      }),
  };
};

/**
 * Does the work once for each term in which this process leads, until `stop` aborts. `term` aborts when the leadership
 * ends.
 */
export const whileLeading = async (
  leadership: Leadership,
  stop: AbortSignal,
  work: (term: AbortSignal) => Promise<void>,
): Promise<void> => {
  while (!stop.aborted) await work(AbortSignal.any([await leadership.taken(stop), stop]));
};
