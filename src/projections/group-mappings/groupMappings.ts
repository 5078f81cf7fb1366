import { type GroupMapping, groupMapping } from '../../domain/group-mappings/groupMappings.ts';
import { projection } from '../engine/define.ts';

/** Group mappings as `getGroupMappings` shows them, sorted by external group, then provenance. */
export const groupMappings = projection<GroupMapping>()(groupMapping, {
  collection: 'groupMappings',
  on: {
    groupMappingCreated: (_, { data: { externalGroup, provenance, platformGroups } }) => ({
      externalGroup,
      provenance,
      platformGroups,
    }),
    groupMappingUpdated: (doc, { data }) => doc && { ...doc, platformGroups: data.platformGroups },
    groupMappingDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.externalGroup },
  filters: {
    externalGroup: (doc) => doc.externalGroup,
    name: (doc) => doc.externalGroup,
    provenance: (doc) => doc.provenance,
    platformGroups: (doc) => doc.platformGroups,
  },
});
