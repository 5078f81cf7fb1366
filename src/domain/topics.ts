import type { TSchema } from 'typebox';
import { agentTopics } from './agent-session-manager/topics.ts';
import { authorizationTopics } from './authorization/topics.ts';
import { scheduledJobTopics } from './automation-catalog/topics.ts';
import { configurationTopics } from './configuration-manager/topics.ts';
import { bannerTopics } from './customization/topics.ts';
import type { Described } from './engine/topics.ts';
import { engineTopics, topicsOfAll } from './engine/topicsOfEngine.ts';
import { gatewayTopics } from './gateway-manager/topics.ts';
import { groupMappingTopics } from './group-mappings/topics.ts';
import { inventoryTopics } from './inventory-manager/topics.ts';
import { formTopics } from './json-forms/topics.ts';
import { resourceTopics } from './lifecycle-manager/topics.ts';
import { mopTopics } from './mop/topics.ts';
import { operationsTopics } from './operations-manager/topics.ts';
import { prebuiltTopics } from './prebuilts/topics.ts';
import { profileTopics } from './profiles/topics.ts';
import { templateTopics } from './template-builder/topics.ts';

/** The topics of all kinds of streams. */
export const describedTopics: readonly Described[] = [
  ...agentTopics,
  ...authorizationTopics,
  ...bannerTopics,
  ...configurationTopics,
  ...engineTopics,
  ...formTopics,
  ...gatewayTopics,
  ...groupMappingTopics,
  ...inventoryTopics,
  ...mopTopics,
  ...operationsTopics,
  ...prebuiltTopics,
  ...profileTopics,
  ...resourceTopics,
  ...scheduledJobTopics,
  ...templateTopics,
];

/** A topic of the platform that others can see. */
export type ListedTopic = {
  readonly source: string;
  readonly topic: string;
  readonly description: string;
  readonly data: TSchema;
};

/** The topics of all streams but internal ones. */
export const listedTopics: readonly ListedTopic[] = describedTopics
  .filter(({ aggregate }) => !aggregate.internal)
  .flatMap(({ aggregate: { area }, topics }) =>
    Object.entries(topics).map(([topic, [description, data]]) => ({
      source: `@platform/${area}`,
      topic,
      description,
      data,
    })),
  );

const schemas = new Map(listedTopics.map(({ source, topic, data }) => [`${source}:${topic}`, data]));

/** The schema of an event's data; undefined for published events, whose form nobody has said. */
export const schemaOfTopic = (source: string, topic: string): TSchema | undefined => {
  const known = schemas.get(`${source}:${topic}`);
  if (known || !source.startsWith('@platform/')) return known;
  return Object.hasOwn(topicsOfAll, topic) ? topicsOfAll[topic as keyof typeof topicsOfAll][1] : undefined;
};
