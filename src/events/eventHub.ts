import type { EventNotice, Recorded } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';

/** Somebody who must hear of stored events. None of the functions may fail. */
type Subscriber = {
  /** Categories of the streams whose events it must hear of; it hears of others, too. */
  readonly categories: ReadonlySet<string>;
  /**
   * Told events as soon as they are stored: those of this node before the command is answered, which waits for the
   * promise; and those of every node when the log tells of them.
   */
  readonly onStored?: (events: readonly EventNotice[]) => void | Promise<void>;
  /** Told every event once this node's read models show what it changed. */
  readonly onShown?: (event: EventNotice) => void;
};

/** Carries out what follows from events of this node; see `follow` in commands/engine/reactions.ts. */
type Follow = (events: readonly Recorded[], waitForAll: boolean) => Promise<number>;

/**
 * Passes on what a node hears of stored events: from its own commands, and from the log. Whoever must hear of them
 * subscribes before the node starts; they hear in the order in which they subscribed.
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
    /** Has a listener told of every event of the log, once, whatever it is. */
    subscribeToAll: (listener: (event: StoredEvent) => void): void => {
      onAny.push(listener);
    },
    /** Has done what follows from the events of this node, after all subscribers have heard of them. */
    followWith: (carryOut: Follow): void => {
      follow = carryOut;
    },
    /** For the write path: this node has stored the events. */
    stored: async (events: readonly Recorded[], waitForAll: boolean): Promise<number> => {
      for (const listener of onStored) {
        const heard = listener(events);
        if (heard) await heard;
      }
      return follow(events, waitForAll);
    },
    /** For who follows the log. */
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
