import type { Metadata } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';

/** A number of the whole log: of events by type, by account or by day; of streams, events and bytes. */
export type Stat = {
  readonly by: 'topic' | 'actor' | 'day' | 'log';
  readonly name: string;
  readonly count: number;
};

/** Counts by name. */
const counter = (by: Stat['by']) => {
  const counts = new Map<string, number>();
  return {
    add: (name: string, n = 1): void => void counts.set(name, (counts.get(name) ?? 0) + n),
    stats: (): readonly Stat[] =>
      [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => ({ by, name, count })),
  };
};

const metadataOf = ({ metadata }: StoredEvent): Partial<Metadata> => {
  try {
    return (JSON.parse(metadata) as Partial<Metadata> | null) ?? {};
  } catch {
    return {};
  }
};

/** Counts all events of the log by source and topic, by account, and by day in UTC. It reads the whole log. */
export const statsOf = async (log: EventStore): Promise<readonly Stat[]> => {
  const [topics, actors, days, totals] = [counter('topic'), counter('actor'), counter('day'), counter('log')];
  const streams = new Set<string>();
  for await (const { events } of log.readAll(0)) {
    for (const event of events) {
      const { at, actor } = metadataOf(event);
      topics.add(event.type);
      if (typeof actor?.username === 'string') actors.add(actor.username);
      if (typeof at === 'string') days.add(at.slice(0, 10));
      streams.add(event.stream);
      totals.add('events');
      totals.add('bytes', Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata));
    }
  }
  totals.add('streams', streams.size);
  return [...topics.stats(), ...actors.stats(), ...days.stats(), ...totals.stats()];
};
