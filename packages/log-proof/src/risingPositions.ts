import type { ExportedEvent } from './exportLines.ts';

/** An event at its place in an export. `claimed`: the position that its line has, if that cannot be right. */
type Placed = { readonly event: ExportedEvent; readonly claimed?: number };

/**
 * Positions rise from line to line of an export, and no link covers them. An event whose position does not lie between
 * those beside it gets the one after the event before it. The next event shows which one is wrong, so each comes out
 * one later than it goes in.
 */
export const risingPositions = () => {
  let before = 0;
  let pendingEvent: ExportedEvent | undefined;

  /** The held event, when the position of the next one is known. */
  const placed = (next: number): Placed | undefined => {
    if (!pendingEvent) return undefined;
    const event = pendingEvent;
    const { position } = event;
    pendingEvent = undefined;
    const isNextWrong = next <= before;
    const isDouble = position === next && position === before + 1;
    if (position > before && (position < next || isNextWrong || isDouble)) {
      before = position;
      return { event };
    }
    // An event too many has no position of its own.
    if (next !== before + 1) before++;
    return { event: { ...event, position: before }, claimed: position };
  };

  return {
    /** Takes the next event. Returns the one before it. */
    next(event: ExportedEvent): Placed | undefined {
      const earlier = placed(event.position);
      pendingEvent = event;
      return earlier;
    },
    /** The position of the last event that was taken, as far as is known. */
    reached: (): number =>
      pendingEvent && pendingEvent.position <= before ? before + 1 : (pendingEvent?.position ?? before),
    /** The last event; to be called last. */
    end: (): Placed | undefined => placed(Infinity),
  };
};
