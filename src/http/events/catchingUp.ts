import { setTimeout as pause } from 'node:timers/promises';
import { fairQueue, type Log, oneByOne, turns } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import type { LogReads, StoredEvent } from '../../store/port.ts';
import { typesOf } from './asked.ts';
import type { EventAccess } from './eventAccess.ts';
import { type Connection, type EventReader, type EventReaders, frameOf, mostBytes } from './readers.ts';

type Needs = {
  readonly access: EventAccess;
  readonly log: LogReads;
  readonly window: EventWindow;
  readonly readers: EventReaders;
  /** How many readers read the log at once. */
  readonly atOnce: number;
  readonly warn: Log;
};

/** How many events of the window a reader gets between two looks at its rights. */
const mostAtOnce = 256;
/** Readers of the log who do not take what was read within this time make room for other readers. */
const patienceMs = 250;
/** So do those who have read for this time. */
const turnMs = 250;
const againMs = 1000;
/** How many bytes of large events readers may hold who do not take them. */
const mostLarge = 64 * 1024 * 1024;

/**
 * Large events are sent whole, so each is held in memory until it is taken. When that is too much, the connections that
 * have taken nothing for the longest time are broken off.
 */
const largeEvents = () => {
  const holders = new Set<Connection>();
  return (connection: Connection): void => {
    holders.add(connection);
    for (const holder of holders) if (holder.isIdle()) holders.delete(holder);
    const longest = [...holders].sort((a, b) => b.takesNothingFor() - a.takesNothingFor());
    let heldBytes = longest.reduce((sum, holder) => sum + holder.underWay(), 0);
    for (const holder of longest) {
      if (heldBytes <= mostLarge || holder.takesNothingFor() < patienceMs) return;
      heldBytes -= holder.underWay();
      holder.destroy();
    }
  };
};

/** The items in pieces that are sent at once. A large one is a piece of its own. */
const piecesOf = (items: readonly Item[]): readonly (readonly Item[])[] => {
  const pieces: Item[][] = [];
  let length = Infinity;
  for (const item of items) {
    length += item.event.data.length;
    if (length > mostBytes) {
      pieces.push([]);
      length = item.event.data.length;
    }
    pieces.at(-1)?.push(item);
  }
  return pieces;
};

/**
 * Brings readers to the newest event: from the log, some at once and by turns of their accounts, then from the newest
 * events in memory. A reader who does not take what was sent holds nothing but that.
 */
export const catchingUp = ({ access, log, window, readers, atOnce, warn }: Needs) => {
  const { fairly } = fairQueue({
    atOnce,
    mostWaiting: Infinity, // there are places for a bounded number of readers
    full: () => new RequestError('unavailable', 'Too many readers'),
  });
  const sentLarge = largeEvents();
  const turn = turns();

  /** Sends the reader those of the events up to a position that it wants and sees. False if it does not take them. */
  const send = async (reader: EventReader, items: readonly Item[], position: number): Promise<boolean> => {
    const { after, isWanted, connection } = reader;
    const matching = items.filter(({ event, resource }) => event.position > after && isWanted(event, resource));
    await access.waitUntilShown(position);
    const principal = await readers.rightsOf(reader);
    if (!principal) return false;
    for (const piece of piecesOf(matching)) {
      await turn();
      const frames = await oneByOne(piece, async ({ event, frame }) =>
        (await access.judge(event))(principal) ? frame() : undefined,
      );
      const chunk = chunkOf(piece, frames);
      if (!chunk) continue;
      connection.send(chunk.bytes, chunk.position);
      if (chunk.bytes.length > 4 * mostBytes) sentLarge(connection);
      reader.after = chunk.position;
      if (!(await isTaken(connection))) return false;
    }
    reader.after = Math.max(after, position);
    return true;
  };

  /** Reads the log for a reader, until it is at its end or in the window, does not take what was read, or had its turn. */
  const readLog = async (reader: EventReader): Promise<void> => {
    if (readers.isGone(reader)) return;
    const began = performance.now();
    const atLeast = window.end();
    for await (const { events, position } of log.readAll(reader.after, typesOf(reader.query))) {
      const goesOn = await send(reader, itemsOf(events, access.aboutOf), position);
      if (!goesOn || reader.after >= window.start() || performance.now() - began > turnMs) return;
    }
    // With a filter, the end of the log is further than the last position that was read.
    reader.after = Math.max(reader.after, atLeast);
  };

  /** Sends the reader more. True once it is live. */
  const goOn = async (reader: EventReader): Promise<boolean> => {
    const next = reader.after < window.start() ? undefined : window.after(reader.after, mostAtOnce);
    const last = next?.at(-1);
    if (!next) await fairly(reader.account, () => readLog(reader));
    else if (last) await send(reader, next, last.event.position);
    // Nothing is told between the look at the window and this.
    else reader.isLive = true;
    return reader.isLive;
  };

  const catchUp = async (reader: EventReader): Promise<void> => {
    while (!readers.isGone(reader)) {
      await reader.connection.idle();
      if (await goOn(reader)) return;
    }
  };

  /** Makes a reader live. An event that cannot be read now is tried again; a damaged log breaks the connection off. */
  return async (reader: EventReader): Promise<void> => {
    while (!readers.isGone(reader)) {
      try {
        return await catchUp(reader);
      } catch (error) {
        if (!(error instanceof RequestError)) {
          warn('A stream of events broke off', { account: reader.account, after: reader.after, error });
          return reader.connection.destroy();
        }
        await pause(againMs, undefined, { ref: false });
      }
    }
  };
};

/** True if the reader has taken everything within a short time. */
const isTaken = (connection: Connection): Promise<boolean> => {
  const late = new AbortController();
  return Promise.race([
    connection.idle().then(() => true),
    pause(patienceMs, false, { signal: late.signal, ref: false }).catch(() => false),
  ]).finally(() => late.abort());
};

/** An event that readers may want. Its frame is made once, when the first reader gets it. */
export type Item = {
  readonly event: StoredEvent;
  /** Null for an event of another program. */
  readonly resource: Resource | null;
  readonly frame: () => Buffer | undefined;
};

const itemOf = (event: StoredEvent, resource: Resource | null): Item => {
  let written: { readonly frame: Buffer | undefined } | undefined;
  return {
    event,
    resource,
    frame: () => {
      written ??= { frame: frameOf(event, resource) };
      return written.frame;
    },
  };
};

/** The items of those events that some account may see. */
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
    /** The events after a position, `most` at most. The position must not be before the start. */
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
