import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../concurrency/log.ts';
import type { ReaderPlaces } from '../../concurrency/readerPlaces.ts';
import type { LogReads, StoredEvent } from '../../store/port.ts';
import type { EventReading, Wanted } from './asked.ts';
import { catchingUp } from './catchingUp.ts';
import type { EventAccess } from './eventAccess.ts';
import { askedFor, type EventReader, type EventReaders, mayStream } from './eventReader.ts';
import { type Patience, readersOf } from './readers.ts';
import { telling } from './telling.ts';
import { eventWindow, type Size } from './window.ts';

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

// Readers are told for a quarter of the time at most. Who is told more seldom gets more at once, which costs less.
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
  const tell = telling({ access, window, readers, bring, stopped });
  let arrived: StoredEvent[] = [];
  let arrivedCharacters = 0;
  let isTelling = false;

  const takeArrived = (): readonly StoredEvent[] => {
    const taken = arrived;
    arrived = [];
    arrivedCharacters = 0;
    return taken;
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
        // Nobody listens, or it is too much to be kept in memory. Whoever wants these events reads the log.
        takeArrived();
        window.restart(event.position);
        bringAll();
      }
    },
    /** Position of the newest event in the log. */
    head: log.head,
    check: readers.check,
    open: (res: ServerResponse, account: string, wanted: Wanted, from: number): void => {
      const reader = readers.add(res, account, from, askedFor(wanted));
      if (reader) bring(reader);
    },
    rightsChanged: readers.rightsChanged,
    /** How many readers there are. */
    readers: readers.count,
    /** Ends all streams. */
    stop: readers.stop,
  } satisfies EventReading & Record<string, unknown>;
};
