import { type Log, paced, supervise } from '@automation-platform/concurrency';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Projections } from '../projections/engine/run.ts';
import { type EventNotice, noticeOf, type Recorded, splitStream } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';

/** A subscriber to stored events of some categories. None of its functions may fail. */
type Subscriber = {
  /** The categories of the streams whose events the subscriber gets. */
  readonly categories: ReadonlySet<string>;
  /**
   * Called with events as soon as they are stored. For events of this node, the command waits for the returned promise
   * before it is answered. Events of every node, this one included, come again when the log delivers them.
   */
  readonly onStored?: (events: readonly EventNotice[]) => void | Promise<void>;
  /** Called with each event that this node itself has stored, before anything else. */
  readonly onOwn?: (event: EventNotice) => void;
  /** Called with each event once this node's read models show its change. */
  readonly onShown?: (event: EventNotice) => void;
};

/** Carries out the reactions to this node's events; see `follow` in commands/engine/reactions.ts. */
type Follow = (events: readonly Recorded[], waitForAll: boolean) => number | Promise<number>;

type Call = () => void | Promise<void>;

/** Makes the calls one after the other, each after the one before is done. */
const callInTurn = (calls: readonly Call[], from = 0): void | Promise<void> => {
  for (const [n, call] of calls.entries()) {
    const called = n < from ? undefined : call();
    if (called) return called.then(() => callInTurn(calls, n + 1));
  }
};

const categoryOf = ({ stream }: Pick<EventNotice, 'stream'>): string => splitStream(stream).category;

/**
 * Passes on the stored events that a node learns of from its own commands and from the log: each to those who subscribe
 * to its category. Subscribers subscribe before the node starts, and are called in the order in which they subscribed.
 */
export const eventHub = () => {
  const byCategory = new Map<string, Subscriber[]>();
  const subscribers: Subscriber[] = [];
  const onAny: ((event: StoredEvent) => void)[] = [];
  let follow: Follow = () => 0;

  /** The calls of `onStored` that the events are due to, in the order of the subscribers. */
  const callsFor = (events: readonly EventNotice[]): readonly Call[] => {
    const [only, ...more] = events;
    if (only && more.length === 0)
      return (byCategory.get(categoryOf(only)) ?? []).flatMap(({ onStored }) =>
        onStored ? [() => onStored(events)] : [],
      );
    if (!events.some((event) => byCategory.has(categoryOf(event)))) return [];
    return subscribers.flatMap(({ categories, onStored }) => {
      const own = onStored ? events.filter((event) => categories.has(categoryOf(event))) : [];
      return onStored && own.length > 0 ? [() => onStored(own)] : [];
    });
  };

  return {
    subscribe: (subscriber: Subscriber): void => {
      subscribers.push(subscriber);
      for (const category of subscriber.categories)
        byCategory.set(category, [...(byCategory.get(category) ?? []), subscriber]);
    },
    /** Calls the listener once with each event of the log. */
    subscribeToAll: (listener: (event: StoredEvent) => void): void => {
      onAny.push(listener);
    },
    /** Sets the function that carries out reactions, after all subscribers have got the events. */
    followWith: (carryOut: Follow): void => {
      follow = carryOut;
    },
    /**
     * The write path calls this when this node has stored events. Not a promise when nothing has to be waited for.
     */
    stored: (events: readonly Recorded[], waitForAll: boolean): number | Promise<number> => {
      for (const event of events) for (const { onOwn } of byCategory.get(categoryOf(event)) ?? []) onOwn?.(event);
      const called = callInTurn(callsFor(events));
      return called ? called.then(() => follow(events, waitForAll)) : follow(events, waitForAll);
    },
    /** For the reader that follows the log. */
    fromLog: {
      categories: byCategory as Pick<ReadonlySet<string>, 'has'>,
      onStored: (events: readonly EventNotice[]): void => {
        for (const call of callsFor(events)) void call();
      },
      onShown: (event: EventNotice): void => {
        for (const { onShown } of byCategory.get(categoryOf(event)) ?? []) onShown?.(event);
      },
      onAny: (event: StoredEvent): void => {
        for (const listener of onAny) listener(event);
      },
    },
  };
};

type Needs = {
  readonly store: EventStore;
  readonly run: Pick<Projections, 'reached'>;
  /** The position in the log after which events are passed on. */
  readonly after: number;
  /** Categories of the streams whose events are passed on. The set may grow until the start. */
  readonly categories: Pick<ReadonlySet<string>, 'has'>;
  /** Called with events of the categories as soon as the log has them, from every node. Must not throw. */
  readonly onStored: (events: readonly EventNotice[]) => void;
  /** Called with each event of the categories once this node's read models show its change. Must not throw. */
  readonly onShown: (event: EventNotice) => void;
  /** Called once with each event of the log. Must not throw. */
  readonly onAny: (event: StoredEvent) => void;
  readonly log: Log;
};

const pauseMs = 200;

/**
 * Passes each event of some categories on to a node, in order and once, whichever process projects. Events that cannot
 * be read are passed on too.
 */
export const eventFeed = ({ store, run, after, categories, onStored, onShown, onAny, log }: Needs) => {
  const { inPieces } = paced();
  const stop = new AbortController();
  let lastPosition = after;
  let lastWork = Promise.resolve();

  const tell = async (goesOn: () => void): Promise<void> => {
    for await (const { events, position } of store.follow(lastPosition, undefined, stop.signal)) {
      const concerning = events
        .filter(({ stream, type }) => categories.has(splitStream(stream).category) && type.startsWith('@platform/'))
        .map(noticeOf);
      const last = concerning.at(-1);
      if (last) {
        onStored(concerning);
        await run.reached(last.position);
        await inPieces(concerning, (piece) => piece.forEach(onShown));
      }
      lastPosition = position;
      goesOn();
      await inPieces(events, (piece) => piece.forEach(onAny));
    }
  };

  return {
    /** Starts to follow the log. */
    start: (): void => {
      lastWork = supervise(tell, {
        signal: stop.signal,
        pauseMs,
        onFailure: (error, isNew) => {
          if (isNew && !(error instanceof RequestError))
            log('Telling of events stopped; it will go on', { told: lastPosition, error });
        },
      });
    },
    /** Call after the projections have stopped. */
    stop: (): Promise<void> => {
      stop.abort();
      return lastWork;
    },
  };
};
