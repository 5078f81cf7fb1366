import {
  isMetastream,
  isOfLog,
  metadataType,
  tombstoneType,
  unwrapForeign,
  wrapForeign,
} from '@automation-platform/event-log';
import { faultOfData } from '../../domain/topics.ts';
import { isOwnStream } from '../anyEvent.ts';
import { splitStream, splitType } from '../event.ts';
import { partsNamedBy } from '../payloads.ts';
import type { Filter, LogReads, StoredEvent } from '../port.ts';
import { place } from './appends.ts';

/** The kinds of content that are copied: events, the metadata of streams, and the ends of streams. */
export type Kind = 'event' | 'metadata' | 'tombstone';

const typesOf: Readonly<Record<Kind, Filter | undefined>> = {
  event: undefined,
  metadata: [metadataType],
  tombstone: [tombstoneType],
};

/** Which content is copied. */
export type Choice = {
  /** Streams that are not copied. */
  readonly skipped: ReadonlySet<string>;
  /** Called with the reason for each event that is left out. The same reason always has the same text. */
  readonly leftOut?: (what: string) => void;
};

/**
 * The kind of an event; undefined when it is not copied. Metadata and ends of the platform's own streams are left out,
 * because the platform never hides or deletes its streams.
 */
const kindOf = ({ stream, type }: StoredEvent, { skipped, leftOut = () => undefined }: Choice): Kind | undefined => {
  const isMetadata = isMetastream(stream) && type === metadataType;
  const named = isMetadata ? stream.slice(2) : stream;
  if (named.startsWith('$') || isOfLog(named)) return undefined;
  if (!type.startsWith('$')) return skipped.has(named) ? undefined : 'event';
  if (isMetadata) {
    if (!isOwnStream(named)) return skipped.has(named) ? undefined : 'metadata';
    leftOut(`metadata of ${named}, which is the platform's own`);
  } else if (type === tombstoneType) {
    if (!isOwnStream(named)) return 'tombstone';
    leftOut(`that ${named}, which is the platform's own, was deleted for ever: the copy has what is left of it`);
  } else {
    leftOut(`events of the type ${type}, which are EventStoreDB's own`);
  }
  return undefined;
};

/** Yields the events to copy in the order of the log: those of one kind, or of all kinds. */
export const content = async function* (store: LogReads, choice: Choice, kind?: Kind): AsyncGenerator<StoredEvent> {
  for await (const { events } of store.readAll(0, kind && typesOf[kind])) {
    for (const event of events) {
      const found = kindOf(event, choice);
      if (found && (!kind || kind === found)) yield event;
    }
  }
};

/** Foreign streams that have lost events. They cannot be copied, because a new stream has no gaps. */
export const incompleteStreams = async (store: LogReads): Promise<ReadonlySet<string>> => {
  const next = new Map<string, number>();
  const incomplete = new Set<string>();
  for await (const { stream, revision } of content(store, { skipped: incomplete }, 'event')) {
    if (isOwnStream(stream)) continue;
    if (revision !== (next.get(stream) ?? 0)) incomplete.add(stream);
    next.set(stream, revision + 1);
  }
  return incomplete;
};

// EventStoreDB keeps only whether the content type was this one.
const json = 'application/json';

/**
 * Data and metadata in a form that is the same in all logs. Foreign events are compared by their bytes. Their times are
 * not compared, because EventStoreDB sets its own.
 */
const canonical = (event: StoredEvent): Pick<StoredEvent, 'data' | 'metadata'> => {
  const foreign = unwrapForeign(event);
  if (!foreign && isOwnStream(event.stream)) return event;
  const { contentType, data, metadata } = foreign ?? {
    contentType: json,
    data: Buffer.from(event.data),
    metadata: Buffer.from(event.metadata),
  };
  const typeToStore = contentType === json ? json : 'application/octet-stream';
  return wrapForeign({ ...event, data, metadata, contentType: typeToStore, created: new Date(0) });
};

/** The parts of an event that must be the same in both logs. */
export type Shown = Readonly<
  Record<'stream' | 'revision' | 'id' | 'type' | 'data' | 'metadata', string | number | null>
>;

/**
 * The parts of an event to compare. The end of a stream has only its name, because EventStoreDB writes the event
 * itself. Metadata have no revision, because EventStoreDB keeps only the newest.
 */
export const contentOfEvent = (event: StoredEvent): Shown => {
  const { stream, revision, id, type } = event;
  if (type === tombstoneType) return { stream, revision: null, id: null, type, data: null, metadata: null };
  const { data, metadata } = canonical(event);
  return { stream, revision: type === metadataType ? null : revision, id, type, data, metadata };
};

/** The names of the parts in which two events differ. */
export const differences = (one: Shown, other: Shown): readonly string[] =>
  (Object.keys(one) as (keyof Shown)[]).filter((field) => one[field] !== other[field]);

const faultOf = (event: StoredEvent): string | undefined => {
  if (!event.type.startsWith('@platform/') || partsNamedBy(event) !== undefined) return undefined;
  const { category } = splitStream(event.stream);
  try {
    return faultOfData(category, splitType(event.type).topic, JSON.parse(event.data));
  } catch {
    return 'it is no JSON';
  }
};

/**
 * Counts the platform's events that are brought in and whose data do not fit what their topics say: no version of the
 * platform wrote them so. They are brought in all the same, because the log of a disaster may be the only one.
 */
export const unfitEvents = () => {
  let count = 0;
  let first = '';
  return {
    add: (event: StoredEvent): void => {
      const fault = faultOf(event);
      if (fault === undefined) return;
      count++;
      first ||= `the first is at ${place(event)}: ${fault}`;
    },
    /** A line for the operator; none if all events fit. */
    lines: (): readonly string[] =>
      count > 0 ? [`Events that do not say what the platform writes under their topics: ${count}; ${first}`] : [],
  };
};
