import type { TSchema } from 'typebox';
import { aggregates } from './aggregates.ts';
import type { Topic } from './engine/core.ts';
import { own } from './engine/members.ts';
import { topicsOfAll } from './engine/topicsOfEngine.ts';

const byCategory = new Map(aggregates.map((aggregate) => [aggregate.category, aggregate]));

/** A topic of the platform that others can see. */
export type ListedTopic = {
  readonly source: string;
  readonly topic: string;
  readonly description: string;
  readonly data: TSchema;
};

/** The topics of all streams but internal ones, by area. */
export const listedTopics: readonly ListedTopic[] = aggregates
  .filter(({ internal }) => !internal)
  .toSorted((one, other) => one.area.localeCompare(other.area))
  .flatMap(({ area, topics }) =>
    Object.entries(topics).map(([topic, [description, data]]) => ({
      source: `@platform/${area}`,
      topic,
      description,
      data,
    })),
  );

/** What events of a topic say in streams of a category; undefined if the platform writes none such. */
export const topicIn = (category: string, topic: string): Topic | undefined => {
  const aggregate = byCategory.get(category);
  return aggregate && (own(aggregate.topics, topic) ?? own(topicsOfAll, topic));
};

const schemas = new Map(listedTopics.map(({ source, topic, data }) => [`${source}:${topic}`, data]));

/** The schema of an event's data; undefined for published events, whose form nobody has said. */
export const schemaOfTopic = (source: string, topic: string): TSchema | undefined => {
  const known = schemas.get(`${source}:${topic}`);
  return known || !source.startsWith('@platform/') ? known : own(topicsOfAll, topic)?.[1];
};
