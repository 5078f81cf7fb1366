import { externalName, externalUsername, mostExternalGroups } from './externalNames.ts';
import type { OidcProperties } from './oidcSchemas.ts';

type Claims = Readonly<Record<string, unknown>>;

/** A person, or a client, as an issuer knows them. */
export type Vouched = {
  readonly externalId: string;
  readonly username: string;
  readonly firstname: string;
  readonly email: string;
  readonly externalGroups: readonly string[];
};

/** The id of a client begins with this, and that of no person: an issuer may let people choose theirs. */
const clientPrefix = 'client ';

const textIn = (claims: Claims, name: string): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The client in an access token that is nobody else's. */
const clientIn = (claims: Claims): string | undefined => {
  const [sub, client] = [textIn(claims, 'sub'), textIn(claims, 'client_id') ?? textIn(claims, 'azp')];
  return sub === undefined || sub === client ? client : undefined;
};

/** The groups that a claim names. More than 5,000 are none that anybody could check: undefined. */
export const groupsIn = (claims: Claims, { groupsClaim }: OidcProperties): readonly string[] | undefined => {
  const value = groupsClaim !== undefined && Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined;
  const texts = [value ?? []].flat().filter((group) => typeof group === 'string');
  if (texts.length > mostExternalGroups) return undefined;
  return [...new Set(texts.map(externalName).filter((group) => group !== undefined))].sort();
};

/** The person or client whom the claims of a token are about; undefined if they name nobody. */
export const vouchedFor = (
  claims: Claims,
  properties: OidcProperties,
  kind: 'idToken' | 'accessToken',
): Omit<Vouched, 'externalGroups'> | undefined => {
  const { usernameClaim = 'preferred_username' } = properties;
  const client = kind === 'accessToken' ? clientIn(claims) : undefined;
  const sub = textIn(claims, 'sub');
  const externalId = client === undefined ? sub : `${clientPrefix}${client}`;
  const username = externalUsername(textIn(claims, usernameClaim) ?? client ?? sub);
  if (externalId === undefined || externalId.length > 300 || username === undefined) return undefined;
  if (client === undefined && externalId.startsWith(clientPrefix)) return undefined;
  return {
    externalId,
    username,
    firstname: (textIn(claims, 'given_name') ?? '').slice(0, 256),
    email: (textIn(claims, 'email') ?? '').slice(0, 320),
  };
};

/** True for an ID token or a logout token: neither was issued to call anybody. */
export const isNoAccessToken = (claims: Claims): boolean =>
  ['nonce', 'at_hash', 'c_hash', 'events'].some((claim) => Object.hasOwn(claims, claim));

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** The person whose logins a logout token ends; undefined if it is none. */
export const loggedOutIn = (claims: Claims): string | undefined => {
  const { events } = claims;
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, logoutEvent);
  return isLogout && !Object.hasOwn(claims, 'nonce') ? textIn(claims, 'sub') : undefined;
};
