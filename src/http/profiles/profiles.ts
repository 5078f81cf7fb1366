import { Type } from 'typebox';
import { noInput } from '../../commands/engine/define.ts';
import { activateProfile, createProfile, deleteProfile, updateProfile } from '../../commands/profiles/profiles.ts';
import { newProfileSchema, profileSchema } from '../../domain/profiles/profileSchemas.ts';
import { activeProfileId, profileDocument } from '../../domain/profiles/profiles.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { activeProfiles, type ProfileDoc, profiles } from '../../projections/profiles/profiles.ts';
import { withStatus } from '../engine/envelopes.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { AreaRoutes, Join, Params } from '../engine/route.ts';
import { getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, orWrapped } from '../engine/schemas.ts';

const key = ({ id = '' }: Params) => id;
const creation = orWrapped('properties', newProfileSchema);
/** The active profile, in the place of the document that names it. */
const active: Join<{ readonly id: string }> = async ({ id }, { entryById }, { actor }) =>
  profileDocument(JSON.parse((await entryById(profiles, id, actor)).text));

/** The schema of a profile as reads show it. */
const shownSchema = Type.Object(
  {
    ...profileSchema.properties,
    profile: profileSchema,
    metadata: Type.Object({ isActive: Type.Boolean({ description: 'It configures the service' }) }),
  },
  {
    additionalProperties: false,
    title: 'ShownProfile',
    description: 'A profile; `profile` is the same once more, for published clients',
  },
);

/** The profile, and the members in which published clients read it. */
const withClientMembers: Join<ProfileDoc> = async (doc, { model }) => {
  const profile = profileDocument(doc);
  const active = await documentOf(model, activeProfiles, activeProfileId);
  return { ...profile, profile, metadata: { isActive: active?.id === doc.id } };
};

const usual = resourceRoutes({
  noun: 'profile',
  path: '/',
  one: '/:id',
  documents: profiles,
  schema: profileSchema,
  read: ['readers'],
  change: [],
  key,
  join: async (doc) => profileDocument(doc),
});

/** Profiles (docs/profiles.md). The active one configures the service. */
export const profileRoutes: AreaRoutes = {
  area: 'profiles',
  prefix: '/profiles',
  routes: [
    usual.list({ name: 'getProfiles', summary: 'List profiles', join: withClientMembers, answer: listed(shownSchema) }),
    usual.create({
      name: 'createProfile',
      summary: 'Create a profile',
      description: 'It is not active until it is made so.',
      command: createProfile,
      key: (params: Params, body) => creation.input(params, body).id,
      ...creation,
    }),
    getRoute({
      name: 'getActiveProfile',
      path: '/active',
      access: ['readers'],
      summary: 'Get the active profile',
      description: 'Until one is made active there is none: 404, and the defaults hold.',
      get: activeProfiles,
      key: () => activeProfileId,
      join: active,
      answer: profileSchema,
    }),
    usual.get({ name: 'getProfile', summary: 'Get a profile' }),
    usual.update({
      name: 'updateProfile',
      method: 'put',
      untimed: true,
      summary: 'Update a profile, or create it',
      description:
        'A change of the active profile is in force at once, without a restart. It is refused (409) if by ' +
        'its authenticationProps.admins no active account would be an admin.',
      command: updateProfile,
      envelope: withStatus(({ created }) => `Successfully ${created ? 'created' : 'updated'} profile`),
    }),
    usual.remove({
      name: 'deleteProfile',
      summary: 'Delete a profile that is not active',
      command: deleteProfile,
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
