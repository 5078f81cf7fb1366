import type { EventNotice, Recorded } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';

/** A subscriber to stored events. None of its functions may fail. */
type Subscriber = {
  /** Categories of the streams whose events the subscriber needs. It gets others too. */
  readonly categories: ReadonlySet<string>;
  /**
   * Called with events as soon as they are stored. For events of this node, the command waits for the returned promise
   * before it is answered. Events of every node, this one included, come again when the log delivers them.
   */
  readonly onStored?: (events: readonly EventNotice[]) => void | Promise<void>;
  /** Called with each event once this node's read models show its change. */
  readonly onShown?: (event: EventNotice) => void;
};

/** Carries out the reactions to this node's events; see `follow` in commands/engine/reactions.ts. */
type Follow = (events: readonly Recorded[], waitForAll: boolean) => Promise<number>;

/**
 * Passes on the stored events that a node learns of from its own commands and from the log. Subscribers subscribe
 * before the node starts, and are called in the order in which they subscribed.
 */
export const eventHub = () => {
  const categories = new Set<string>();
  const onStored: NonNullable<Subscriber['onStored']>[] = [];
  const onShown: NonNullable<Subscriber['onShown']>[] = [];
  const onAny: ((event: StoredEvent) => void)[] = [];
  let follow: Follow = () => Promise.resolve(0);

  return {
    subscribe: (subscriber: Subscriber): void => {
      for (const category of subscriber.categories) categories.add(category);
      if (subscriber.onStored) onStored.push(subscriber.onStored);
      if (subscriber.onShown) onShown.push(subscriber.onShown);
    },
    /** Calls the listener once with each event of the log. */
    subscribeToAll: (listener: (event: StoredEvent) => void): void => {
      onAny.push(listener);
    },
    /** Sets the function that carries out reactions, after all subscribers have got the events. */
    followWith: (carryOut: Follow): void => {
      follow = carryOut;
    },
    /** The write path calls this when this node has stored events. */
    stored: async (events: readonly Recorded[], waitForAll: boolean): Promise<number> => {
      for (const listener of onStored) {
        const heard = listener(events);
        if (heard) await heard;
      }
      return follow(events, waitForAll);
    },
    /** For the reader that follows the log. */
    fromLog: {
      categories: categories as ReadonlySet<string>,
      onStored: (events: readonly EventNotice[]): void => {
        for (const listener of onStored) void listener(events);
      },
      onShown: (event: EventNotice): void => {
        for (const listener of onShown) listener(event);
      },
      onAny: (event: StoredEvent): void => {
        for (const listener of onAny) listener(event);
      },
    },
  };
};
