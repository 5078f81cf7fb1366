import { type Static, Type } from 'typebox';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { type Seal, sealSecrets } from '../engine/secretFields.ts';
import { anyMembers, flag, nothing, text, topicsOf, whole } from '../engine/topics.ts';
import type { OidcProperties } from './oidcSchemas.ts';
import {
  isOidc,
  type LdapProperties,
  local,
  type newProviderSchema,
  type ProviderProperties,
  type providerPatchSchema,
} from './providerSchemas.ts';

type Properties = Readonly<Record<string, unknown>>;
type NewProvider = Static<typeof newProviderSchema>;
type ProviderPatch = Static<typeof providerPatchSchema>;

const content = Type.Object({ type: text, enabled: flag, order: whole, properties: anyMembers });
export type ProviderContent = SchemaData<typeof content>;

const topics = topicsOf({
  providerCreated: ['An authentication provider was created', Type.Object({ name: text, ...content.properties })],
  providerUpdated: ['Members of an authentication provider changed', Type.Partial(content)],
  providerDeleted: ['An authentication provider was deleted', nothing],
});
export type ProviderEvent = EventOf<typeof topics>;

export type ProviderState = { readonly content?: ProviderContent };

/** The id of a provider is its name. */
export const provider = aggregate<ProviderState, ProviderEvent>({
  area: 'authorization',
  category: 'provider',
  topics,
  initial: {},
  evolve: {
    providerCreated: (_, { name: __, ...content }) => ({ content }),
    providerUpdated: ({ content }, changed) => (content ? { content: { ...content, ...changed } } : {}),
    providerDeleted: () => ({}),
  },
  exists: ({ content }) => content !== undefined,
});

const destination = ({ urls, startTls = false, ca, issuer }: Properties): unknown => ({ urls, startTls, ca, issuer });

/** The properties with sealed secrets. The mask keeps a secret only while the servers stay the same. */
export const sealProperties = ({ content }: ProviderState, properties: ProviderProperties, seal: Seal): Properties => {
  const before = content?.properties;
  const unchanged = before && same(destination(before), destination(properties)) ? before : {};
  return sealSecrets(properties, unchanged, seal, '/properties') as Properties;
};

const loopback = /^(ldap|http):\/\/(localhost|127\.[0-9.]+|\[::1\])(:\d+)?(\/|$)/;

const isBalanced = (filter: string): boolean => {
  let depth = 0;
  for (const [i, char] of [...filter].entries()) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (depth === 0 && i < filter.length - 1) return false;
  }
  return depth === 0;
};

const refuse = (member: string, message: string): never => {
  throw new RequestError('invalid', message, { path: `/properties/${member}` });
};

const checkLdap = (p: LdapProperties): void => {
  p.urls.forEach((url, i) => {
    if (url.startsWith('ldap:') && !p.startTls && !loopback.test(url))
      refuse(`urls/${i}`, 'Passwords travel in TLS: ldaps://, or startTls. Only loopback may do without');
    if (url.startsWith('ldaps:') && p.startTls)
      refuse(`urls/${i}`, 'startTls is for ldap://; ldaps:// has TLS already');
  });
  if ((p.bindDn === undefined) !== (p.bindPassword === undefined))
    refuse(p.bindDn === undefined ? 'bindDn' : 'bindPassword', 'bindDn and bindPassword go together');
  if (p.userFilter !== undefined && !p.userFilter.includes('{{username}}'))
    refuse('userFilter', 'The filter needs {{username}}: else everybody is the same person');
  if (p.groupFilter !== undefined && !/\{\{(dn|username)\}\}/.test(p.groupFilter))
    refuse('groupFilter', 'The filter needs {{dn}} or {{username}}: else everybody is in all groups');
  for (const member of ['userFilter', 'groupFilter'] as const)
    if (!isBalanced(p[member] ?? '()')) refuse(member, 'The parentheses of the filter do not fit');
};

const checkOidc = (name: string, { issuer, redirectUri }: OidcProperties): void => {
  for (const [member, url] of Object.entries({ issuer, redirectUri }))
    if (url.startsWith('http:') && !loopback.test(url))
      refuse(member, 'Codes and tokens travel in TLS: https://. Only loopback may do without');
  if (issuer.includes('/.well-known/'))
    refuse(
      'issuer',
      'This is the address of what the issuer says of itself; the issuer is what stands before /.well-known/',
    );
  const path = `/authorization/oidc/${encodeURIComponent(name)}/callback`;
  if (!redirectUri.endsWith(path))
    refuse('redirectUri', `The issuer sends browsers back to this service: it ends in ${path}`);
};

/** Throws if the properties do not fit one another, the type or the name. */
const checkProperties = (name: string, type: string, properties: ProviderProperties): void => {
  if (isOidc(properties) !== (type === 'oidc'))
    throw new RequestError('invalid', `The provider has the type ${type}, and these properties are of another`, {
      path: '/properties',
    });
  if (isOidc(properties)) checkOidc(name, properties);
  else checkLdap(properties);
};

/**
 * `properties`: gives the result of `sealProperties`, if the request has properties. Throws what that throws, which a
 * retry must not meet.
 */
export type ProviderRefs = { readonly properties: () => Properties | undefined; readonly accounts: number };

export const create = (
  _: ProviderState,
  { name, type, enabled = true, order = 100, properties }: NewProvider,
  { refs }: Context<ProviderRefs>,
): readonly ProviderEvent[] => {
  if (name === local)
    throw new RequestError('conflict', 'local is the provenance of accounts without a provider', { path: '/name' });
  checkProperties(name, type, properties);
  return [{ topic: 'providerCreated', data: { name, type, enabled, order, properties: refs.properties() ?? {} } }];
};

export const update = (
  { content }: ProviderState,
  { properties, ...rest }: ProviderPatch,
  { id, refs }: Context<ProviderRefs>,
): readonly ProviderEvent[] => {
  if (content && properties) checkProperties(id, content.type, properties);
  const changes =
    content && changesBetween(content, { ...content, ...rest, ...defined({ properties: refs.properties() }) });
  return changes ? [{ topic: 'providerUpdated', data: changes.changed }] : [];
};

export const remove = (_: ProviderState, __: unknown, { refs }: Context<ProviderRefs>): readonly ProviderEvent[] => {
  if (refs.accounts > 0)
    throw new RequestError('conflict', `The provider has ${refs.accounts} accounts; disable it, or delete them first`);
  return [{ topic: 'providerDeleted', data: {} }];
};
