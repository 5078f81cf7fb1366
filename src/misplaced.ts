import { isMisplaced } from './ownStreams.ts';
import type { StoredEvent } from './store/port.ts';

/** Strangers may invent streams: no more are remembered, nor logged. */
const mostStreams = 1000;

/**
 * Counts the events that somebody else gave names of the platform's. Nothing reads them; that they are there, whoever
 * runs the service should know.
 */
export const misplacedEvents = (log: (message: string, about: Record<string, unknown>) => void) => {
  const streams = new Set<string>();
  let count = 0;

  const name = (stream: string, type: string): void => {
    if (streams.has(stream) || streams.size === mostStreams) return;
    streams.add(stream);
    log('A stream has events under @platform/ that the platform did not write; they are passed over', { stream, type });
    if (streams.size === mostStreams) log('Further streams with such events are not named', { streams: mostStreams });
  };

  return {
    /** Told of every event of the log, once. */
    met: (event: Pick<StoredEvent, 'stream' | 'type'>): void => {
      if (!isMisplaced(event)) return;
      count++;
      name(event.stream, event.type);
    },
    count: (): number => count,
    /** The streams that they are in, as far as these are remembered. */
    streams: (): readonly string[] => [...streams],
  };
};

export type MisplacedEvents = ReturnType<typeof misplacedEvents>;
