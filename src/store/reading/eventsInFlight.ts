/** Acknowledges one item of an event. Called again, it changes nothing. */
export type Ack = () => void;

/** An event that was taken, and the number of its items that are not acknowledged. */
type Taken = { readonly before: number; left: number };

const none: readonly Ack[] = [];

/** The events that a reader has taken. Its checkpoint may pass one once all its items are acknowledged. */
export const eventsInFlight = (from: number) => {
  const taken: Taken[] = [];
  let position = from;
  let waiting: (() => void)[] = [];

  const wake = (): void => {
    while (taken[0]?.left === 0) taken.shift();
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };

  const ackOf = (event: Taken): Ack => {
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      event.left--;
      wake();
    };
  };

  return {
    /** The position up to which all events were taken. */
    position: (): number => position,
    /** All events up to here are acknowledged. */
    acked: (): number => taken[0]?.before ?? position,
    /** How many events were taken since the first that is not acknowledged, this one included. */
    size: (): number => taken.length,
    /** Resolves once something is acknowledged, or after `wake`. */
    change: (): Promise<void> => new Promise((resolve) => waiting.push(resolve)),
    wake,
    /** Takes the next event, with so many items; returns the acknowledgement of each. */
    take: (at: number, items: number): readonly Ack[] => {
      const event: Taken = { before: position, left: items };
      position = at;
      if (items === 0) return none;
      taken.push(event);
      return Array.from({ length: items }, () => ackOf(event));
    },
  };
};

export type EventsInFlight = ReturnType<typeof eventsInFlight>;
