import type { ServerResponse } from 'node:http';
import type { Principal } from '../authentication/principal.ts';
import { keyOf, type Wanted, wants } from './asked.ts';
import { type Connection, connectionTo, type Limits } from './connection.ts';
import type { EventAccess } from './eventAccess.ts';
import type { Reason } from './frames.ts';
import { streamEvents } from './streamEvents.ts';

/** A reader who has opened a stream of events. */
export type Reader = {
  readonly account: string;
  readonly wanted: Wanted;
  /** Readers with the same key want the same events. */
  readonly wantedKey: string;
  readonly isWanted: ReturnType<typeof wants>;
  readonly connection: Connection;
  /** Up to here the reader has got everything that it wants and sees. */
  after: number;
  commented: number;
};

type Needs = {
  readonly viewerOf: EventAccess['viewerOf'];
  /** How often a comment keeps a connection, in milliseconds. */
  readonly commentMs: number;
  /** How far a live reader may be behind. */
  readonly behind: Limits;
};

const lookEveryMs = 1000;

export const mayStream = (principal: Principal | undefined): principal is Principal =>
  principal?.may(streamEvents.area, streamEvents.row) === true;

/** The readers of a node. Each catches up, or is live: then it is told of events as they arrive. */
export const readersOf = ({ viewerOf, commentMs, behind }: Needs) => {
  const all = new Set<Reader>();
  const live = new Set<Reader>();
  let looking: NodeJS.Timeout | undefined;
  let stopped = false;

  const leave = (reader: Reader): void => {
    all.delete(reader);
    live.delete(reader);
    if (all.size === 0) clearInterval(looking);
  };

  const end = (reader: Reader, reason: Reason): void => {
    leave(reader);
    reader.connection.end(reason);
  };

  /** Keeps connections, and ends those of live readers who do not take what is sent. */
  const look = (): void => {
    const now = performance.now();
    for (const reader of all) {
      if (live.has(reader) && reader.connection.isSlow()) end(reader, 'slow');
      else if (now - reader.commented >= commentMs) {
        reader.commented = now;
        reader.connection.comment(reader.after);
      }
    }
  };

  return {
    live,
    count: (): number => all.size,
    /** Adds a reader; undefined if its connection has closed already. */
    add: (res: ServerResponse, account: string, wanted: Wanted, after: number): Reader | undefined => {
      const connection = connectionTo(res, after, behind);
      if (connection.ended()) return undefined;
      const commented = performance.now();
      const reader: Reader = {
        account,
        wanted,
        wantedKey: keyOf(wanted),
        isWanted: wants(wanted),
        connection,
        after,
        commented,
      };
      if (all.size === 0) looking = setInterval(look, Math.min(lookEveryMs, commentMs)).unref();
      all.add(reader);
      res.once('close', () => leave(reader));
      connection.comment(after);
      if (stopped) end(reader, 'stopping');
      return reader;
    },
    end,
    /** True if nothing more is to be sent to the reader. */
    isGone: (reader: Reader): boolean => !all.has(reader) || reader.connection.ended(),
    /** The reader's rights as of now; undefined if it may not read any more, which ends its stream. */
    rightsOf: async (reader: Reader): Promise<Principal | undefined> => {
      const principal = await viewerOf(reader.account);
      if (mayStream(principal)) return principal;
      end(reader, 'rights');
      return undefined;
    },
    /** Ends all streams, now and from now on. */
    stop: (): void => {
      stopped = true;
      for (const reader of all) end(reader, 'stopping');
    },
  };
};

export type Readers = ReturnType<typeof readersOf>;
