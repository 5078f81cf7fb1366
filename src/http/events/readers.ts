import type { ServerResponse } from 'node:http';
import { idBatches } from '@automation-platform/concurrency';
import { exactText } from '@automation-platform/json';
import { inWords } from '../../audit/auditEvent.ts';
import { callerIn } from '../../domain/engine/core.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import { completeIn } from '../../store/anyEvent.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';
import type { Common } from '../engine/route.ts';
import { keyOf, type Opener, type Wanted, wants } from './asked.ts';
import type { EventAccess } from './eventAccess.ts';
import type { ReaderPlaces } from './readerPlaces.ts';

/** A reader who has opened a stream. */
export type Reader = Opener & {
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
// Changes within this time are looked at together.
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

  /** Keeps connections, and ends those of readers who do not take what is sent, or whose login or token has ended. */
  const look = (): void => {
    const now = performance.now();
    for (const reader of all) {
      if (reader.connection.takesNothingFor() > takingMs) end(reader, 'slow');
      else if (reader.hasEnded?.()) end(reader, 'rights');
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
      const principal = await principalOf(account);
      for (const reader of all)
        if (reader.account === account && (!principal || reader.hasEnded?.())) end(reader, 'rights');
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
    check: (caller: string): void => places.check(callerIn(caller).account),
    /** Adds a reader; undefined if its connection has closed already. */
    add: (res: ServerResponse, opener: Opener, after: number, more: More): (Reader & More) | undefined => {
      const connection = connectionTo(res, after, partingMs);
      if (connection.ended()) return undefined;
      const reader = { ...more, ...opener, connection, after, commented: performance.now() };
      if (all.size === 0) looking = setInterval(look, Math.min(lookEveryMs, commentMs, takingMs)).unref();
      all.add(reader);
      const giveBack = places.take(callerIn(opener.account).account);
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

type Readers<More extends object> = ReturnType<typeof readersOf<More>>;

/** How many bytes are sent at once, unless one frame is longer. So little is held in memory for a reader who is behind. */
export const mostBytes = 64 * 1024;

/**
 * The way to one reader, who has everything up to a position. Nothing waits here: who sends waits until the connection is
 * idle.
 */
const connectionTo = (res: ServerResponse, after: number, partingMs: number) => {
  let underWay = 0;
  let length = 0;
  let takenAt = 0;
  let sentPosition = after;
  let ended = res.destroyed;
  let whenIdle = (): void => undefined;

  const write = (bytes: Buffer): void => {
    if (underWay++ === 0) takenAt = performance.now();
    length += bytes.length;
    res.write(bytes, () => {
      takenAt = performance.now();
      length -= bytes.length;
      if (--underWay === 0) whenIdle();
    });
  };

  const close = (): void => {
    ended = true;
    whenIdle();
  };
  res.once('close', close);

  return {
    ended: (): boolean => ended,
    /** Sends the events up to a position. */
    send: (bytes: Buffer, position: number): void => {
      if (ended) return;
      sentPosition = position;
      write(bytes);
    },
    /** Keeps the connection, unless something is under way anyhow. */
    comment: (position: number): void => {
      if (!ended && underWay === 0) write(commentFrame(position));
    },
    /** True if everything was taken that was sent. */
    isIdle: (): boolean => underWay === 0,
    /** How many bytes were sent and not taken yet, also after the end of the stream. */
    underWay: (): number => length,
    /** For how many milliseconds the reader has taken nothing of what is under way. */
    takesNothingFor: (): number => (underWay === 0 ? 0 : performance.now() - takenAt),
    /** Resolves when everything was taken, or the stream has ended. */
    idle: (): Promise<void> =>
      underWay === 0 || ended
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenIdle = resolve;
          }),
    /**
     * Ends the stream with the reason and the position of the last event that was sent. A reader who takes nothing gets
     * some time to come back for it.
     */
    end: (reason: Reason): void => {
      if (ended) return;
      res.end(droppedFrame(reason, sentPosition));
      close();
      const parting = setTimeout(() => res.destroy(), partingMs).unref();
      res.once('close', () => clearTimeout(parting));
    },
    /** Breaks the connection off, without a word. */
    destroy: (): void => void res.destroy(),
  };
};

export type Connection = ReturnType<typeof connectionTo>;

/** Why a stream of events ends. */
export type Reason = 'slow' | 'rights' | 'stopping';

/**
 * An event as a frame of `text/event-stream`, with its secrets masked. Undefined if it cannot be read, or if it lacks
 * what the platform always writes: then another program wrote it.
 */
export const frameOf = (stored: StoredEvent, resource: Resource | null): Buffer | undefined => {
  const event = completeIn(stored);
  if (!event) return undefined;
  const eventText = exactText(inWords(event, resource));
  return Buffer.from(`id: ${event.position}\nevent: ${oneLine(stored.type)}\ndata: ${eventText}\n\n`);
};

/** A published event may have any source. A line break in it must not begin a new line of the frame. */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** The last frame of a stream: why it ends, and the position of the last event that was sent. */
const droppedFrame = (reason: Reason, position: number): Buffer =>
  Buffer.from(`event: dropped\ndata: ${JSON.stringify({ reason, position })}\n\n`);

/** A comment. It says up to which position there is nothing more to send, so that a reader can go on from there. */
const commentFrame = (position: number): Buffer => Buffer.from(`: ${position}\n\n`);

/** The wishes of a reader of events, and how it gets them. */
type Asked = {
  readonly query: Wanted;
  /** Readers with the same key want the same events. */
  readonly wantedKey: string;
  readonly isWanted: ReturnType<typeof wants>;
  /** True if it is told of events as they arrive. Otherwise it catches up. */
  isLive: boolean;
};

export type EventReader = Reader & Asked;
export type EventReaders = Readers<Asked>;

export const askedFor = (query: Wanted): Asked => ({
  query,
  wantedKey: keyOf(query),
  isWanted: wants(query),
  isLive: false,
});

export const mayStream = (principal: Principal | undefined): principal is Principal =>
  principal?.may(streamEvents.area, streamEvents.row) === true;

/** The operation that opens a stream of events. */
export const streamEvents = {
  area: 'operations-manager',
  row: { name: 'streamEvents', access: ['operators', 'readers'] },
} as const satisfies { readonly area: string; readonly row: Pick<Common, 'name' | 'access'> };
