import { hashIn, isPart, link, mentionsHash, sumOf, withoutHash } from '@automation-platform/event-log';
import type { StoredEvent } from './port.ts';

/** The content of the log is not as it was written. The message names the place. */
export class DamagedLog extends Error {
  readonly position: number;
  constructor(position: number, reason: string) {
    super(
      `The log is damaged at position ${position}: ${reason}. Restore a backup, or see "A damaged log" in docs/operations.md`,
    );
    this.name = 'DamagedLog';
    this.position = position;
  }
}

/**
 * True if an error says that a log is damaged. An error from another thread has lost its class, so its name is
 * compared.
 */
export const isDamage = (error: unknown): boolean => error instanceof Error && error.name === 'DamagedLog';

/** The look-ups of a check. The check gets the events themselves from its caller. */
export type Kept = {
  /** Position and metadata of an event; undefined when there is none. */
  find(stream: string, revision: number): { readonly position: number; readonly metadata: string } | undefined;
  /** The sum that was stored for the event at a position. */
  sumAt(position: number): string | undefined;
  /** Every event after this position has a link or a sum. */
  readonly sumsSince: number;
  /** True if a stream of content in parts is what its name says. */
  arePartsRight(stream: string): boolean;
};

/** A text of its own. A part of a text keeps the whole text in memory: here the metadata of an event of each stream. */
const copyOf = (part: string): string => Buffer.from(part, 'latin1').toString('latin1');

/** The newest event of a stream that the check has seen. */
type Newest = { revision: number; hash: string | undefined };

/**
 * Checks events in the order of the log: none may be missing, and each must be as it was written. A check returns the
 * reason when one is damaged. The hashes of up to `streams` streams are kept in memory. The hash of another stream is
 * looked up.
 */
export const checker = (places: Kept, streams: number) => {
  // The map grows with use, because most checks see few streams. A hash that is not in the map is looked up.
  const hashes = new Map<string, Newest>();
  let last = 0;

  const gap = (until: number): string | undefined =>
    last + 1 < until ? `there is no event at position ${last + 1}` : undefined;

  /**
   * The hash of the event before this one in its stream; '' for the first event. Null when the log does not have that
   * event before this one. Undefined when that event has no hash.
   */
  const hashBefore = (
    { stream, revision, position }: StoredEvent,
    newest: Newest | undefined,
  ): string | null | undefined => {
    if (revision === 0) return '';
    if (newest?.revision === revision - 1) return newest.hash;
    const before = places.find(stream, revision - 1);
    return before && before.position < position ? hashIn(before.metadata) : null;
  };

  /** True if an event without a link never had one, and is as it was written. */
  const unlinkedIsRight = (event: StoredEvent, previous: string | undefined): boolean => {
    const sum = places.sumAt(event.position);
    if (sum !== undefined) return sum === sumOf(event);
    if (event.position > places.sumsSince) return false;
    if (isPart(event)) return places.arePartsRight(event.stream);
    const hadLink = previous !== undefined && previous !== '';
    return !hadLink && !mentionsHash(event.metadata);
  };

  const fault = (event: StoredEvent, hash: string | undefined, newest: Newest | undefined): string | undefined => {
    const { stream, revision, id, type, data, metadata } = event;
    const place = `event ${revision} of stream ${stream}`;
    const previous = hashBefore(event, newest);
    if (previous === null) return `event ${revision - 1} of stream ${stream} does not come before event ${revision}`;
    if (hash === undefined) return unlinkedIsRight(event, previous) ? undefined : `${place} is not what was written`;
    // The event before is foreign and has no hash, so this link cannot be checked.
    if (previous === undefined) return undefined;
    return link({ stream, revision, id, type, data, metadata: withoutHash(metadata) }, previous) === hash
      ? undefined
      : `${place} is not what was written`;
  };

  const remember = ({ stream, revision }: StoredEvent, part: string | undefined, newest: Newest | undefined): void => {
    const hash = part === undefined ? undefined : copyOf(part);
    if (newest) {
      newest.revision = revision;
      newest.hash = hash;
      return;
    }
    if (hashes.size >= streams) hashes.clear();
    hashes.set(stream, { revision, hash });
  };

  return {
    /** Continues after this position: the next event must be the first one after it. */
    from(after: number): void {
      last = after;
    },
    /** Why the next event is damaged; undefined when it is not. */
    next(event: StoredEvent): string | undefined {
      const missing = gap(event.position);
      const hash = hashIn(event.metadata);
      const newestOfStream = hashes.get(event.stream);
      const wrong = missing ?? fault(event, hash, newestOfStream);
      last = event.position;
      remember(event, hash, newestOfStream);
      // An operator may have accepted the damage: then there is a sum of the present content.
      if (wrong === undefined || (!missing && places.sumAt(event.position) === sumOf(event))) return undefined;
      return wrong;
    },
    /** Why the events up to a position are not complete; undefined when they are. */
    end(position: number): string | undefined {
      const missing = gap(position + 1);
      last = position;
      return missing;
    },
  };
};
