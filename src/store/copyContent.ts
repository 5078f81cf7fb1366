import { unwrapForeign, wrapForeign } from './foreign.ts';
import { isMetastream, metadataType, tombstoneType } from './grpc/foreignStream.ts';
import { identityStream } from './identity.ts';
import type { EventStore, Filter, StoredEvent } from './port.ts';

/** The kinds of content that are copied: events, the metadata of streams, and the ends of streams. */
export type Kind = 'event' | 'metadata' | 'tombstone';

const typesOf: Readonly<Record<Kind, Filter | undefined>> = {
  event: undefined,
  metadata: [metadataType],
  tombstone: [tombstoneType],
};

type Readable = Pick<EventStore, 'readAll'>;

/** Which content is copied. */
export type Choice = {
  /** Which streams are the platform's own. */
  readonly own: (stream: string) => boolean;
  /** Streams that stay behind. */
  readonly skipped: ReadonlySet<string>;
  /** Hears of content that is left out, in the same words for the same reason. */
  readonly leftOut?: (what: string) => void;
};

/** Streams that belong to one log only: its identity, and the positions of its readers. */
const isOfLog = (stream: string): boolean => stream === identityStream || stream.startsWith('checkpoint-');

/** Undefined for content that is not copied. The platform's own streams are never deleted or hidden. */
const kindOf = (
  { stream, type }: StoredEvent,
  { own, skipped, leftOut = () => undefined }: Choice,
): Kind | undefined => {
  const isMetadata = isMetastream(stream) && type === metadataType;
  const named = isMetadata ? stream.slice(2) : stream;
  if (named.startsWith('$') || isOfLog(named)) return undefined;
  if (!type.startsWith('$')) return skipped.has(named) ? undefined : 'event';
  if (isMetadata) {
    if (!own(named)) return skipped.has(named) ? undefined : 'metadata';
    leftOut(`metadata of ${named}, which is the platform's own`);
  } else if (type === tombstoneType) {
    if (!own(named)) return 'tombstone';
    leftOut(`that ${named}, which is the platform's own, was deleted for ever: the copy has what is left of it`);
  } else {
    leftOut(`events of the type ${type}, which are EventStoreDB's own`);
  }
  return undefined;
};

/** The content of a log of one kind, or of all kinds, in its order. */
export const content = async function* (store: Readable, choice: Choice, kind?: Kind): AsyncGenerator<StoredEvent> {
  for await (const { events } of store.readAll(0, kind && typesOf[kind])) {
    for (const event of events) {
      const found = kindOf(event, choice);
      if (found && (!kind || kind === found)) yield event;
    }
  }
};

/** Streams of tools that have lost events, and so cannot be stored anew as they are. */
export const incompleteStreams = async (store: Readable, own: Choice['own']): Promise<ReadonlySet<string>> => {
  const next = new Map<string, number>();
  const incomplete = new Set<string>();
  for await (const { stream, revision } of content(store, { own, skipped: incomplete }, 'event')) {
    if (own(stream)) continue;
    if (revision !== (next.get(stream) ?? 0)) incomplete.add(stream);
    next.set(stream, revision + 1);
  }
  return incomplete;
};

// All that EventStoreDB keeps of a content type is whether it is this one.
const json = 'application/json';

/**
 * Data and metadata as all logs show them. Streams of tools have bytes, and not every log keeps their time.
 */
const canonical = (event: StoredEvent, own: Choice['own']): Pick<StoredEvent, 'data' | 'metadata'> => {
  const foreign = unwrapForeign(event);
  if (!foreign && own(event.stream)) return event;
  const { contentType, data, metadata } = foreign ?? {
    contentType: json,
    data: Buffer.from(event.data),
    metadata: Buffer.from(event.metadata),
  };
  const kept = contentType === json ? json : 'application/octet-stream';
  return wrapForeign({ ...event, data, metadata, contentType: kept, created: new Date(0) });
};

/** An event as it must be in both logs. */
export type Shown = Readonly<
  Record<'stream' | 'revision' | 'id' | 'type' | 'data' | 'metadata', string | number | null>
>;

/**
 * The end of a stream has only its name, because EventStoreDB writes the event itself. Metadata have no revision,
 * because
 * EventStoreDB keeps only the newest.
 */
export const shown = (event: StoredEvent, own: Choice['own']): Shown => {
  const { stream, revision, id, type } = event;
  if (type === tombstoneType) return { stream, revision: null, id: null, type, data: null, metadata: null };
  const { data, metadata } = canonical(event, own);
  return { stream, revision: type === metadataType ? null : revision, id, type, data, metadata };
};

/** The names of the parts in which two events differ. */
export const differences = (one: Shown, other: Shown): readonly string[] =>
  (Object.keys(one) as (keyof Shown)[]).filter((field) => one[field] !== other[field]);
