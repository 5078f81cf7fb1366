import { Type } from 'typebox';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import { patchBetween } from '../../domain/profiles/mergePatch.ts';
import { newProfileSchema, profilePatchSchema } from '../../domain/profiles/profileSchemas.ts';
import {
  activate,
  activeProfile,
  activeProfileId,
  adminsOf,
  create,
  type Patch,
  type ProfileState,
  profile,
  remove,
  requested,
  update,
} from '../../domain/profiles/profiles.ts';
import { adminRemains, membership } from '../authorization/admins.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { always, by, type Kind } from '../engine/kinds.ts';

const command = commandsOf(profile);

type Receiver = { readonly ip?: string; readonly type?: string };

/**
 * The stored alarm receiver for each receiver of the request. So a secret stays with its receiver when the list is
 * reordered.
 */
const inPlace = (value: unknown, stored: readonly Receiver[] = []): readonly (Receiver | undefined)[] =>
  (Array.isArray(value) ? (value as readonly Receiver[]) : []).map(({ ip, type }, i) => {
    const candidates = [stored[i], ...stored].filter((one) => one?.ip === ip);
    return candidates.find((one) => one?.type === type) ?? candidates[0];
  });

/** Seals the secrets before any other check. A mask keeps the stored secret. */
const sealed = (input: Patch, { properties }: ProfileState, { seal }: Tools, path: string): Patch =>
  sealSecrets(
    input,
    { ...properties, alarmProps: inPlace(input.alarmProps, properties.alarmProps) },
    seal,
    path,
  ) as Patch;

const isActive = async (id: string, { state }: Tools): Promise<boolean> =>
  (await state(activeProfile, activeProfileId)).id === id;

export const createProfile = command({
  name: 'createProfile',
  input: newProfileSchema,
  on: 'new',
  prepare: async ({ input, state }, tools) => ({ properties: sealed(input, state, tools, ''), adminRemains: true }),
  decide: create,
});

export const updateProfile = command({
  name: 'updateProfile',
  input: Type.Object({ properties: profilePatchSchema }, { additionalProperties: false }),
  on: 'any',
  locks: ({ exists }, { properties }) =>
    exists && properties.authenticationProps !== undefined ? membership : undefined,
  prepare: async ({ id, input, state }, tools) => {
    const properties = sealed(input.properties, state, tools, '/properties');
    const matters = state.exists && properties.authenticationProps !== undefined && (await isActive(id, tools));
    return {
      properties,
      adminRemains:
        !matters || (await adminRemains(tools, { admins: adminsOf(requested(state.properties, properties)) })),
    };
  },
  decide: update,
});

export const deleteProfile = command({
  name: 'deleteProfile',
  on: 'existing',
  locks: ({ exists }) => (exists ? membership : undefined),
  prepare: async ({ id }, tools) => ({ active: await isActive(id, tools) }),
  decide: remove,
});

/** A command of the stream that holds the id of the active profile. */
export const activateProfile = commandsOf(activeProfile)({
  name: 'activateProfile',
  input: Type.Object({ id: Type.String() }),
  on: 'any',
  locks: (active, { id }) => (active.id === id ? undefined : membership),
  prepare: async ({ input }, tools) => {
    const { exists, properties } = await tools.state(profile, input.id);
    return { exists, adminRemains: !exists || (await adminRemains(tools, { admins: adminsOf(properties) })) };
  },
  decide: activate,
});

export const profileKind: Kind = {
  of: profile,
  restore: {
    there: by(updateProfile, {
      input: (former, present = {}) => ({ properties: patchBetween(present, former) ?? {} }),
      inClear: true,
    }),
    deleted: by(createProfile, { input: (former) => former }),
  },
};
export const activeProfileKind: Kind = {
  of: activeProfile,
  restore: always(by(activateProfile, { input: ({ id }) => ({ id }) })),
};
