/**
 * The leadership among the processes that share the read models: one at a time projects, and does what one alone should
 * do.
 */
export type Leadership = {
  /** Whether this process has it, as far as it knows. */
  held(): boolean;
  /**
   * Resolves once this process has it, with a signal that aborts as soon as it no longer has; also when `stop` aborts.
   */
  taken(stop: AbortSignal): Promise<AbortSignal>;
};

/** Leadership that `set` gives and takes away. */
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

/** Does the work whenever this process leads, once for each term, until `stop` aborts. */
export const whileLeading = async (
  leadership: Leadership,
  stop: AbortSignal,
  work: (term: AbortSignal) => Promise<void>,
): Promise<void> => {
  while (!stop.aborted) await work(AbortSignal.any([await leadership.taken(stop), stop]));
};
