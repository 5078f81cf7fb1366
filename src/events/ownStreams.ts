import type { Log } from '@automation-platform/concurrency';
import { aggregates, linkedCategories, ownTopics } from '../domain/all.ts';
import { areas } from '../domain/engine/core.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { isOwnStream } from '../store/anyEvent.ts';
import { splitStream, splitType } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';

export { isOwnStream };

/** True if every event of a stream has a link to the one before it. */
export const isLinkedStream = (stream: string): boolean => linkedCategories.has(splitStream(stream).category);

const platform = '@platform/';
const sources: ReadonlySet<string> = new Set(areas.map((area) => platform + area));

/** True if a type belongs to the platform's areas. Payloads and the log's own notes belong to none. */
const isOwnType = (type: string): boolean => {
  const { source, topic } = splitType(type);
  return sources.has(source) && ownTopics.has(topic);
};

/** The categories in which the domain uses a type. */
const homes = new Map<string, Set<string>>();
for (const { area, category, evolve } of aggregates) {
  for (const topic of Object.keys(evolve)) {
    const type = `${platform}${area}:${topic}`;
    homes.set(type, (homes.get(type) ?? new Set()).add(category));
  }
}

type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/**
 * True if an event has a type of the platform's, but lies in a stream where the platform does not write that type:
 * another program wrote it. An unknown topic in a stream of the platform does not count as misplaced: another version may
 * know it.
 */
export const isMisplaced = ({ stream, type }: Placed): boolean => {
  if (!type.startsWith(platform)) return false;
  const { category } = splitStream(stream);
  if (!isOwnStream(stream) || category === publishedEvent.category) return true;
  return homes.get(type)?.has(category) === false;
};

/** True if an event is one of the domain's, in a stream where it belongs. */
export const isOwnEvent = (event: Placed): boolean => isOwnType(event.type) && !isMisplaced(event);

/** True if the data of an event may lie in payload chunks: the platform wrote it. */
export const mayHaveParts = ({ stream, type }: Placed): boolean =>
  isOwnStream(stream) && (type.startsWith(platform) || splitStream(stream).category === publishedEvent.category);

/** Other writers can invent any number of streams; only this many are remembered and logged. */
const mostStreams = 1000;

/**
 * Counts the events to which another program gave a type of the platform's. The service ignores them, but its operator
 * should know of them.
 */
export const misplacedEvents = (log: Log) => {
  const streams = new Set<string>();
  let count = 0;

  const nameStream = (stream: string, type: string): void => {
    if (streams.has(stream) || streams.size === mostStreams) return;
    streams.add(stream);
    log('A stream has events under @platform/ that the platform did not write; they are passed over', { stream, type });
    if (streams.size === mostStreams) log('Further streams with such events are not named', { streams: mostStreams });
  };

  return {
    /** Call once with each event of the log. */
    met: (event: Pick<StoredEvent, 'stream' | 'type'>): void => {
      if (!isMisplaced(event)) return;
      count++;
      nameStream(event.stream, event.type);
    },
    count: (): number => count,
    /** The streams of these events, as far as they are remembered. */
    streams: (): readonly string[] => [...streams],
  };
};

export type MisplacedEvents = ReturnType<typeof misplacedEvents>;
