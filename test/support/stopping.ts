import type { EventStore } from '../../src/store/port.ts';

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
 * The store of a process that dies at the n-th thing from `arm` on that it makes durable, an append or a checkpoint:
 * before it is stored, or after and before it knows.
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
  const until =
    <Arguments extends readonly unknown[], T>(work: (...args: Arguments) => Promise<T>) =>
    async (...args: Arguments): Promise<T> => {
      if (++seen < n) return work(...args);
      if (seen === n && moment === 'after') await work(...args);
      died();
      return never;
    };
  return {
    /** Steps since `arm`. */
    seen: () => seen,
    dead,
    bury: () => bury(new Error('dead')),
    arm: () => {
      seen = 0;
    },
    store: {
      ...store,
      append: until(store.append),
      setCheckpoint: until(store.setCheckpoint),
      keepCheckpoint: until(store.keepCheckpoint),
    } satisfies EventStore,
  };
};
