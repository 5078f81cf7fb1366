import { type CredentialContent, credential } from '../../domain/configuration-manager/credentials.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, projection, touched } from '../engine/define.ts';
import { listsGuard } from '../engine/guards.ts';

export type DeviceCredential = { readonly name: string } & CredentialContent & Authored;

/** Credentials of devices. Their secrets are sealed; authors are ids of accounts, groups are names. */
export const deviceCredentials = projection<DeviceCredential>()(credential, {
  collection: 'deviceCredentials',
  on: {
    credentialCreated: (_, event) => ({ ...event.data, ...authorship(event) }),
    credentialReplaced: (doc, event) => {
      if (!doc) return undefined;
      const { name, created, createdBy } = doc;
      return { name, ...event.data, created, createdBy, ...touched(event) };
    },
    credentialDeleted: () => undefined,
  },
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, username: (doc) => doc.username, groups: (doc) => doc.groups },
  guard: ({ groups }) => listsGuard({ read: groups, write: groups }),
});
