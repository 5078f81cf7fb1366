import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Log, oneByOne } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { LogReads, StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';
import type { EventReading, Opener, Wanted } from './asked.ts';
import {
  type Chunk,
  catchingUp,
  chunkOf,
  type EventWindow,
  eventWindow,
  type Item,
  itemsOf,
  type Size,
} from './catchingUp.ts';
import type { EventAccess, Judge } from './eventAccess.ts';
import type { ReaderPlaces } from './readerPlaces.ts';
import { askedFor, type EventReader, type EventReaders, mayStream, type Patience, readersOf } from './readers.ts';

type Bounds = {
  /** How many of the newest events are kept in memory. */
  readonly window: Size;
  /** How many characters of data may wait to be told. With more, live readers go back to reading the log. */
  readonly mostArrived: number;
  /** How many readers read the log at once. */
  readonly readersOfLog: number;
};

const usualBounds: Bounds = {
  window: { events: 4000, characters: 4 * 1024 * 1024 },
  mostArrived: 8 * 1024 * 1024,
  readersOfLog: 8,
};

type Needs = {
  readonly access: EventAccess;
  readonly log: LogReads;
  /** The position after which `stored` is called with each event. */
  readonly after: number;
  readonly places: ReaderPlaces;
  readonly warn: Log;
  readonly bounds?: Partial<Bounds & Patience>;
};

// Readers are told for a quarter of the time at most. Readers that are told more seldom get more at once, which costs less.
const restFactor = 3;
const longestRestMs = 100;

/**
 * Tells readers of events (docs/subscribing.md), all from one follower of the log. A reader first catches up
 * (catchingUp.ts). Then it is live: it is told of the events as they arrive (telling.ts).
 */
export const eventStream = ({ access, log, after, places, warn, bounds }: Needs) => {
  const { window: size, mostArrived, readersOfLog } = { ...usualBounds, ...bounds };
  const { viewerOf } = access;
  const readers: EventReaders = readersOf({ viewerOf, mayRead: mayStream, places, patience: bounds });
  const window = eventWindow(size, after);
  const catchUp = catchingUp({ access, log, window, readers, atOnce: readersOfLog, warn });
  const bring = (reader: EventReader): void => {
    reader.isLive = false;
    void catchUp(reader);
  };
  const stopped = (): boolean => readers.stopping.aborted;
  const tell = telling(access, window, readers, bring);
  let arrived: StoredEvent[] = [];
  let arrivedCharacters = 0;
  let isTelling = false;

  const takeArrived = (): readonly StoredEvent[] => {
    const batch = arrived;
    arrived = [];
    arrivedCharacters = 0;
    return batch;
  };

  const tellAll = async (): Promise<void> => {
    while (arrived.length > 0 && !stopped()) {
      const rest = Math.min(longestRestMs, restFactor * (await tell(takeArrived())));
      if (rest >= 2) await pause(rest, undefined, { ref: false });
    }
  };

  /** All live readers go back to reading the log. */
  const bringAll = (): void => {
    for (const reader of readers.all) if (reader.isLive) bring(reader);
  };

  const startTelling = (): void => {
    if (isTelling || stopped()) return;
    isTelling = true;
    tellAll()
      .catch((error: unknown) => {
        warn('Telling of events failed; readers go back to reading the log', { error });
        bringAll();
      })
      .finally(() => {
        isTelling = false;
        if (arrived.length > 0) startTelling();
      });
  };

  return {
    /** Call once with each event of the log, in order. */
    stored: (event: StoredEvent): void => {
      arrived.push(event);
      arrivedCharacters += event.data.length;
      if (readers.count() > 0 && arrivedCharacters <= mostArrived) startTelling();
      else {
        // Nobody listens, or it is too much to be kept in memory. Readers that want these events read the log.
        takeArrived();
        window.restart(event.position);
        bringAll();
      }
    },
    /** Position of the newest event in the log. */
    head: log.head,
    check: readers.check,
    open: (res: ServerResponse, opener: Opener, query: Wanted, from: number): void => {
      const reader = readers.add(res, opener, from, askedFor(query));
      if (reader) bring(reader);
    },
    rightsChanged: readers.rightsChanged,
    /** How many readers there are. */
    readers: readers.count,
    /** Ends all streams. */
    stop: readers.stop,
  } satisfies EventReading & Record<string, unknown>;
};

type Principals = ReadonlyMap<string, Principal | undefined>;

/** How many readers one turn of the event loop tells. */
const readersPerTurn = 100;
/** How many bytes may be under way to a live reader. */
const mostUnderWay = 256 * 1024;
const againMs = 200;

/**
 * Tells all live readers of the events that have arrived, in one round: each event is put into words once, who sees it
 * is decided once per set of rights, and one reader is told after the other. Resolves to the milliseconds for which it
 * told readers. `bring` lets a reader catch up who cannot be told now.
 */
const telling = (
  access: EventAccess,
  window: EventWindow,
  readers: EventReaders,
  bring: (reader: EventReader) => void,
) => {
  /** The outcome of the work, which is tried again while log or read models are away; undefined after the stop. */
  const untilReadable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    while (!readers.stopping.aborted) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        await pause(againMs, undefined, { ref: false });
      }
    }
    return undefined;
  };

  const judgesOf = async (items: readonly Item[], position: number): Promise<ReadonlyMap<Item, Judge>> => {
    await access.waitUntilShown(position);
    const judges = await oneByOne(items, ({ event }) => access.judge(event));
    return new Map(items.map((item, i) => [item, judges[i] as Judge]));
  };

  const principalsOf = async (audience: readonly EventReader[]): Promise<Principals> => {
    const accounts = new Set(audience.map(({ account }) => account));
    return new Map(await oneByOne([...accounts], async (id) => [id, await access.viewerOf(id)] as const));
  };

  return async (events: readonly StoredEvent[]): Promise<number> => {
    const [first, last] = [events[0], events.at(-1)];
    if (!first || !last) return 0;
    const items = itemsOf(events, access.aboutOf);
    const audience = [...readers.all].filter(({ isLive }) => isLive);
    // A reader that becomes live from now on finds these events in the window.
    window.add(items, last.position);

    const wishes = [...new Map(audience.map(({ wantedKey, isWanted }) => [wantedKey, isWanted])).values()];
    const query = items.filter(({ event, resource }) => wishes.some((isWanted) => isWanted(event, resource)));
    const judges = await untilReadable(() => judgesOf(query, last.position));
    const principals = await untilReadable(() => principalsOf(audience));
    if (!judges || !principals) return 0;

    const chunkFor = ({ isWanted, after }: EventReader, principal: Principal): Chunk | undefined => {
      const visible = query.filter(
        (item) =>
          item.event.position > after && isWanted(item.event, item.resource) && judges.get(item)?.(principal) === true,
      );
      return chunkOf(
        visible,
        visible.map(({ frame }) => frame()),
      );
    };
    const chunks = new Map<string, Chunk | undefined>();
    /** Readers with the same wishes and rights get the same bytes, unless they had some of the events before. */
    const sharedChunk = (reader: EventReader, principal: Principal): Chunk | undefined => {
      if (reader.after >= first.position) return chunkFor(reader, principal);
      const key = `${reader.wantedKey} ${principal.rights}`;
      const hit = chunks.get(key);
      if (hit || chunks.has(key)) return hit;
      const chunk = chunkFor(reader, principal);
      chunks.set(key, chunk);
      return chunk;
    };

    const began = performance.now();
    for (const [n, reader] of audience.entries()) {
      if (n % readersPerTurn === readersPerTurn - 1) await nextTurn();
      if (!reader.isLive || readers.isGone(reader)) continue;
      const principal = principals.get(reader.account);
      if (!mayStream(principal)) {
        readers.end(reader, 'rights');
        continue;
      }
      const chunk = sharedChunk(reader, principal);
      // It finds in the window what it does not get now, and gets it as it takes it.
      if (chunk && reader.connection.underWay() + chunk.bytes.length > mostUnderWay) {
        bring(reader);
        continue;
      }
      if (chunk) reader.connection.send(chunk.bytes, chunk.position);
      reader.after = Math.max(reader.after, last.position);
    }
    return performance.now() - began;
  };
};
