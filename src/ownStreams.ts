import { aggregates } from './commands/all.ts';
import { areas } from './domain/core.ts';
import { splitStream } from './store/event.ts';

// Beside those of the domain: what the log itself keeps in streams (payloads.ts, identity.ts, eventstoredbCheckpoints.ts, keyCheck.ts).
const categories = new Set([...aggregates.map(({ category }) => category), 'payload', 'log', 'checkpoint', 'secret']);

/** Whether a stream is the platform's own; what tools write is in others. */
export const isOwnStream = (stream: string): boolean => categories.has(splitStream(stream).category);

const sources: ReadonlySet<string> = new Set(areas.map((area) => `@platform/${area}`));
const topics = new Set(aggregates.flatMap(({ evolve }) => Object.keys(evolve)));

/** Whether an event's type is of the platform's own areas; payloads and what the log notes for itself are of none. */
export const isOwnType = (type: string): boolean => {
  const [source = '', topic = ''] = type.split(':');
  return sources.has(source) && topics.has(topic);
};
