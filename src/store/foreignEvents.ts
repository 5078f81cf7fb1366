import { ownCategories } from '../domain/all.ts';
import { type ForeignSources, isReserved } from '../domain/sources.ts';
import { splitStream, splitType } from './event.ts';
import type { StoredEvent } from './port.ts';

type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/** True if a stream is the platform's own. Tools write to other streams. */
export const isOwnStream = (stream: string): boolean => ownCategories.has(splitStream(stream).category);

const longestName = 256;
const mostKnown = 10_000;

const isName = (name: string): boolean => name !== '' && name.length <= longestName;

/** True if a type has a source and a topic as published events have. */
const isPublishable = (type: string): boolean => {
  const { source, topic } = splitType(type);
  return type.includes(':') && isName(source) && isName(topic) && !isReserved(source);
};

/**
 * Makes the test for events of other programs that count like published ones: those in streams of their own, with a
 * source and a topic as published events have, if the source begins with one of `sources`.
 */
export const foreignEvents = (sources: ForeignSources) => {
  // There are few types and many events.
  const known = new Map<string, boolean>();
  const counts = (type: string): boolean => {
    const before = known.get(type);
    if (before !== undefined) return before;
    const { source } = splitType(type);
    const now = sources.some((begin) => source.startsWith(begin)) && isPublishable(type);
    if (known.size < mostKnown) known.set(type, now);
    return now;
  };
  return ({ stream, type }: Placed): boolean => !stream.startsWith('$') && !isOwnStream(stream) && counts(type);
};
