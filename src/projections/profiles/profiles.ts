import { adminNames } from '../../domain/authorization/admins.ts';
import { merged } from '../../domain/profiles/mergePatch.ts';
import type { ProfileContent } from '../../domain/profiles/profileSchemas.ts';
import { activeProfile, adminsOf, profile } from '../../domain/profiles/profiles.ts';
import { idOf, projection } from '../engine/define.ts';

/** A profile as it is stored: without defaults, with secrets sealed. */
export type ProfileDoc = { readonly id: string } & ProfileContent;

export const profiles = projection<ProfileDoc>()(profile, {
  collection: 'profiles',
  on: {
    profileCreated: (_, event) => ({ id: idOf(event), ...event.data.properties }),
    profileUpdated: (doc, { data }) => doc && { ...merged(doc, data.changes), id: doc.id },
    profileDeleted: () => undefined,
  },
  names: { group: { field: 'admins' } },
  sorts: { name: (doc) => doc.id },
  filters: {
    name: (doc) => doc.id,
    id: (doc) => doc.id,
    description: (doc) => doc.description ?? [],
    services: (doc) => doc.services ?? [],
    admins: (doc) => (doc.authenticationProps?.admins ? adminNames(adminsOf(doc)) : []),
  },
});

/** The id of the active profile. */
export const activeProfiles = projection<{ readonly id: string }>()(activeProfile, {
  collection: 'activeProfiles',
  on: { profileActivated: (_, { data: { id } }) => ({ id }) },
  sorts: { name: (doc) => doc.id },
  filters: {},
});
