import type { EventStore } from '../src/store/port.ts';

/** The store as a node sees it that is stopped just before its n-th append from `arm` on. */
export const stopping = (store: EventStore, n: number) => {
  let seen = -Infinity;
  let reached = () => undefined as void;
  let resume = () => undefined as void;
  const atStop = new Promise<void>((resolve) => { reached = resolve; });
  const go = new Promise<void>((resolve) => { resume = resolve; });
  return {
    atStop, arm: () => { seen = 0; }, resume: () => resume(),
    store: { ...store, append: async (...args: Parameters<EventStore['append']>) => {
      if (++seen === n) { reached(); await go; }
      return store.append(...args);
    } } satisfies EventStore,
  };
};
