import { noInput } from '../../commands/engine/define.ts';
import { activateProfile, createProfile, deleteProfile, updateProfile } from '../../commands/profiles/profiles.ts';
import { newProfileSchema, profileSchema } from '../../domain/profiles/profileSchemas.ts';
import { activeProfileId, shown } from '../../domain/profiles/profiles.ts';
import { activeProfiles, type ProfileDoc, profiles } from '../../projections/profiles/profiles.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { AreaRoutes, Join, Params } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, orWrapped } from '../engine/schemas.ts';

const key = ({ id }: Params<'id'>) => id;
const creation = orWrapped('properties', newProfileSchema);
const join: Join<ProfileDoc> = async (doc) => shown(doc);
/** The active profile, in the place of the document that names it. */
const active: Join<{ readonly id: string }> = async ({ id }, { entryById }, { actor }) =>
  shown(JSON.parse((await entryById(profiles, id, actor)).text));

/** Profiles (docs/profiles.md). The active one configures the service. */
export const profileRoutes: AreaRoutes = {
  area: 'profiles',
  prefix: '/profiles',
  routes: [
    listRoute({
      name: 'getProfiles',
      method: 'get',
      path: '/',
      access: ['readers'],
      summary: 'List profiles',
      list: profiles,
      join,
      envelope: results,
      answer: listed(profileSchema),
    }),
    mappedCommandRoute({
      name: 'createProfile',
      method: 'post',
      path: '/',
      access: [],
      summary: 'Create a profile',
      description: 'It is not active until it is made so.',
      command: createProfile,
      key: (params, body) => creation.input(params, body).id,
      ...creation,
      join,
      envelope: withStatus(() => 'Successfully created profile'),
      answer: changed(profileSchema),
    }),
    getRoute({
      name: 'getActiveProfile',
      method: 'get',
      path: '/active',
      access: ['readers'],
      summary: 'Get the active profile',
      description: 'Until one is made active there is none: 404, and the defaults hold.',
      get: activeProfiles,
      key: () => activeProfileId,
      join: active,
      envelope: plain,
      answer: profileSchema,
    }),
    getRoute({
      name: 'getProfile',
      method: 'get',
      path: '/:id',
      access: ['readers'],
      summary: 'Get a profile',
      get: profiles,
      key,
      join,
      envelope: plain,
      answer: profileSchema,
    }),
    commandRoute({
      name: 'updateProfile',
      method: 'put',
      path: '/:id',
      access: [],
      untimed: true,
      summary: 'Update a profile, or create it',
      description:
        'A change of the active profile is in force at once, without a restart. It is refused (409) if by ' +
        'its authenticationProps.admins no active account would be an admin.',
      command: updateProfile,
      key,
      join,
      envelope: withStatus(({ created }) => `Successfully ${created ? 'created' : 'updated'} profile`),
      answer: changed(profileSchema),
    }),
    commandRoute({
      name: 'deleteProfile',
      method: 'delete',
      path: '/:id',
      access: [],
      summary: 'Delete a profile that is not active',
      command: deleteProfile,
      key,
      join,
      envelope: withStatus(() => 'Successfully deleted profile'),
      answer: changed(profileSchema),
    }),
    mappedCommandRoute({
      name: 'activateProfile',
      method: 'put',
      path: '/:id/active',
      access: [],
      untimed: true,
      summary: 'Make a profile the active one',
      description: 'The one that was is so no longer. In force at once, without a restart.',
      command: activateProfile,
      body: noInput,
      key: () => activeProfileId,
      input: ({ id }) => ({ id }),
      join: active,
      envelope: withStatus(() => 'Successfully activated profile'),
      answer: changed(profileSchema),
    }),
  ],
};
