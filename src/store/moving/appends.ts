import { metadataType, tombstoneType } from '@automation-platform/event-log';
import { isOwnStream } from '../anyEvent.ts';
import { maxAppend, type StoredEvent, type WholeLog, WrongRevision } from '../port.ts';

/** A log as one end of a copy. Both kinds of log show foreign events as `wrapForeign` writes them. */
export type CopyEnd = WholeLog & {
  /** Deletes a stream for ever. Only a log in a server has this function. A server acts on the settings of streams. */
  readonly end?: (stream: string) => Promise<void>;
};

const mostEvents = 500;

/** Describes the place of an event, for messages. */
export const place = ({ position, stream, revision, type }: StoredEvent): string =>
  `position ${position} (${type === tombstoneType ? 'the end' : `event ${revision}`} of stream ${stream})`;

const sizeOf = ({ type, data, metadata }: StoredEvent): number =>
  Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);

const reasonOf = (error: unknown, { stream, revision }: StoredEvent): string => {
  if (!(error instanceof WrongRevision)) return error instanceof Error ? error.message : String(error);
  if (error.actual >= revision) return `the target's stream is at revision ${error.actual}`;
  const lost = `the source lacks event ${error.actual + 1}, which was scavenged or is EventStoreDB's own`;
  return isOwnStream(stream) ? lost : `${lost}; --skip-incomplete leaves such streams out`;
};

/** The error for an event that could not be copied. */
export const stoppedAt = (event: StoredEvent, error: unknown): Error =>
  new Error(`Copying stopped at the source's ${place(event)}: ${reasonOf(error, event)}`, { cause: error });

/** True if an event can be appended although earlier events of its stream are missing. */
export const standsAlone = ({ type }: Pick<StoredEvent, 'type'>): boolean =>
  type === metadataType || type === tombstoneType;

/** Collects events, and appends consecutive events of one stream together. */
export const appender = (to: Pick<CopyEnd, 'append'>) => {
  let pending: StoredEvent[] = [];
  let size = 0;

  /** Appends the pending events. `first` is the first of them. */
  const append = async (first: StoredEvent): Promise<void> => {
    const { stream, revision } = first;
    const events = pending.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }));
    try {
      await to.append(stream, revision - 1, events);
    } catch (error) {
      if (!(error instanceof WrongRevision && error.actual < revision - 1 && standsAlone(first))) throw error;
      await to.append(stream, error.actual, events);
    }
  };

  const flush = async (): Promise<void> => {
    const [first] = pending;
    if (!first) return;
    await append(first).catch((error: unknown) => {
      throw stoppedAt(first, error);
    });
    pending = [];
    size = 0;
  };

  const goesWith = (last: StoredEvent, event: StoredEvent): boolean =>
    last.stream === event.stream && last.revision + 1 === event.revision && pending.length < mostEvents;

  return {
    flush,
    add: async (event: StoredEvent): Promise<void> => {
      const last = pending.at(-1);
      const bytes = sizeOf(event);
      if (last && !(goesWith(last, event) && size + bytes <= maxAppend)) await flush();
      pending.push(event);
      size += bytes;
    },
  };
};
