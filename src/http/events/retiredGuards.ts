import { lruCache } from '../../concurrency/lruCache.ts';
import { type Projection, project } from '../../projections/engine/define.ts';
import { BadEvent, decode } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';

/**
 * Makes the function that finds the guard of a retired document in its stream: null if everybody may read it, undefined
 * if there never was such a document, or its stream is damaged.
 */
export const retiredGuards = (log: EventStore) => {
  // Nothing happens to what is retired.
  const kept = lruCache<{ readonly guard: string | null }>(10_000);

  const read = async (shows: Projection, id: string): Promise<string | null | undefined> => {
    let doc: unknown;
    let last: unknown;
    for await (const events of log.read(`${shows.of.category}-${id}`)) {
      for (const event of events) {
        doc = project(shows, doc, decode(event));
        last = doc ?? last;
      }
    }
    return last === undefined ? undefined : (shows.guard?.(last) ?? null);
  };

  return async (shows: Projection, id: string): Promise<string | null | undefined> => {
    const key = `${shows.collection}/${id}`;
    const known = kept.get(key);
    if (known) return known.guard;
    const guard = await read(shows, id).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    if (guard !== undefined) kept.set(key, { guard });
    return guard;
  };
};
