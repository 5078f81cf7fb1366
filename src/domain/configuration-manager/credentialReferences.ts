import { isObject, own, step } from '@automation-platform/json';

export const credentialSecrets = ['password', 'privateKey', 'passphrase', 'enablePassword'] as const;

/** The members of a credential that a reference may stand for. */
const credentialMembers = ['username', ...credentialSecrets] as const;
export type CredentialMember = (typeof credentialMembers)[number];

const prefix = '$SECRET.';

/** A text that stands for a member of a credential: `$SECRET.<name>.<member>`. It is no secret itself. */
export const isReference = (value: unknown): value is string => typeof value === 'string' && value.startsWith(prefix);

/** The credential and the member that a reference stands for; no member if it has none of these. */
export const referenceIn = (text: string): { readonly name: string; readonly member?: CredentialMember } => {
  const name = text.slice(prefix.length);
  const end = name.lastIndexOf('.');
  const member = credentialMembers.find((one) => one === name.slice(end + 1));
  return end > 0 && member ? { name: name.slice(0, end), member } : { name };
};

/** True for the name of an attribute whose value is the name of a credential. */
export const namesCredential = (attribute: string): boolean =>
  /^(?:itential_|platform_|ansible_)?credential$/.test(attribute);

/** A place where something names a credential, or one of its members by a reference. */
export type CredentialNamed = { readonly name: string; readonly reference?: string; readonly path: string };

/** The places in a value, at any depth, that name a credential. */
export const credentialsIn = (value: unknown, path: string): readonly CredentialNamed[] => {
  const found: CredentialNamed[] = [];
  const walk = (value: unknown, path: string, name: string): void => {
    if (isReference(value)) found.push({ name: referenceIn(value).name, reference: value, path });
    else if (typeof value === 'string') {
      if (value !== '' && namesCredential(name)) found.push({ name: value, path });
    } else if (Array.isArray(value)) for (const [i, item] of value.entries()) walk(item, `${path}/${i}`, '');
    else if (isObject(value))
      for (const member of Object.keys(value)) walk(own(value, member), path + step(member), member);
  };
  walk(value, path, '');
  return found;
};
