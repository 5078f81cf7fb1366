import { aggregates } from '../domain/all.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { everySource, type ForeignSources } from '../domain/sources.ts';
import { listedTopics } from '../domain/topics.ts';
import { foreignEvents } from '../store/anyEvent.ts';
import { splitStream } from '../store/event.ts';
import type { Counted } from './engine/eventTypes.ts';

/** How the types of events begin that the platform writes to streams of a category. */
const sources = new Map(
  aggregates
    .filter(({ internal, published }) => !internal && !published)
    .map(({ category, area }) => [category, `@platform/${area}:`]),
);

/** The events that users can wait for: those of resources, published ones, and those of other programs. */
export const countedEvents = (foreign: ForeignSources = everySource): Counted => {
  const isForeign = foreignEvents(foreign);
  return {
    known: listedTopics.map(({ source, topic }) => `${source}:${topic}`),
    counts: ({ stream, type }) => {
      const { category } = splitStream(stream);
      if (category === publishedEvent.category) return !type.startsWith('@platform/') && !type.startsWith('$');
      const source = sources.get(category);
      return source === undefined ? isForeign({ stream, type }) : type.startsWith(source);
    },
  };
};
