import { aggregates } from './commands/all.ts';
import { areas } from './domain/engine/core.ts';
import { publishedEvent } from './domain/operations-manager/publishedEvents.ts';
import { splitStream } from './store/event.ts';
import type { StoredEvent } from './store/port.ts';

// Beside those of the domain: what the log itself keeps in streams (payloads.ts, identity.ts,
// eventstoredbCheckpoints.ts, keyCheck.ts).
const categories = new Set([...aggregates.map(({ category }) => category), 'payload', 'log', 'checkpoint', 'secret']);

/** Whether a stream is the platform's own; what tools write is in others. */
export const isOwnStream = (stream: string): boolean => categories.has(splitStream(stream).category);

const platform = '@platform/';
const sources: ReadonlySet<string> = new Set(areas.map((area) => platform + area));
const topics = new Set(aggregates.flatMap(({ evolve }) => Object.keys(evolve)));

/** Whether an event's type is of the platform's own areas; payloads and what the log notes for itself are of none. */
const isOwnType = (type: string): boolean => {
  const [source = '', topic = ''] = type.split(':');
  return sources.has(source) && topics.has(topic);
};

/** The categories of the streams that a type belongs to, as far as the domain says. */
const homes = new Map<string, Set<string>>();
for (const { area, category, evolve } of aggregates) {
  for (const topic of Object.keys(evolve)) {
    const type = `${platform}${area}:${topic}`;
    homes.set(type, (homes.get(type) ?? new Set()).add(category));
  }
}

type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/**
 * Whether an event has the name of one of the platform's and lies where the platform does not write such: somebody else
 * wrote it. A topic that is not known does not count as misplaced in an own stream: another version may know it.
 */
export const isMisplaced = ({ stream, type }: Placed): boolean => {
  if (!type.startsWith(platform)) return false;
  const { category } = splitStream(stream);
  if (!categories.has(category) || category === publishedEvent.category) return true;
  return homes.get(type)?.has(category) === false;
};

/** Whether an event is one of the domain's, where it belongs. */
export const isOwnEvent = (event: Placed): boolean => isOwnType(event.type) && !isMisplaced(event);

/** Whether the content of an event may lie in parts: the platform wrote it. */
export const mayHaveParts = ({ stream, type }: Placed): boolean =>
  isOwnStream(stream) && (type.startsWith(platform) || splitStream(stream).category === publishedEvent.category);
