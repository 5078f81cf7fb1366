import { fairQueue } from '@automation-platform/concurrency';
import type { Batch } from '@automation-platform/event-log';
import { unavailable } from './faults.ts';
import type { LogToServe } from './port.ts';

/** How many callers hold a page of the log at once. */
const atOnce = 8;

/**
 * Lets few callers hold a page of the log at once, by turns of their accounts. Without this, the memory of the service
 * would grow by a page for each caller who begins.
 */
export const pagesInTurns = () => {
  const { fairly } = fairQueue({
    atOnce,
    mostWaiting: Infinity, // there are places for a limited number of readers
    full: () => unavailable('Too many readers'),
  });

  /** Waits for the account's turn. Resolves to the function that ends it. */
  const begin = (account: string): Promise<() => void> =>
    new Promise((begin) => {
      void fairly(account, () => new Promise<void>((end) => begin(end)));
    });

  /** The store for an account. The turn of a page lasts until the next one is asked for. */
  return (store: LogToServe, account: string): LogToServe => {
    const inTurns = async function* <T>(source: AsyncIterable<T>): AsyncGenerator<T> {
      const pages = source[Symbol.asyncIterator]();
      try {
        for (;;) {
          const end = await begin(account);
          try {
            const page = await pages.next();
            if (page.done === true) return;
            yield page.value;
          } finally {
            end();
          }
        }
      } finally {
        await pages.return?.();
      }
    };
    const follow = async function* (
      ...[after, filter, signal]: Parameters<LogToServe['follow']>
    ): AsyncGenerator<Batch> {
      let position = after;
      for await (const batch of inTurns(store.readAll(after, filter))) {
        position = batch.position;
        yield batch;
      }
      // New events come in small pages, for which nobody waits.
      yield* store.follow(position, filter, signal);
    };
    return {
      ...store,
      follow,
      read: (...args) => inTurns(store.read(...args)),
      readAll: (...args) => inTurns(store.readAll(...args)),
      readBack: (...args) => inTurns(store.readBack(...args)),
      readAllBack: (...args) => inTurns(store.readAllBack(...args)),
    };
  };
};
