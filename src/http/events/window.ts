import type { Resource } from '../../domain/engine/resource.ts';
import type { StoredEvent } from '../../store/port.ts';
import { frameOf } from './frames.ts';

/** An event that readers may want. Its frame is made once, when the first reader gets it. */
export type Item = {
  readonly event: StoredEvent;
  /** Null for an event of another program. */
  readonly resource: Resource | null;
  readonly frame: () => Buffer | undefined;
};

const itemOf = (event: StoredEvent, resource: Resource | null): Item => {
  let made: { readonly frame: Buffer | undefined } | undefined;
  return {
    event,
    resource,
    frame: () => {
      made ??= { frame: frameOf(event, resource) };
      return made.frame;
    },
  };
};

/** The items of those events that somebody may see. */
export const itemsOf = (
  events: readonly StoredEvent[],
  aboutOf: (event: StoredEvent) => Resource | null | undefined,
): readonly Item[] => {
  const items: Item[] = [];
  for (const event of events) {
    const resource = aboutOf(event);
    if (resource !== undefined) items.push(itemOf(event, resource));
  }
  return items;
};

/** Bytes to send, and the position of the last event in them. */
export type Chunk = { readonly bytes: Buffer; readonly position: number };

/** The frames of items as one chunk; undefined without any. Frames that are undefined are left out. */
export const chunkOf = (items: readonly Item[], frames: readonly (Buffer | undefined)[]): Chunk | undefined => {
  const position = items[frames.findLastIndex((frame) => frame !== undefined)]?.event.position;
  if (position === undefined) return undefined;
  return { bytes: Buffer.concat(frames.filter((frame) => frame !== undefined)), position };
};

/** How many events the window has at most, and how many characters of data. */
export type Size = { readonly events: number; readonly characters: number };

/**
 * The newest events of the log, in memory. Readers who have come so far go on from here without reading the log. All
 * events after `start` that are up to `end` are in it, but for those that nobody may see.
 */
export const eventWindow = (size: Size, after: number) => {
  let items: Item[] = [];
  let characters = 0;
  let start = after;
  let end = after;

  const drop = (): void => {
    let count = 0;
    // A quarter more is dropped than must be, so that the rest need not be moved for each event.
    const [events, most] = [size.events * 0.75, size.characters * 0.75];
    while (count < items.length && (items.length - count > events || characters > most)) {
      const item = items[count++] as Item;
      characters -= item.event.data.length;
      start = item.event.position;
    }
    items = items.slice(count);
  };

  return {
    start: (): number => start,
    end: (): number => end,
    /** Adds events in their order, up to a position. */
    add: (more: readonly Item[], position: number): void => {
      for (const item of more) {
        items.push(item);
        characters += item.event.data.length;
      }
      end = position;
      if (items.length > size.events || characters > size.characters) drop();
    },
    /** The events after a position, at most so many. The position must not be before the start. */
    after: (position: number, most: number): readonly Item[] => {
      let [low, high] = [0, items.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((items[middle] as Item).event.position <= position) low = middle + 1;
        else high = middle;
      }
      return items.slice(low, low + most);
    },
    /** Begins anew, empty, at a position. */
    restart: (position: number): void => {
      items = [];
      characters = 0;
      start = position;
      end = position;
    },
  };
};

export type EventWindow = ReturnType<typeof eventWindow>;
