import {
  isMetastream,
  metastreamOf,
  type StoredEvent,
  tombstoneType,
  unwrapForeign,
} from '@automation-platform/event-log';
import type { LogToServe } from './port.ts';

/**
 * The state of a stream in the log. Its metadata hide the events before the revision `first`, the position `since` and
 * the time `oldest` (milliseconds since 1970).
 */
export type StreamState = {
  /** Revision of the last event, hidden or not; -1 when there is none. */
  readonly last: number;
  /** Deleted for ever. */
  readonly tombstoned: boolean;
  /** Deleted, but an append would bring it back. */
  readonly deleted: boolean;
  readonly first: number;
  readonly since: number;
  readonly oldest: number;
  /** The metadata, undefined when there is none, and the revision of its event. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly metadataRevision: number;
};

const integer = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;

const objectIn = (event: StoredEvent): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(Buffer.from(unwrapForeign(event)?.data ?? []).toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
};

const newestEvent = async (store: LogToServe, stream: string): Promise<StoredEvent | undefined> => {
  const [newest] = await store.newest(stream, 1);
  return newest && store.at(newest.position);
};

const nothingHidden = {
  deleted: false,
  first: 0,
  since: 0,
  oldest: -Infinity,
  metadata: undefined,
  metadataRevision: -1,
};

/** State of one of the platform's own streams: nothing is ever hidden. */
export const ownState = async (store: LogToServe, stream: string): Promise<StreamState> => ({
  ...nothingHidden,
  last: (await store.newest(stream, 1))[0]?.revision ?? -1,
  tombstoned: false,
});

/** State of a foreign stream, or of its metadata stream. Of a metadata stream only the last event is shown. */
export const foreignState = async (store: LogToServe, stream: string, now: number): Promise<StreamState> => {
  const [newest] = await store.newest(stream, 1);
  const last = newest?.revision ?? -1;
  if (isMetastream(stream)) {
    const [ofStream] = await store.newest(stream.slice(2), 1);
    return { ...nothingHidden, last, first: last, tombstoned: ofStream?.type === tombstoneType };
  }
  if (newest?.type === tombstoneType) return { ...nothingHidden, last, tombstoned: true };
  const stored = await newestEvent(store, metastreamOf(stream));
  if (!stored) return { ...nothingHidden, last, tombstoned: false };
  const metadata = objectIn(stored);
  const truncateBefore = integer(metadata.$tb) ?? 0;
  // A delete hides the events before it. Later events are shown without further metadata.
  const isDelete = truncateBefore > Number.MAX_SAFE_INTEGER;
  const maxAge = integer(metadata.$maxAge);
  return {
    last,
    tombstoned: false,
    deleted: isDelete && (newest?.position ?? 0) < stored.position,
    first: Math.max(isDelete ? 0 : truncateBefore, last + 1 - (integer(metadata.$maxCount) || Infinity)),
    since: isDelete ? stored.position : 0,
    oldest: maxAge === undefined ? -Infinity : now - 1000 * maxAge,
    metadata,
    metadataRevision: stored.revision,
  };
};

/** True if an event of the stream is shown. */
export const isShown = (event: StoredEvent, { first, since, oldest }: StreamState): boolean =>
  event.revision >= first &&
  event.position >= since &&
  (oldest === -Infinity || (unwrapForeign(event)?.created.getTime() ?? Infinity) >= oldest);
