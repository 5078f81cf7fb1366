import { agentTopics } from './agent-session-manager/topics.ts';
import { authorizationTopics } from './authorization/topics.ts';
import { scheduledJobTopics } from './automation-catalog/topics.ts';
import { configurationTopics } from './configuration-manager/topics.ts';
import { bannerTopics } from './customization/topics.ts';
import type { Described } from './engine/topics.ts';
import { engineTopics } from './engine/topicsOfEngine.ts';
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
