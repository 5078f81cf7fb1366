import { Type } from 'typebox';
import {
  createGroupMapping,
  deleteGroupMapping,
  updateGroupMapping,
} from '../../commands/group-mappings/groupMappings.ts';
import { groupObjectSchema } from '../../domain/authorization/gbac.ts';
import { type GroupMapping, groupMappingId, groupMappingSchema } from '../../domain/group-mappings/groupMappings.ts';
import { groupMappings } from '../../projections/group-mappings/groupMappings.ts';
import { groupObjects } from '../authorization/people.ts';
import { withStatus } from '../engine/envelopes.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { AreaRoutes, Join, Params } from '../engine/route.ts';
import { listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const key = ({ provenance, externalGroup }: Params<'provenance' | 'externalGroup'>) =>
  groupMappingId(provenance, externalGroup);
const path = '/:provenance/:externalGroup';

const { platformGroups, ...others } = groupMappingSchema.properties;
const listedSchema = Type.Object(
  {
    ...others,
    platformGroups: Type.Union([platformGroups, Type.Array(groupObjectSchema)], {
      description: 'Names, or with expand group objects',
    }),
  },
  { title: 'ListedGroupMapping', description: 'Group mapping, its groups as names or objects' },
);

/** A group mapping with group objects in the place of names. */
const withPlatformGroups: Join<GroupMapping> = async (mapping, { model }) => {
  const objects = await groupObjects(model, mapping.platformGroups);
  return { ...mapping, platformGroups: objects(mapping.platformGroups) };
};

const usual = resourceRoutes({
  noun: 'group mapping',
  path: '/',
  one: path,
  documents: groupMappings,
  schema: groupMappingSchema,
  read: ['readers'],
  change: [],
  key,
});

/** Group mappings: the groups of the platform that an external group gives. */
export const groupMappingRoutes: AreaRoutes = {
  area: 'group-mappings',
  prefix: '/group-mappings',
  routes: [
    listRoute({
      name: 'getGroupMappings',
      path: '/',
      access: ['readers'],
      summary: 'List group mappings',
      list: groupMappings,
      query: { expand: Type.Literal('platformGroups', { description: 'Turns group names into group objects' }) },
      join: withPlatformGroups,
      joinOn: 'expand',
      answer: listed(listedSchema),
    }),
    usual.create({
      name: 'createGroupMapping',
      summary: 'Create a group mapping',
      description: 'It is known by provenance and externalGroup; one that is there already is 409.',
      command: createGroupMapping,
      key: (_, { provenance, externalGroup }) => key({ provenance, externalGroup }),
    }),
    usual.get({ name: 'getGroupMapping', summary: 'Get a group mapping' }),
    mappedCommandRoute({
      name: 'updateGroupMapping',
      method: 'patch',
      path,
      access: [],
      summary: 'Update a group mapping, or create it',
      command: updateGroupMapping,
      key,
      input: ({ provenance, externalGroup }, { updates }) => ({
        provenance,
        externalGroup,
        platformGroups: updates.platformGroups,
      }),
      body: Type.Object(
        { updates: Type.Pick(groupMappingSchema, ['platformGroups'], { additionalProperties: false }) },
        { additionalProperties: false },
      ),
      envelope: withStatus(({ created }) => `Successfully ${created ? 'created' : 'updated'} group mapping`),
      answer: changed(groupMappingSchema),
    }),
    usual.remove({
      name: 'deleteGroupMapping',
      summary: 'Delete a group mapping',
      command: deleteGroupMapping,
    }),
  ],
};
