import type { Log } from '../concurrency/log.ts';
import type { StoredEvent } from '../store/port.ts';
import { isMisplaced } from './ownStreams.ts';

/** Other writers can invent any number of streams; only this many are remembered and logged. */
const mostStreams = 1000;

/**
 * Counts the events to which somebody else gave a type of the platform's. The service ignores them, but its operator
 * should know of them.
 */
export const misplacedEvents = (log: Log) => {
  const streams = new Set<string>();
  let count = 0;

  const name = (stream: string, type: string): void => {
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
      name(event.stream, event.type);
    },
    count: (): number => count,
    /** The streams of these events, as far as they are remembered. */
    streams: (): readonly string[] => [...streams],
  };
};

export type MisplacedEvents = ReturnType<typeof misplacedEvents>;
