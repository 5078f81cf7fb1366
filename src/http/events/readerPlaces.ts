import { RequestError } from '../../domain/engine/requestError.ts';

/** How many readers of streams there may be: of one account, and of all. */
type Limits = { readonly perAccount?: number; readonly perNode: number };

const retryAfterSeconds = 10;

/** Counts the readers of a node who have a stream open, of whatever kind. */
export const readerPlaces = ({ perAccount = 20, perNode }: Limits) => {
  const placesByAccount = new Map<string, number>();
  let count = 0;

  return {
    /** Throws unless there is a place for one more reader of the account. `many`: it may have all places of the node. */
    check: (account: string, many = false): void => {
      if (!many && (placesByAccount.get(account) ?? 0) >= perAccount)
        throw new RequestError('limited', `This account has ${perAccount} streams open; end one of them first`, {
          retryAfterSeconds,
        });
      if (count >= perNode)
        throw new RequestError('unavailable', 'This node has as many streams open as it may', { retryAfterSeconds });
    },
    /** Takes a place for the account. Returns the function that gives it back, to be called once. */
    take: (account: string): (() => void) => {
      placesByAccount.set(account, (placesByAccount.get(account) ?? 0) + 1);
      count++;
      return () => {
        const remaining = (placesByAccount.get(account) ?? 0) - 1;
        if (remaining > 0) placesByAccount.set(account, remaining);
        else placesByAccount.delete(account);
        count--;
      };
    },
  };
};

export type ReaderPlaces = ReturnType<typeof readerPlaces>;
