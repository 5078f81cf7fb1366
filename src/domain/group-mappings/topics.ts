import { Type } from 'typebox';
import { type Described, describeTopics, nothing, text, texts } from '../engine/topics.ts';
import { groupMapping } from './groupMappings.ts';

export const groupMappingTopics: readonly Described[] = [
  describeTopics(groupMapping, {
    groupMappingCreated: [
      'An external group was mapped to groups of the platform',
      Type.Object({ provenance: text, externalGroup: text, platformGroups: texts }),
    ],
    groupMappingUpdated: ['A mapping got other groups of the platform', Type.Object({ platformGroups: texts })],
    groupMappingDeleted: ['A mapping was deleted', nothing],
  }),
];
