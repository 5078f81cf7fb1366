import { isUtf8 } from 'node:buffer';
import type { NewEvent, StoredEvent } from './events.ts';

/** An event of a stream that is not the platform's own, as its writer sent it. The log keeps its bytes unchanged. */
export type Foreign = {
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** `application/json`, or any other type that its writer named. */
  readonly contentType: string;
  readonly created: Date;
};

type Encoding = 'text' | 'base64';

/** The metadata of a foreign event in the log: its own metadata, and the parts that have no column in the log. */
type Wrapped = {
  readonly $foreign: {
    readonly created: string;
    readonly contentType: string;
    /** How the column `data` encodes the bytes. */
    readonly encoding: Encoding;
    readonly metadata: string;
    readonly metadataEncoding: Encoding;
  };
};

const begin = '{"$foreign":{"created":"';

/** True if bytes can be stored as text. SQLite's driver ends a text at its first NUL. */
export const isText = (bytes: Uint8Array): boolean => isUtf8(bytes) && !bytes.includes(0);

const encodingOf = (bytes: Uint8Array): Encoding => (isText(bytes) ? 'text' : 'base64');

const toText = (bytes: Uint8Array, encoding: Encoding): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding === 'text' ? 'utf8' : 'base64');

const toBytes = (text: string, encoding: Encoding): Buffer =>
  Buffer.from(text, encoding === 'text' ? 'utf8' : 'base64');

/** A foreign event as it goes into the log. */
export const wrapForeign = ({
  id,
  type,
  data,
  metadata,
  contentType,
  created,
}: Foreign & Pick<NewEvent, 'id' | 'type'>): NewEvent => {
  const [encoding, metadataEncoding] = [encodingOf(data), encodingOf(metadata)];
  const wrapped: Wrapped = {
    $foreign: {
      created: created.toISOString(),
      contentType,
      encoding,
      metadata: toText(metadata, metadataEncoding),
      metadataEncoding,
    },
  };
  return { id, type, data: toText(data, encoding), metadata: JSON.stringify(wrapped) };
};

/** True if an event of the log is a foreign one. No event of the platform's own may have metadata of this form. */
export const isForeign = ({ metadata }: Pick<StoredEvent, 'metadata'>): boolean => metadata.startsWith(begin);

/** The parts of a wrapped event. Undefined for metadata that only begin like those of a foreign event. */
const wrappedIn = (metadata: string): Wrapped['$foreign'] | undefined => {
  try {
    const { $foreign } = JSON.parse(metadata) as Wrapped;
    const texts: readonly unknown[] = [$foreign.contentType, $foreign.metadata];
    return texts.every((text) => typeof text === 'string') && !Number.isNaN(Date.parse($foreign.created))
      ? $foreign
      : undefined;
  } catch {
    return undefined;
  }
};

/** The event as its writer sent it, byte for byte. Undefined for the platform's own events. */
export const unwrapForeign = (event: Pick<StoredEvent, 'data' | 'metadata'>): Foreign | undefined => {
  const wrapped = isForeign(event) ? wrappedIn(event.metadata) : undefined;
  if (!wrapped) return undefined;
  const { created, contentType, encoding, metadata, metadataEncoding } = wrapped;
  return {
    data: toBytes(event.data, encoding),
    metadata: toBytes(metadata, metadataEncoding),
    contentType,
    created: new Date(created),
  };
};
