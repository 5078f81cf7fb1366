import type { StoredEvent } from './events.ts';
import { isForeign } from './foreign.ts';

/** The type of the event that ends a stream for ever. */
export const tombstoneType = '$streamDeleted';
/** The type of the only events that a metadata stream has. */
export const metadataType = '$metadata';

export const metastreamOf = (stream: string): string => `$$${stream}`;
export const isMetastream = (stream: string): boolean => stream.startsWith('$$');

/** The stream that contains the id of its log. Readers over the network use the id to tell two logs apart. */
export const identityStream = 'log-identity';

/** True for a stream that belongs to one log only: it has the log's identity, or the position of a reader. No copy has it. */
export const isOfLog = (stream: string): boolean => stream === identityStream || stream.startsWith('checkpoint-');

/** The name of a stream with content in parts: it has the SHA-256 of the content, in hex. */
export const partsStream = /^payload-([0-9a-f]{64})$/;

/** True if an event belongs to content in parts. */
export const isPart = (event: Pick<StoredEvent, 'stream' | 'metadata'>): boolean =>
  partsStream.test(event.stream) && !isForeign(event);
