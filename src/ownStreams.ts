import { aggregates } from './commands/all.ts';
import { splitStream } from './store/event.ts';

// Beside those of the domain: what the log itself keeps in streams (payloads.ts, identity.ts, eventstoredbCheckpoints.ts).
const categories = new Set([...aggregates.map(({ category }) => category), 'payload', 'log', 'checkpoint']);

/** Whether a stream is the platform's own; what tools write is in others. */
export const isOwnStream = (stream: string): boolean => categories.has(splitStream(stream).category);
