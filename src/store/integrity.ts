import { link } from './event.ts';
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

/** Whether an error says that a log is damaged. An error from another thread has lost its class. */
export const isDamage = (error: unknown): boolean => error instanceof Error && error.name === 'DamagedLog';

const open = ',"hash":"';
const close = '"}';
const hashLength = 44;
const closing = open.length + hashLength + close.length;

/**
 * The hash that an event's metadata ends with. Undefined for events that are not linked: foreign ones, parts of
 * payloads and the log's own events. Those get a sum.
 */
export const hashIn = (metadata: string): string | undefined => {
  const at = metadata.length - closing;
  const linked = metadata.startsWith(open, at) && metadata.endsWith(close);
  return linked ? metadata.slice(at + open.length, -close.length) : undefined;
};

type Content = Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'type' | 'data' | 'metadata'>;

/** SHA-256 over an event as its row has it. */
export const sumOf = (event: Content): string => link(event, '');

/** The look-ups of a check, beside the events that it is given. */
export type Kept = {
  /** Position and metadata of an event; undefined when there is none. */
  find(stream: string, revision: number): { readonly position: number; readonly metadata: string } | undefined;
  /** The sum that was stored for the event at a position. */
  sumAt(position: number): string | undefined;
  /** Every event after this position that has no link has a sum. */
  readonly sumsSince: number;
};

/** The newest event of a stream that was checked. */
type Newest = { revision: number; hash: string | undefined };

/**
 * Checks events in the order of the log: none may be missing, and each must be as it was written. Answers the reason
 * when one is not. It remembers the hashes of a number of streams. The hash of another stream is looked up.
 */
export const checker = (kept: Kept, streams: number) => {
  // Grows as it is needed: most checks see few streams. A hash that was forgotten is looked up.
  const hashes = new Map<string, Newest>();
  let last = 0;

  const gap = (until: number): string | undefined =>
    last + 1 < until ? `there is no event at position ${last + 1}` : undefined;

  /** The hash before an event: null when no such event comes before it, undefined when that one has none. */
  const hashBefore = (
    { stream, revision, position }: StoredEvent,
    known: Newest | undefined,
  ): string | null | undefined => {
    if (revision === 0) return '';
    if (known?.revision === revision - 1) return known.hash;
    const before = kept.find(stream, revision - 1);
    return before && before.position < position ? hashIn(before.metadata) : null;
  };

  /** Whether an event without a link is one that never had one, as it was written. */
  const unlinkedIsRight = (event: StoredEvent, previous: string | undefined): boolean => {
    const sum = kept.sumAt(event.position);
    if (sum !== undefined) return sum === sumOf(event);
    const hadLink = previous !== undefined && previous !== '';
    return event.position <= kept.sumsSince && !hadLink && !event.metadata.includes(open);
  };

  const fault = (event: StoredEvent, hash: string | undefined, known: Newest | undefined): string | undefined => {
    const { stream, revision, id, type, data, metadata } = event;
    const place = `event ${revision} of stream ${stream}`;
    const previous = hashBefore(event, known);
    if (previous === null) return `event ${revision - 1} of stream ${stream} does not come before event ${revision}`;
    if (hash === undefined) return unlinkedIsRight(event, previous) ? undefined : `${place} is not what was written`;
    // A stranger's event in between: there is nothing to hold the link against.
    if (previous === undefined) return undefined;
    const unlinked = `${metadata.slice(0, -closing)}}`;
    return link({ stream, revision, id, type, data, metadata: unlinked }, previous) === hash
      ? undefined
      : `${place} is not what was written`;
  };

  const remember = ({ stream, revision }: StoredEvent, hash: string | undefined, known: Newest | undefined): void => {
    if (known) {
      known.revision = revision;
      known.hash = hash;
      return;
    }
    if (hashes.size >= streams) hashes.clear();
    hashes.set(stream, { revision, hash });
  };

  return {
    /** The next event is the first one after this position. */
    from(after: number): void {
      last = after;
    },
    /** Why the next event is damaged; undefined when it is not. */
    next(event: StoredEvent): string | undefined {
      const missing = gap(event.position);
      const hash = hashIn(event.metadata);
      const known = hashes.get(event.stream);
      const wrong = missing ?? fault(event, hash, known);
      last = event.position;
      remember(event, hash, known);
      // A damage that was found before may have been accepted since.
      if (wrong === undefined || (!missing && kept.sumAt(event.position) === sumOf(event))) return undefined;
      return wrong;
    },
    /** Why it cannot be that nothing more comes up to a position. */
    end(position: number): string | undefined {
      const missing = gap(position + 1);
      last = position;
      return missing;
    },
  };
};
