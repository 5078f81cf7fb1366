import { LRUCache } from 'lru-cache';
import { automationsIn, type PrebuiltImported, prebuilt } from '../../domain/prebuilts/prebuilts.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { prebuilts } from '../../projections/prebuilts/prebuilts.ts';
import { BadEvent, decode, splitStream } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';

/**
 * Makes the function that finds the automations which a package has ever brought: its events show them. None for streams
 * of other kinds; undefined if the stream is damaged.
 */
export const packagedAutomations = (model: ReadStore, log: EventStore) => {
  const kept = new LRUCache<string, { readonly version: number; readonly ids: readonly string[] | undefined }>({
    max: 1000,
  });

  const read = async (stream: string): Promise<readonly string[]> => {
    const ids = new Set<string>();
    for await (const events of log.read(stream)) {
      for (const stored of events) {
        const { topic, data } = decode(stored);
        if (topic !== 'prebuiltImported') continue;
        const { installed } = data as PrebuiltImported; // the topic says so
        for (const id of automationsIn(installed)) ids.add(id);
      }
    }
    return [...ids];
  };

  return async (stream: string): Promise<readonly string[] | undefined> => {
    if (splitStream(stream).category !== prebuilt.category) return [];
    const version = model.version(prebuilts.collection);
    const known = kept.get(stream);
    if (known?.version === version) return known.ids;
    const ids = await read(stream).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    kept.set(stream, { version, ids });
    return ids;
  };
};
