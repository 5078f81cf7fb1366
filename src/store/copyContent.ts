import { unwrapForeign, wrapForeign } from './foreign.ts';
import { isMetastream, metadataType, tombstoneType } from './grpc/foreignStream.ts';
import { identityStream } from './identity.ts';
import type { EventStore, Filter, StoredEvent } from './port.ts';

/** What of a log is copied: events, the metadata of streams, and that a stream was deleted for ever. */
export type Kind = 'event' | 'metadata' | 'tombstone';

const typesOf: Readonly<Record<Kind, Filter | undefined>> = { event: undefined, metadata: [metadataType], tombstone: [tombstoneType] };

/** What belongs to one log only: its identity, how far its readers are. */
const isOfLog = (stream: string): boolean => stream === identityStream || stream.startsWith('checkpoint-');

type About = {
  /** Which streams are the platform's own. */
  readonly own: (stream: string) => boolean;
  /** Streams that stay behind. */
  readonly skipped: ReadonlySet<string>;
  /** Told what somebody may miss in the copy; the same words again for the same thing. */
  readonly leftOut?: (what: string) => void;
};

const streamOf = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): string =>
  (isMetastream(stream) && type === metadataType ? stream.slice(2) : stream);

/** Undefined for what is not copied: all that a server keeps for itself. Nobody deletes the platform's own streams or hides what is in them. */
export const contentKind = (event: Pick<StoredEvent, 'stream' | 'type'>, { own, skipped, leftOut = () => undefined }: About): Kind | undefined => {
  const stream = streamOf(event);
  if (stream.startsWith('$') || isOfLog(stream)) return undefined;
  if (!event.type.startsWith('$')) return skipped.has(stream) ? undefined : 'event';
  if (event.type !== tombstoneType && stream === event.stream) {
    leftOut(`events of the type ${event.type}, which are EventStoreDB's own`);
    return undefined;
  }
  const kind = stream === event.stream ? 'tombstone' : 'metadata';
  if (kind === 'metadata' && skipped.has(stream)) return undefined;
  if (!own(stream)) return kind;
  leftOut(kind === 'metadata' ? `metadata of ${stream}, which is the platform's own` : `that ${stream} was deleted for ever, which is the platform's own: the copy has what is left of it`);
  return undefined;
};

/** The content of a log of one kind, or of all kinds, in its order. */
export const content = async function* (store: Pick<EventStore, 'readAll'>, about: About, kind?: Kind): AsyncGenerator<StoredEvent> {
  for await (const { events } of store.readAll(0, kind && typesOf[kind])) {
    for (const event of events) {
      const found = contentKind(event, about);
      if (found && (!kind || kind === found)) yield event;
    }
  }
};

// All that EventStoreDB keeps of a content type is whether it is this one.
const json = 'application/json';

/** An event as all logs show it. Streams of tools hold bytes, and when they were stored is not carried everywhere. */
const canonical = (event: StoredEvent, own: (stream: string) => boolean): Pick<StoredEvent, 'data' | 'metadata'> => {
  const foreign = unwrapForeign(event) ?? (own(event.stream) ? undefined : { data: Buffer.from(event.data), metadata: Buffer.from(event.metadata), contentType: json });
  return foreign ? wrapForeign({ ...event, ...foreign, contentType: foreign.contentType === json ? json : 'application/octet-stream', created: new Date(0) }) : event;
};

export type Shown = Record<'stream' | 'revision' | 'id' | 'type' | 'data' | 'metadata', string | number | null>;

/**
 * What has to be the same in both logs. The end of a stream has nothing but its name, and metadata no revision: EventStoreDB
 * writes the one itself, and keeps only the newest of the other.
 */
export const shown = (event: StoredEvent, own: (stream: string) => boolean): Shown => {
  const { stream, revision, id, type } = event;
  if (type === tombstoneType) return { stream, revision: null, id: null, type, data: null, metadata: null };
  return { stream, revision: type === metadataType ? null : revision, id, type, ...pick(canonical(event, own)) };
};

const pick = ({ data, metadata }: Pick<StoredEvent, 'data' | 'metadata'>) => ({ data, metadata });

/** The names of what two events differ in. */
export const differences = (one: Shown, other: Shown): readonly string[] =>
  (Object.keys(one) as (keyof Shown)[]).filter((field) => one[field] !== other[field]);

/** Streams of tools that have lost events, and so cannot be stored anew as they are. */
export const incompleteStreams = async (store: Pick<EventStore, 'readAll'>, own: (stream: string) => boolean): Promise<ReadonlySet<string>> => {
  const next = new Map<string, number>();
  const incomplete = new Set<string>();
  for await (const { stream, revision } of content(store, { own, skipped: incomplete }, 'event')) {
    if (own(stream)) continue;
    if (revision !== (next.get(stream) ?? 0)) incomplete.add(stream);
    next.set(stream, revision + 1);
  }
  return incomplete;
};
