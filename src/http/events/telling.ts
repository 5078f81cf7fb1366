import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { oneByOne } from '../../concurrency/oneByOne.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';
import type { EventAccess, Judge } from './eventAccess.ts';
import { type EventReader, type EventReaders, mayStream } from './eventReader.ts';
import { type Chunk, chunkOf, type EventWindow, type Item, itemsOf } from './window.ts';

type Needs = {
  readonly access: EventAccess;
  readonly window: EventWindow;
  readonly readers: EventReaders;
  /** Lets a reader catch up who cannot be told now. */
  readonly bring: (reader: EventReader) => void;
  readonly stopped: () => boolean;
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
 * told readers.
 */
export const telling = ({ access, window, readers, bring, stopped }: Needs) => {
  /** The outcome of the work, which is tried again while log or read models are away; undefined after the stop. */
  const untilReadable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    while (!stopped()) {
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
    await access.shown(position);
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
    // Who becomes live from now on finds these events in the window.
    window.add(items, last.position);

    const wishes = [...new Map(audience.map(({ wantedKey, isWanted }) => [wantedKey, isWanted])).values()];
    const wanted = items.filter(({ event, resource }) => wishes.some((isWanted) => isWanted(event, resource)));
    const judges = await untilReadable(() => judgesOf(wanted, last.position));
    const principals = await untilReadable(() => principalsOf(audience));
    if (!judges || !principals) return 0;

    const chunkFor = ({ isWanted, after }: EventReader, principal: Principal): Chunk | undefined => {
      const seen = wanted.filter(
        (item) =>
          item.event.position > after && isWanted(item.event, item.resource) && judges.get(item)?.(principal) === true,
      );
      return chunkOf(
        seen,
        seen.map(({ frame }) => frame()),
      );
    };
    const chunks = new Map<string, Chunk | undefined>();
    /** Readers with the same wishes and rights get the same bytes, unless they had some of the events before. */
    const sharedChunk = (reader: EventReader, principal: Principal): Chunk | undefined => {
      if (reader.after >= first.position) return chunkFor(reader, principal);
      const key = `${reader.wantedKey} ${principal.rights}`;
      const known = chunks.get(key);
      if (known || chunks.has(key)) return known;
      const made = chunkFor(reader, principal);
      chunks.set(key, made);
      return made;
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
