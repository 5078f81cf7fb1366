import { Type } from 'typebox';
import { groupRefs } from '../authorization/groups.ts';
import { authored } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';
import { line, sshPropertiesSchema } from './adapterSchemas.ts';

const { password, privateKey, passphrase, enablePassword } = sshPropertiesSchema.properties;

const members = {
  username: line('Account on the devices'),
  password,
  privateKey,
  passphrase,
  enablePassword,
  groups: Type.Optional(groupRefs('Groups whose members see it and may name it; everybody if there are none')),
};

/** The body of `createCredential`. */
export const newCredentialSchema = Type.Object(
  { name: name('Name, unique among credentials'), ...members },
  { additionalProperties: false, title: 'NewCredential', description: 'New credential' },
);

/** The body of `replaceCredential`. */
export const credentialReplacementSchema = Type.Object(
  { name: Type.Optional(name('That of the path, if given')), ...members },
  {
    additionalProperties: false,
    title: 'CredentialReplacement',
    description: 'Whole content of a credential; ******** keeps a secret',
  },
);

/** A credential in answers. */
export const credentialSchema = Type.Object(
  { name: name('Name'), ...members, groups: Type.Array(Type.String()), ...authored },
  { title: 'Credential', description: 'Login to devices; secrets are shown as ********' },
);
