import { Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { naturalKey } from '../engine/percentEncoding.ts';
import { name } from '../engine/schemas.ts';
import { nothing, text, texts, topicsOf } from '../engine/topics.ts';

/** A group mapping in requests and answers. */
export const groupMappingSchema = Type.Object(
  {
    externalGroup: name('Name of the external group'),
    provenance: name('Authentication provider of the external group'),
    platformGroups: Type.Array(name('Name of a group of the platform; it may come into being later'), {
      description: 'Groups that members of the external group belong to',
    }),
  },
  {
    additionalProperties: false,
    title: 'GroupMapping',
    description: 'Mapping of an external group to groups of the platform',
  },
);

export type GroupMapping = SchemaData<typeof groupMappingSchema>;

const topics = topicsOf({
  groupMappingCreated: [
    'An external group was mapped to groups of the platform',
    Type.Object({ provenance: text, externalGroup: text, platformGroups: texts }),
  ],
  groupMappingUpdated: ['A mapping got other groups of the platform', Type.Object({ platformGroups: texts })],
  groupMappingDeleted: ['A mapping was deleted', nothing],
});
export type GroupMappingEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly platformGroups: GroupMapping['platformGroups'] };

export const groupMapping = aggregate<State, GroupMappingEvent>({
  area: 'group-mappings',
  category: 'groupMapping',
  topics,
  initial: { exists: false, platformGroups: [] },
  evolve: {
    groupMappingCreated: (_, { platformGroups }) => ({ exists: true, platformGroups }),
    groupMappingUpdated: (_, { platformGroups }) => ({ exists: true, platformGroups }),
    groupMappingDeleted: () => ({ exists: false, platformGroups: [] }),
  },
});

/**
 * The natural key: provenance, a space, external group. Spaces and `%` in both parts are percent-encoded. Lists are
 * sorted by external group, then by this key. The space sorts before every other character, so the mappings of one
 * external group are in the order of their encoded provenance.
 */
export const groupMappingId = (provenance: string, externalGroup: string): string =>
  naturalKey(provenance, externalGroup);

/** Creates a mapping. Duplicates are dropped, the order is kept. */
export const create = (
  _: State,
  { provenance, externalGroup, platformGroups }: GroupMapping,
): readonly GroupMappingEvent[] => [
  { topic: 'groupMappingCreated', data: { provenance, externalGroup, platformGroups: [...new Set(platformGroups)] } },
];

/** Decides `updateGroupMapping`: replaces the list, or creates the mapping. */
export const update = (state: State, mapping: GroupMapping): readonly GroupMappingEvent[] => {
  if (!state.exists) return create(state, mapping);
  const uniqueGroups = [...new Set(mapping.platformGroups)];
  const same =
    uniqueGroups.length === state.platformGroups.length &&
    uniqueGroups.every((group, i) => group === state.platformGroups[i]);
  return same ? [] : [{ topic: 'groupMappingUpdated', data: { platformGroups: uniqueGroups } }];
};

export const remove = (): readonly GroupMappingEvent[] => [{ topic: 'groupMappingDeleted', data: {} }];
