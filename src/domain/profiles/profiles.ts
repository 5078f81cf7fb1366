import { Type } from 'typebox';
import type { Admins } from '../authorization/admins.ts';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskSecrets } from '../engine/secretFields.ts';
import { anyMembers, nothing, text, topicsOf, typed } from '../engine/topics.ts';
import { merged, patchBetween } from './mergePatch.ts';
import { type ProfileContent, profileDefaults } from './profileSchemas.ts';

/** The stream's id is that of the profile. Secrets are sealed. */
const profileTopics = topicsOf({
  profileCreated: ['A profile was created', Type.Object({ properties: typed<ProfileContent>()(anyMembers) })],
  profileUpdated: ['A profile changed, by a merge patch (RFC 7396)', Type.Object({ changes: anyMembers })],
  profileDeleted: ['A profile was deleted', nothing],
});
export type ProfileEvent = EventOf<typeof profileTopics>;

export type ProfileState = { readonly exists: boolean; readonly properties: ProfileContent };

const none: ProfileState = { exists: false, properties: {} };

export const profile = aggregate<ProfileState, ProfileEvent>({
  area: 'profiles',
  category: 'profile',
  topics: profileTopics,
  initial: none,
  evolve: {
    profileCreated: (_, { properties }) => ({ exists: true, properties }),
    profileUpdated: ({ properties }, { changes }) => ({
      exists: true,
      properties: merged(properties, changes) as ProfileContent,
    }),
    profileDeleted: () => none,
  },
});

const activeProfileTopics = topicsOf({
  profileActivated: ['Another profile came into force', Type.Object({ id: text })],
});
export type ActiveProfileEvent = EventOf<typeof activeProfileTopics>;

/** The id of the active profile. There is only one such stream. */
export const activeProfile = aggregate<{ readonly id: string | undefined }, ActiveProfileEvent>({
  area: 'profiles',
  category: 'activeProfile',
  topics: activeProfileTopics,
  initial: { id: undefined },
  evolve: { profileActivated: (_, { id }) => ({ id }) },
  exists: ({ id }) => id !== undefined,
});

export const activeProfileId = 'current';

/** The id that stands for the active profile in paths. No profile can have it. */
const reservedId = 'active';

/** The fields of a request. `id` is no part of the content. */
export type Patch = { readonly id?: string | undefined; readonly [member: string]: unknown };

/** The properties after the request. */
export const requested = (before: ProfileContent, { id: _, ...patch }: Patch): ProfileContent =>
  merged(before, patch) as ProfileContent;

/**
 * The groups whose members are admins under this profile. Objects name a group as `group` or `name`. Objects that name
 * none are ignored.
 */
export const adminsOf = ({ authenticationProps }: ProfileContent): Admins =>
  (authenticationProps?.admins ?? []).flatMap((item): Admins => {
    if (typeof item === 'string') return [item];
    const { group = item.name, provenance } = item;
    return group === undefined ? [] : [{ group, provenance }];
  });

/** The profile for answers, with defaults and masked secrets. */
export const profileDocument = ({ id, ...properties }: { readonly id: string } & ProfileContent): object => {
  const maskedProperties = maskSecrets(properties) as Readonly<Record<string, object | undefined>>;
  const filled = Object.entries(profileDefaults).map(
    ([group, presets]) => [group, { ...presets, ...maskedProperties[group] }] as const,
  );
  return { id, ...maskedProperties, ...Object.fromEntries(filled), prebuiltProps: {} };
};

/** `properties` are those of the request with sealed secrets. */
export type ProfileRefs = { readonly properties: Patch; readonly adminRemains: boolean };

const refuseWithoutAdmin = (adminRemains: boolean, path: string): void => {
  if (!adminRemains)
    throw new RequestError(
      'conflict',
      "Nobody would be an admin: no active account belongs to a group that the profile's authenticationProps.admins name",
      { path },
    );
};

const checkId = (id: string, otherId: string | undefined): void => {
  if (id === reservedId)
    throw new RequestError('invalid', `No profile may have the id ${reservedId}: it stands for the active one`, {
      path: 'id',
    });
  if (otherId !== undefined && otherId !== id)
    throw new RequestError('invalid', 'The id is not the one of the path', { path: '/properties/id' });
};

export const create = (_: ProfileState, __: unknown, { id, refs }: Context<ProfileRefs>): readonly ProfileEvent[] => {
  checkId(id, refs.properties.id);
  return [{ topic: 'profileCreated', data: { properties: requested({}, refs.properties) } }];
};

/** Decides `updateProfile`: creates the profile if it is missing, else merges. */
export const update = (state: ProfileState, input: unknown, context: Context<ProfileRefs>): readonly ProfileEvent[] => {
  const { id, refs } = context;
  if (!state.exists) return create(state, input, context);
  checkId(id, refs.properties.id);
  const changes = patchBetween(state.properties, requested(state.properties, refs.properties));
  if (changes) refuseWithoutAdmin(refs.adminRemains, '/properties/authenticationProps/admins');
  return changes ? [{ topic: 'profileUpdated', data: { changes } }] : [];
};

export const remove = (
  _: ProfileState,
  __: unknown,
  { refs }: Context<{ readonly active: boolean }>,
): readonly ProfileEvent[] => {
  if (refs.active)
    throw new RequestError('conflict', 'The active profile cannot be deleted: make another one active first');
  return [{ topic: 'profileDeleted', data: {} }];
};

/** Makes a profile the active one, in place of the former. */
export const activate = (
  state: { readonly id: string | undefined },
  { id }: { readonly id: string },
  { refs }: Context<{ readonly exists: boolean; readonly adminRemains: boolean }>,
): readonly ActiveProfileEvent[] => {
  if (!refs.exists) throw new RequestError('not_found', 'No such profile', { path: 'id' });
  if (state.id === id) return [];
  refuseWithoutAdmin(refs.adminRemains, 'id');
  return [{ topic: 'profileActivated', data: { id } }];
};
