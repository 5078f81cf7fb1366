import type { EventStore } from '../src/store/port.ts';

type Moment = 'before' | 'after';

/** The store as a node sees it that is stopped at its n-th append from `arm` on, just before or just after it is stored. */
export const stopping = (store: EventStore, n: number, moment: Moment = 'before') => {
  let seen = -Infinity;
  let reached = () => undefined as void;
  let resume = () => undefined as void;
  const atStop = new Promise<void>((resolve) => { reached = resolve; });
  const go = new Promise<void>((resolve) => { resume = resolve; });
  return {
    atStop, arm: () => { seen = 0; }, resume: () => resume(),
    store: {
      ...store,
      append: async (...args: Parameters<EventStore['append']>) => {
        const mine = ++seen === n;
        if (mine && moment === 'before') { reached(); await go; }
        const appended = await store.append(...args);
        if (mine && moment === 'after') { reached(); await go; }
        return appended;
      },
    } satisfies EventStore,
  };
};
