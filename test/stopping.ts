import type { EventStore } from '../src/store/port.ts';

type Moment = 'before' | 'after';

/**
 * The store as a node sees it that is stopped at its n-th append from `arm` on, just before or just after it is stored.
 */
export const stopping = (store: EventStore, n: number, moment: Moment = 'before') => {
  let seen = -Infinity;
  let reached = () => undefined as void;
  let resume = () => undefined as void;
  const atStop = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const go = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return {
    atStop,
    arm: () => {
      seen = 0;
    },
    resume: () => resume(),
    store: {
      ...store,
      append: async (...args: Parameters<EventStore['append']>) => {
        const mine = ++seen === n;
        if (mine && moment === 'before') {
          reached();
          await go;
        }
        const appended = await store.append(...args);
        if (mine && moment === 'after') {
          reached();
          await go;
        }
        return appended;
      },
    } satisfies EventStore,
  };
};

/**
 * The store of a process that dies at its n-th append from `arm` on: before it is stored, or after and before it knows.
 */
export const dying = (store: EventStore, n: number, moment: Moment) => {
  let seen = -Infinity;
  let died = () => undefined as void;
  const dead = new Promise<void>((resolve) => {
    died = resolve;
  });
  let bury = (_: Error) => undefined as void;
  const never = new Promise<never>((_, reject) => {
    bury = reject;
  });
  never.catch(() => undefined);
  return {
    /** Appends since `arm`. */
    seen: () => seen,
    dead,
    bury: () => bury(new Error('dead')),
    arm: () => {
      seen = 0;
    },
    store: {
      ...store,
      append: async (...args: Parameters<EventStore['append']>) => {
        if (++seen < n) return store.append(...args);
        if (seen === n && moment === 'after') await store.append(...args);
        died();
        return never;
      },
    } satisfies EventStore,
  };
};
