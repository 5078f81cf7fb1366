import { type Admins, givesAdmin } from '../../domain/authorization/admins.ts';
import type { OpenTo } from '../../domain/authorization/groups.ts';
import { withinInventories } from '../../domain/authorization/tokens.ts';
import type { Actor, Via } from '../../domain/engine/core.ts';
import type { Account } from '../../projections/authorization/accounts.ts';
import type { Group } from '../../projections/authorization/groups.ts';
import type { Role } from '../../projections/authorization/roles.ts';

/** `authenticationProps` of the active profile (docs/profiles.md). */
export type LoginSettings = {
  /** Members of these groups are admins; if empty, members of `admins`. The object stays the same until it changes. */
  readonly admins: Admins;
  /** Minutes without use after which a login ends; 30 if not set. */
  readonly logoutTime: number;
  /** Minutes for which a verified caller is remembered; 1 if not set. */
  readonly principalTimeout: number;
  /** Name of the cookie that holds the token; `token` if not set. */
  readonly cookieName: string;
  /** True if a new login ends the account's other logins; false if not set. */
  readonly uniqueSession: boolean;
  /** True if the first login by a provider makes an account; true if not set. */
  readonly brokerPrincipal: boolean;
  /** Seconds in which a browser must come back from a provider of OpenID Connect; 300 if not set. */
  readonly relayStateTimeout: number;
};

/**
 * The callers of an operation. `open`: everybody; `login`: everybody who is logged in. Otherwise: admins, callers with
 * a role that lists the operation, and members of these built-in groups. Operations for `readers` store nothing.
 */
export type Access = 'open' | 'login' | readonly OpenTo[];

/** The caller, and what they may do. */
export type Principal = {
  readonly actor: Actor;
  readonly firstname: string;
  readonly email: string;
  /** Names of all roles of the account: its own, and those from groups and mappings. */
  readonly roles: readonly string[];
  readonly groups: readonly { readonly name: string; readonly provenance: string }[];
  /** True once the login has ended, or the date of the token is over, that was sent; not set for passwords. */
  readonly hasEnded?: () => boolean;
  /** A text that two principals share only if they have the same rights. */
  readonly rights: string;
  /** True if the caller may call an operation of an area. */
  readonly may: (area: string, operation: { readonly name: string; readonly access: Access }) => boolean;
};

/**
 * An account that may log in. `credential` changes with its password and with each deactivation; `mapped` is true if
 * group mappings concern it.
 */
export type Known = {
  readonly principal: Principal;
  readonly credential: string;
  /** How often the account was deactivated. */
  readonly deactivated: number;
  readonly mapped: boolean;
  /** True if an authentication provider vouches for the account. */
  readonly isProvided: boolean;
};

type From = {
  readonly account: Account;
  /** All groups of which the account is a member, directly or not. */
  readonly groups: readonly Group[];
  readonly roles: readonly Role[];
  readonly admins: Admins;
};

/** Makes the principal of an account with these groups and roles. */
export const principalOf = ({ account, groups, roles, admins }: From): Principal => {
  const names = groups.map(({ name }) => name);
  const admin = groups.some((group) => givesAdmin(admins, group));
  const everything = admin || names.includes('admins');
  const allowed = new Map<string, Set<string>>();
  for (const { provenance, name } of roles.flatMap(({ allowedMethods }) => allowedMethods))
    allowed.set(provenance, (allowed.get(provenance) ?? new Set()).add(name));
  const rights = {
    admin,
    groups: [...names].sort(),
    allowed: [...allowed].map(([provenance, methods]) => JSON.stringify([provenance, ...[...methods].sort()])).sort(),
  };
  return {
    actor: { id: account._id, username: account.username, provenance: account.provenance, groups: names, admin },
    firstname: account.firstname,
    email: account.email,
    roles: roles.map(({ name }) => name),
    groups: groups.map(({ name, provenance }) => ({ name, provenance })),
    rights: JSON.stringify(rights),
    may: (area, { name, access }) =>
      typeof access === 'string' ||
      everything ||
      access.some((group) => names.includes(group)) ||
      allowed.get(area)?.has(name) === true,
  };
};

const byWay = new Map<Via, WeakMap<Principal, Principal>>([
  ['password', new WeakMap()],
  ['cookie', new WeakMap()],
  ['ldap', new WeakMap()],
  ['oidc', new WeakMap()],
]);

/** The principal who has shown in this way who they are. Made once, because many requests need it. */
export const cameBy = (principal: Principal, via: Exclude<Via, 'token'>): Principal => {
  const all = byWay.get(via);
  const before = all?.get(principal);
  if (before) return before;
  const after = { ...principal, actor: { ...principal.actor, via } };
  all?.set(principal, after);
  return after;
};

/** Makes the caller who sends a token, of the account as it is known; anew only once that has changed, because many requests need it. */
export const callerOf = (make: (owner: Principal) => Principal): ((owner: Known) => Principal) => {
  let last: { readonly owner: Known; readonly caller: Principal } | undefined;
  return (owner) => {
    if (last?.owner !== owner) last = { owner, caller: make(owner.principal) };
    return last.caller;
  };
};

/** Why the caller may not call the operation. A token has no roles of its own. */
export const refusalOf = ({ token }: Pick<Actor, 'token'>, operation: string): string =>
  token === undefined ? `No role of yours allows ${operation}` : `This token does not allow ${operation}`;

type Limits = {
  readonly id: string;
  readonly methods: ReadonlySet<string> | undefined;
  readonly inventories: readonly string[] | undefined;
};

/** The principal of a token: it may call what its account may, and no more than the token's methods, and sees no more
 * than the token's inventories. */
export const limitedTo = (principal: Principal, { id, methods, inventories }: Limits): Principal => {
  const whole: Actor = { ...principal.actor, via: 'token', token: id };
  const actor = inventories ? withinInventories(whole, inventories) : whole;
  const rights = JSON.stringify([principal.rights, methods && [...methods].sort(), inventories?.toSorted()]);
  if (!methods) return { ...principal, actor, rights: inventories ? rights : principal.rights };
  return {
    ...principal,
    actor,
    rights,
    may: (area, operation) =>
      principal.may(area, operation) && (operation.access === 'open' || methods.has(operation.name)),
  };
};
