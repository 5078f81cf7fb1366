import type { Admins } from '../authorization/admins.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskSecrets } from '../engine/secretFields.ts';
import { type Members, merged, patchBetween } from './mergePatch.ts';
import { type ProfileContent, profileDefaults } from './profileSchemas.ts';

export type ProfileEvent =
  /** The stream's id is the profile's. Secrets are sealed. */
  | Event<'profileCreated', { readonly properties: ProfileContent }>
  /** `changes`: a merge patch (RFC 7396). */
  | Event<'profileUpdated', { readonly changes: Members }>
  | Event<'profileDeleted', Record<string, never>>;

export type ProfileState = { readonly exists: boolean; readonly properties: ProfileContent };

const none: ProfileState = { exists: false, properties: {} };

export const profile = aggregate<ProfileState, ProfileEvent>({
  area: 'profiles',
  category: 'profile',
  initial: none,
  evolve: {
    profileCreated: (_, { properties }) => ({ exists: true, properties }),
    profileUpdated: ({ properties }, { changes }) => ({
      exists: true,
      properties: merged(properties, changes) as ProfileContent,
    }),
    profileDeleted: () => none,
  },
  exists: (state) => state.exists,
});

export type ActiveProfileEvent = Event<'profileActivated', { readonly id: string }>;

/** Which profile is active: there is one such stream. */
export const activeProfile = aggregate<{ readonly id: string | undefined }, ActiveProfileEvent>({
  area: 'profiles',
  category: 'activeProfile',
  initial: { id: undefined },
  evolve: { profileActivated: (_, { id }) => ({ id }) },
  exists: ({ id }) => id !== undefined,
});

export const activeProfileId = 'current';

/** What a path takes for the active profile; no profile can be called so. */
const reservedId = 'active';

/** What a request says: everything but the profile's own id. */
export type Patch = { readonly id?: string | undefined; readonly [member: string]: unknown };

/** The properties once the request is met. */
export const requested = (before: ProfileContent, { id: _, ...patch }: Patch): ProfileContent =>
  merged(before, patch) as ProfileContent;

/**
 * Members of which groups are admins by a profile. Objects name a group as `group` or `name`; those that name none
 * count for nothing.
 */
export const adminsOf = ({ authenticationProps }: ProfileContent): Admins =>
  (authenticationProps?.admins ?? []).flatMap((item): Admins => {
    if (typeof item === 'string') return [item];
    const { group = item.name, provenance } = item;
    return group === undefined ? [] : [{ group, provenance }];
  });

/** The profile as answers show it: defaults filled in, secrets masked. */
export const shown = ({ id, ...properties }: { readonly id: string } & ProfileContent): unknown => {
  const given = maskSecrets(properties) as Readonly<Record<string, object | undefined>>;
  const filled = Object.entries(profileDefaults).map(
    ([group, presets]) => [group, { ...presets, ...given[group] }] as const,
  );
  return { id, ...given, ...Object.fromEntries(filled), prebuiltProps: {} };
};

/** `properties`: those of the request, secrets sealed. */
export type ProfileRefs = { readonly properties: Patch; readonly adminRemains: boolean };

const refuseWithoutAdmin = (adminRemains: boolean, path: string): void => {
  if (!adminRemains)
    throw new RequestError(
      'conflict',
      "Nobody would be an admin: no active account belongs to a group that the profile's authenticationProps.admins name",
      { path },
    );
};

const checkId = (id: string, given: string | undefined): void => {
  if (id === reservedId)
    throw new RequestError('invalid', `No profile may have the id ${reservedId}: it stands for the active one`, {
      path: 'id',
    });
  if (given !== undefined && given !== id)
    throw new RequestError('invalid', 'The id is not the one of the path', { path: '/properties/id' });
};

export const create = (_: ProfileState, __: unknown, { id, refs }: Context<ProfileRefs>): readonly ProfileEvent[] => {
  checkId(id, refs.properties.id);
  return [{ topic: 'profileCreated', data: { properties: requested({}, refs.properties) } }];
};

/** Operation 13: creates what is missing, else merges. */
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

/** Makes a profile the active one; the one that was is so no longer. */
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
