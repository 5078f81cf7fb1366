import { type Static, Type } from 'typebox';

const url = (description: string) =>
  Type.String({
    description,
    maxLength: 500,
    pattern: '^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(/[!$-;=@-Z_a-z~]*)?$',
  });
const claim = (description: string) => Type.Optional(Type.String({ description, minLength: 1, maxLength: 200 }));
const shortText = (description: string) => Type.String({ description, minLength: 1, maxLength: 500 });

export const oidcPropertiesSchema = Type.Object(
  {
    issuer: url('URL of the issuer as it writes it in its tokens; http:// only to loopback'),
    clientId: shortText('Name of this service at the issuer'),
    clientSecret: Type.Optional(
      Type.String({ description: 'Its secret; kept sealed, shown as ********', minLength: 1, maxLength: 1024 }),
    ),
    redirectUri: url('URL of this service that the issuer knows: .../authorization/oidc/{name}/callback'),
    scopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: '^[!#-\\[\\]-~]+$' }), {
        description: 'Scopes to ask for; openid, profile and email unless given. openid always is among them',
        maxItems: 50,
      }),
    ),
    usernameClaim: claim(
      'Claim with the name of a person; preferred_username unless given, and sub where it is missing',
    ),
    groupsClaim: claim('Claim with the groups; without it nobody has any'),
    audience: Type.Optional(shortText('Audience that access tokens must have; clientId unless given')),
    apiTokens: Type.Optional(
      Type.Boolean({ description: 'Access tokens of the issuer count as Authorization: Bearer; false unless given' }),
    ),
    timeout: Type.Optional(
      Type.Integer({
        description: 'Longest wait for the issuer, in milliseconds; 5000 unless given',
        minimum: 100,
        maximum: 60_000,
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'OidcProperties',
    description: 'An issuer of OpenID Connect, and this service as its client',
  },
);
export type OidcProperties = Static<typeof oidcPropertiesSchema>;
