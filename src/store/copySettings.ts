import { content, type contentKind, differences, shown } from './copyContent.ts';
import { unwrapForeign, wrapForeign } from './foreign.ts';
import { tombstoneType } from './grpc/foreignStream.ts';
import type { EventStore, StoredEvent } from './port.ts';
import { derivedUuid } from './uuid.ts';

type About = Parameters<typeof contentKind>[1];

/** What a log says of streams: the newest metadata of each, and the ends of those that were deleted for ever. */
export type Settings = { readonly metadata: ReadonlyMap<string, StoredEvent>; readonly ends: ReadonlyMap<string, StoredEvent> };

/** The settings of the streams of a log. */
export const settingsOf = async (store: Pick<EventStore, 'readAll'>, about: About): Promise<Settings> => {
  const metadata = new Map<string, StoredEvent>();
  const ends = new Map<string, StoredEvent>();
  for await (const event of content(store, about, 'metadata')) metadata.set(event.stream.slice(2), event);
  for await (const event of content(store, about, 'tombstone')) ends.set(event.stream, event);
  // Nobody can say anything of them any more.
  for (const stream of ends.keys()) metadata.delete(stream);
  return { metadata, ends };
};

const objectIn = (event: StoredEvent): Readonly<Record<string, unknown>> => {
  try { return Object(JSON.parse(Buffer.from(unwrapForeign(event)?.data ?? []).toString())) as Record<string, unknown>; } catch { return {}; }
};

/**
 * The embedded log says that a deleted stream is back after the event that brought it back, and may have been stopped in
 * between. EventStoreDB would hide that event: here it is said.
 */
export const comeBack = async (from: Pick<EventStore, 'read'>, settings: Settings): Promise<Settings> => {
  const metadata = new Map(settings.metadata);
  for (const [stream, event] of metadata) {
    const about = objectIn(event);
    if (!(Number(about.$tb) > Number.MAX_SAFE_INTEGER)) continue;
    const back = await firstAfter(from, stream, event.position);
    if (!back) continue;
    const data = Buffer.from(JSON.stringify({ ...about, $tb: back.revision }));
    const id = derivedUuid(`${event.id} ${back.id}`);
    metadata.set(stream, { ...event, ...wrapForeign({ id, type: event.type, data, metadata: new Uint8Array(), contentType: 'application/json', created: new Date(0) }) });
  }
  return { ...settings, metadata };
};

const firstAfter = async (store: Pick<EventStore, 'read'>, stream: string, position: number): Promise<StoredEvent | undefined> => {
  for await (const events of store.read(stream)) {
    const found = events.find((event) => event.position > position && event.type !== tombstoneType);
    if (found) return found;
  }
  return undefined;
};

/** Streams whose settings the target has and the source has not. */
export const moreThan = (source: Settings, target: Settings): readonly string[] =>
  [...[...target.metadata.keys()].filter((stream) => !source.metadata.has(stream) && !source.ends.has(stream)).map((stream) => `metadata of stream ${stream}`),
    ...[...target.ends.keys()].filter((stream) => !source.ends.has(stream)).map((stream) => `the end of stream ${stream}`)];

/** What the target lacks: metadata, each with the revision after which it goes, and ends of streams. */
export const lacking = (source: Settings, target: Settings, own: About['own']) => ({
  metadata: [...source.metadata].filter(([stream, event]) => {
    const there = target.metadata.get(stream);
    return !target.ends.has(stream) && !(there && differences(shown(event, own), shown(there, own)).length === 0);
  }).map(([stream, event]) => ({ event, after: target.metadata.get(stream)?.revision ?? -1 })),
  ends: [...source.ends.values()].filter(({ stream }) => !target.ends.has(stream)),
});
