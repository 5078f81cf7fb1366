import { type Static, Type } from 'typebox';
import { authored } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';
import { withTypedProperties } from '../engine/typedProperties.ts';
import { type OidcProperties, oidcPropertiesSchema } from './oidcSchemas.ts';

/** The provenance of accounts that no provider vouches for. */
export const local = 'local';

// `provider\name` and `provider:password` are read at their first separator.
const providerName = Type.String({
  description: 'Name: the provenance of its accounts and of their group mappings; local is taken',
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f:\\\\]+$',
});

const dn = (description: string, minLength = 1) =>
  Type.String({ description, minLength, maxLength: 1000, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
const attribute = (description: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9-]+$' }));
const filter = (description: string) =>
  Type.Optional(Type.String({ description, maxLength: 1000, pattern: '^\\(.*\\)$' }));

/** A URL of a directory; `startTls` or loopback is checked with the other properties. */
const directoryUrl = Type.String({
  description: 'ldaps://host, or ldap://host with startTls; without TLS only to loopback',
  examples: ['ldaps://directory.example.net'],
  maxLength: 300,
  pattern: '^ldaps?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$',
});

const ldapPropertiesSchema = Type.Object(
  {
    urls: Type.Array(directoryUrl, { description: 'Servers, asked in this order', minItems: 1, maxItems: 10 }),
    startTls: Type.Optional(Type.Boolean({ description: 'ldap:// becomes TLS before anything is asked' })),
    ca: Type.Optional(
      Type.String({
        description: 'PEM of the authorities that sign the certificates of the servers; those of Node unless given',
        maxLength: 100_000,
        pattern: '^-----BEGIN CERTIFICATE-----',
      }),
    ),
    bindDn: Type.Optional(dn('Entry that searches; nobody unless given')),
    bindPassword: Type.Optional(
      Type.String({ description: 'Its password; kept sealed, shown as ********', minLength: 1, maxLength: 1024 }),
    ),
    userBase: dn('Below it are the people', 0),
    userFilter: filter('Finds one person by {{username}}; (uid={{username}}) unless given'),
    groupBase: Type.Optional(dn('Below it are the groups; without it, memberOf of the person names them', 0)),
    groupFilter: filter('Finds the groups of {{dn}} or {{username}}; (member={{dn}}) unless given'),
    nestedGroups: Type.Optional(Type.Boolean({ description: 'Groups of groups count too, to a depth of 10' })),
    attributes: Type.Optional(
      Type.Object(
        {
          username: attribute('Name of the person; uid unless given'),
          firstname: attribute('givenName unless given'),
          email: attribute('mail unless given'),
          memberOf: attribute('DNs of the groups; memberOf unless given'),
        },
        { additionalProperties: false, description: 'Attributes of people' },
      ),
    ),
    timeout: Type.Optional(
      Type.Integer({
        description: 'Longest wait for one server, in milliseconds; 5000 unless given',
        minimum: 100,
        maximum: 60_000,
      }),
    ),
  },
  { additionalProperties: false, title: 'LdapProperties', description: 'Where a directory is, and what it is asked' },
);
export type LdapProperties = Static<typeof ldapPropertiesSchema>;

const propertiesOf = { ldap: ldapPropertiesSchema, oidc: oidcPropertiesSchema };
export type ProviderProperties = LdapProperties | OidcProperties;

export const isOidc = (properties: ProviderProperties): properties is OidcProperties => 'issuer' in properties;

const members = {
  type: Type.Enum(['ldap', 'oidc'], { description: 'ldap: a directory; oidc: an issuer of OpenID Connect' }),
  enabled: Type.Boolean({ description: 'True if it is asked; true unless given' }),
  order: Type.Integer({
    description: 'Providers are asked in this order, then by name; 100 unless given',
    minimum: 0,
    maximum: 10_000,
  }),
  properties: Type.Unsafe<ProviderProperties>(
    Type.Object({}, { additionalProperties: true, description: 'As the type needs them' }),
  ),
};
const { enabled, order } = Type.Partial(Type.Object(members)).properties;

export const newProviderSchema = withTypedProperties(
  Type.Object(
    { name: providerName, type: members.type, enabled, order, properties: members.properties },
    { additionalProperties: false, title: 'NewProvider', description: 'New authentication provider' },
  ),
  propertiesOf,
);
/** Properties with an issuer are those of OpenID Connect. */
const changedProperties = Type.Unsafe<ProviderProperties>({
  type: 'object',
  description: 'Those of the type of the provider',
  if: { type: 'object', required: ['issuer'], properties: { issuer: {} } },
  then: oidcPropertiesSchema,
  else: ldapPropertiesSchema,
});
export const providerPatchSchema = Type.Object(
  { enabled, order, properties: Type.Optional(changedProperties) },
  {
    additionalProperties: false,
    title: 'ProviderPatch',
    description: 'Changes of a provider; properties are replaced as a whole, ******** keeps a secret',
  },
);

/** A provider in answers. */
export const providerSchema = Type.Object(
  { name: name('Name'), ...members, ...authored },
  { title: 'Provider', description: 'Authentication provider; its secrets are shown as ********' },
);

export const providerTestSchema = Type.Object(
  {
    username: Type.String({ description: 'Name as a person would send it', minLength: 1, maxLength: 256 }),
    password: Type.Optional(
      Type.String({ description: 'Password to check', minLength: 1, maxLength: 1024, writeOnly: true }),
    ),
  },
  { additionalProperties: false, title: 'ProviderTest', description: 'Person to look for' },
);
