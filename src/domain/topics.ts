import { own } from '@automation-platform/json';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { aggregates } from './all.ts';
import type { Topic } from './engine/core.ts';
import { topicsOfAll } from './engine/topics.ts';

const byCategory = new Map(aggregates.map((aggregate) => [aggregate.category, aggregate]));

/** A topic of the platform that subscribers can see. */
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

/** The meaning of events of a topic in streams of a category; undefined if the platform writes none such. */
export const topicIn = (category: string, topic: string): Topic | undefined => {
  const aggregate = byCategory.get(category);
  return aggregate && (own(aggregate.topics, topic) ?? own(topicsOfAll, topic));
};

const validators = new Map<TSchema, Validator>();

/**
 * Where the data of an event in a stream of a category do not fit what its topic says, without quoting them; undefined
 * if they do, or if the platform has no such topic. Schemas are compiled when they are needed.
 */
export const faultOfData = (category: string, topic: string, data: unknown): string | undefined => {
  const schema = topicIn(category, topic)?.[1];
  if (!schema) return undefined;
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(data)) return undefined;
  const [fault] = validator.Errors(data);
  return `${fault?.instancePath || 'it'} ${fault?.message ?? 'does not fit'}`;
};

const schemas = new Map(listedTopics.map(({ source, topic, data }) => [`${source}:${topic}`, data]));

/** The schema of an event's data; undefined for published events, whose form nobody has said. */
export const schemaOfTopic = (source: string, topic: string): TSchema | undefined => {
  const topicSchema = schemas.get(`${source}:${topic}`);
  return topicSchema || !source.startsWith('@platform/') ? topicSchema : own(topicsOfAll, topic)?.[1];
};
