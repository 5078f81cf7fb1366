import type { ServerResponse } from 'node:http';
import { idBatches } from '../../concurrency/idBatches.ts';
import type { ReaderPlaces } from '../../concurrency/readerPlaces.ts';
import type { Principal } from '../authentication/principal.ts';
import { type Connection, connectionTo } from './connection.ts';
import type { EventAccess } from './eventAccess.ts';
import type { Reason } from './frames.ts';

/** A reader who has opened a stream. */
export type Reader = {
  readonly account: string;
  readonly connection: Connection;
  /** Up to this position of the log the reader has got everything that it wants and sees. */
  after: number;
  commented: number;
};

export type Patience = {
  /** How often a comment keeps a connection, in milliseconds. */
  readonly commentMs: number;
  /** For how long a reader may take nothing of what was sent. */
  readonly takingMs: number;
  /** For how long a reader who was ended so may come back for the last frame. */
  readonly partingMs: number;
};

export const usualPatience: Patience = { commentMs: 15_000, takingMs: 30_000, partingMs: 60_000 };

type Needs = {
  readonly viewerOf: EventAccess['viewerOf'];
  /** True if the account may read this stream. */
  readonly mayRead: (principal: Principal) => boolean;
  readonly places: ReaderPlaces;
  readonly patience?: Partial<Patience> | undefined;
};

const lookEveryMs = 1000;
// What changes within this time is looked at together.
const restMs = 100;

/** The readers of one kind of stream of a node: how many there are, what keeps them, and what ends them. */
export const readersOf = <More extends object>({ viewerOf, mayRead, places, patience }: Needs) => {
  const { commentMs, takingMs, partingMs } = { ...usualPatience, ...patience };
  const all = new Set<Reader & More>();
  const stopping = new AbortController();
  let looking: NodeJS.Timeout | undefined;

  const leave = (reader: Reader & More): void => {
    all.delete(reader);
    if (all.size === 0) clearInterval(looking);
  };

  const end = (reader: Reader & More, reason: Reason): void => {
    leave(reader);
    reader.connection.end(reason);
  };

  /** Keeps connections, and ends those of readers who do not take what is sent. */
  const look = (): void => {
    const now = performance.now();
    for (const reader of all) {
      if (reader.connection.takesNothingFor() > takingMs) end(reader, 'slow');
      else if (now - reader.commented >= commentMs) {
        reader.commented = now;
        reader.connection.comment(reader.after);
      }
    }
  };

  const principalOf = async (account: string): Promise<Principal | undefined> => {
    const principal = await viewerOf(account);
    return principal && mayRead(principal) ? principal : undefined;
  };

  const checkAll = async (): Promise<void> => {
    for (const account of new Set([...all].map((reader) => reader.account))) {
      if (await principalOf(account)) continue;
      for (const reader of all) if (reader.account === account) end(reader, 'rights');
    }
  };
  const checks = idBatches({
    work: checkAll,
    most: 1,
    restMs,
    signal: stopping.signal,
    onFailure: () => undefined, // the read models are away; it is tried again
  });

  return {
    all,
    count: (): number => all.size,
    /** Throws unless the account may open one more stream. */
    check: (account: string): void => places.check(account),
    /** Adds a reader; undefined if its connection has closed already. */
    add: (res: ServerResponse, account: string, after: number, more: More): (Reader & More) | undefined => {
      const connection = connectionTo(res, after, partingMs);
      if (connection.ended()) return undefined;
      const reader = { ...more, account, connection, after, commented: performance.now() };
      if (all.size === 0) looking = setInterval(look, Math.min(lookEveryMs, commentMs, takingMs)).unref();
      all.add(reader);
      const giveBack = places.take(account);
      res.once('close', () => {
        giveBack();
        leave(reader);
      });
      connection.comment(after);
      if (stopping.signal.aborted) end(reader, 'stopping');
      return reader;
    },
    end,
    /** True if nothing more is to be sent to the reader. */
    isGone: (reader: Reader & More): boolean => !all.has(reader) || reader.connection.ended(),
    /** The reader's rights as of now; undefined if it may not read any more, which ends its stream. */
    rightsOf: async (reader: Reader & More): Promise<Principal | undefined> => {
      const principal = await principalOf(reader.account);
      if (!principal) end(reader, 'rights');
      return principal;
    },
    /** Rights may have changed: ends the streams of those who may not read any more. */
    rightsChanged: (): void => {
      if (all.size > 0) checks.add('');
    },
    /** Aborts when all streams end. */
    stopping: stopping.signal,
    /** Ends all streams, now and from now on. */
    stop: (): void => {
      stopping.abort();
      for (const reader of all) end(reader, 'stopping');
    },
  };
};

export type Readers<More extends object> = ReturnType<typeof readersOf<More>>;
