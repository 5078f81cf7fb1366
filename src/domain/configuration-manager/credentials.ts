import { type Static, Type } from 'typebox';
import { namesOf } from '../authorization/groups.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseReferred, refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { type Seal, sealBy } from '../engine/secretFields.ts';
import { nothing, sealed, text, texts, topicsOf } from '../engine/topics.ts';
import { credentialSecrets } from './credentialReferences.ts';
import type { credentialReplacementSchema, newCredentialSchema } from './credentialSchemas.ts';

const content = Type.Object({
  username: text,
  password: Type.Optional(sealed),
  privateKey: Type.Optional(sealed),
  passphrase: Type.Optional(sealed),
  enablePassword: Type.Optional(sealed),
  groups: texts,
});
export type CredentialContent = SchemaData<typeof content>;

const topics = topicsOf({
  credentialCreated: ['A credential was created', Type.Object({ name: text, ...content.properties })],
  credentialReplaced: ['A credential got new content', content],
  credentialDeleted: ['A credential was deleted', nothing],
});
type CredentialEvent = EventOf<typeof topics>;

/** `content` survives a delete: its groups say who may see the past. */
export type CredentialState = { readonly exists: boolean; readonly content?: CredentialContent };

/** The id of a credential is its name. */
export const credential = aggregate<CredentialState, CredentialEvent>({
  area: 'configuration-manager',
  category: 'credential',
  topics,
  initial: { exists: false },
  evolve: {
    credentialCreated: (_, { name: __, ...content }) => ({ exists: true, content }),
    credentialReplaced: (_, content) => ({ exists: true, content }),
    credentialDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: ({ exists }) => exists,
  gbac: ({ content }) => ({ read: content?.groups ?? [], write: content?.groups ?? [] }),
});

type Input = Static<typeof newCredentialSchema> | Static<typeof credentialReplacementSchema>;
type Secrets = Omit<CredentialContent, 'username' | 'groups'>;

/** The secrets of a request, sealed. The mask keeps one that is there. */
export const sealCredential = ({ exists, content }: CredentialState, input: Input, seal: Seal): Secrets => {
  const { name: _, username: __, groups: ___, ...value } = input;
  const isSecret = (member: string): boolean => credentialSecrets.some((secret) => secret === member);
  const befores = exists ? [content] : [];
  return sealBy(isSecret, { value, befores, seal, path: '', keepsEqual: true }) as Secrets; // all of them are sealed
};

/** `secrets`: gives the result of `sealCredential`. Throws what that throws, which a retry must not meet. */
export type CredentialRefs = { readonly secrets: () => Secrets; readonly unknownGroups: readonly string[] };

const contentOf = (
  { username, groups = [] }: Input,
  { secrets: seal, unknownGroups }: CredentialRefs,
): CredentialContent => {
  const secrets = seal();
  refuseUnknownGroups(unknownGroups, '/groups');
  if ((secrets.password === undefined) === (secrets.privateKey === undefined))
    throw new RequestError('invalid', 'Either password or privateKey is needed', { path: '/password' });
  if (secrets.passphrase !== undefined && secrets.privateKey === undefined)
    throw new RequestError('invalid', 'A passphrase belongs to a privateKey', { path: '/passphrase' });
  return { username, ...secrets, groups: namesOf(groups) };
};

export const create = (
  _: CredentialState,
  input: Static<typeof newCredentialSchema>,
  { refs }: Context<CredentialRefs>,
): readonly CredentialEvent[] => [
  { topic: 'credentialCreated', data: { name: input.name, ...contentOf(input, refs) } },
];

export const replace = (
  { content }: CredentialState,
  input: Static<typeof credentialReplacementSchema>,
  { id, refs }: Context<CredentialRefs>,
): readonly CredentialEvent[] => {
  if (input.name !== undefined && input.name !== id)
    throw new RequestError('invalid', 'A credential keeps its name: it must be that of the path', { path: '/name' });
  const target = contentOf(input, refs);
  return same(content, target) ? [] : [{ topic: 'credentialReplaced', data: target }];
};

/** `referrers`: the adapters and inventories that name it. */
export const remove = (
  _: CredentialState,
  __: unknown,
  { refs }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly CredentialEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'credentialDeleted', data: {} }];
};
