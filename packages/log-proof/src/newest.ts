import { hashIn, type StoredEvent } from '@automation-platform/event-log';
import type { LookUps } from './lookUps.ts';

/**
 * The newest event of a stream. `hashes`: what the next event may name as the hash before it: two if the event was
 * altered, none if it has no link.
 */
export type Newest = {
  readonly revision: number;
  readonly position: number;
  readonly hashes: readonly string[];
  /** True if all events of the stream must have a link. */
  readonly linked: boolean;
};

type Needs = Pick<LookUps, 'find'> & { readonly linked: (stream: string) => boolean };

/** The hashes that the next event may name for an event that is as it was written. */
export const hashesOf = ({ metadata }: Pick<StoredEvent, 'metadata'>): readonly string[] => {
  const hash = hashIn(metadata);
  return hash === undefined ? [] : [hash];
};

const mostStreams = 200_000;

/** Remembers the newest event of each stream. Where events can be looked up, it forgets when there are too many. */
export const newestEvents = ({ find, linked }: Needs) => {
  const newest = new Map<string, { -readonly [K in keyof Newest]: Newest[K] }>();
  let hasForgotten = false;

  const lookUp = ({ stream, revision, position }: StoredEvent): Newest => {
    const there = find?.(stream, revision - 1);
    if (there && there.position < position)
      return { revision: revision - 1, position: there.position, hashes: hashesOf(there), linked: linked(stream) };
    return { revision: revision - 2, position: 0, hashes: [], linked: linked(stream) };
  };

  return {
    of: (stream: string): Newest | undefined => newest.get(stream),
    /** The newest event of the stream before this event; undefined without any. */
    before: (event: StoredEvent): Newest | undefined => {
      const newestOfStream = newest.get(event.stream);
      return newestOfStream || event.revision === 0 || !hasForgotten ? newestOfStream : lookUp(event);
    },
    remember: ({ stream, revision, position }: StoredEvent, hashes: readonly string[]): void => {
      const newestOfStream = newest.get(stream);
      if (newestOfStream) {
        newestOfStream.revision = revision;
        newestOfStream.position = position;
        newestOfStream.hashes = hashes;
        return;
      }
      if (find && newest.size >= mostStreams) {
        newest.clear();
        hasForgotten = true;
      }
      newest.set(stream, { revision, position, hashes, linked: linked(stream) });
    },
  };
};
