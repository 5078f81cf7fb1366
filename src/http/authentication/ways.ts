import { type Static, Type } from 'typebox';
import { type Admins, givesAdmin } from '../../domain/authorization/admins.ts';
import { builtInGroups } from '../../domain/authorization/groups.ts';
import type { GroupMapping } from '../../domain/group-mappings/groupMappings.ts';
import type { Account } from '../../projections/authorization/accounts.ts';
import type { Group } from '../../projections/authorization/groups.ts';
import type { Role } from '../../projections/authorization/roles.ts';

const by = (word: string) => Type.Literal(word);
const group = Type.String({ description: 'The group that gives it' });

/** How an account comes to a role, or to the rights of an admin. */
export const waySchema = Type.Union(
  [
    Type.Object({ by: by('assigned') }),
    Type.Object({ by: by('group'), group }),
    Type.Object({ by: by('mapping'), group, provenance: Type.String(), externalGroup: Type.String() }),
  ],
  {
    title: 'Way',
    description:
      'assigned: the account itself has it; group: by the groups of the account, and those that they are members of; ' +
      'mapping: by a group that a mapping gives for an external group',
  },
);
export type Way = Static<typeof waySchema>;

/** An account as the read models show it. `groups` are all groups that it is a member of, directly or not. */
export type Memberships = {
  readonly account: Account;
  readonly mappings: readonly GroupMapping[];
  readonly groups: readonly Group[];
  readonly roles: readonly Role[];
};

/** Each role and built-in group of an account with the ways by which it has it, and the ways by which it is an admin. */
export const waysOf = ({ account, mappings, groups, roles }: Memberships, admins: Admins) => {
  const { memberOf, assignedRoles } = account;
  const byName = new Map(groups.map((one) => [one.name, one]));

  /** The group, and all that it is a member of. */
  const withAllAbove = (name: string): readonly Group[] => {
    const names = new Set([name]);
    for (const one of names) for (const above of byName.get(one)?.memberOf ?? []) names.add(above);
    return [...names].flatMap((one) => byName.get(one) ?? []);
  };

  const memberships = [
    ...memberOf.flatMap((name) =>
      withAllAbove(name).map((above) => ({ above, way: { by: 'group', group: above.name } })),
    ),
    ...mappings.flatMap(({ provenance, externalGroup, platformGroups }) =>
      platformGroups
        .flatMap(withAllAbove)
        .map((above) => ({ above, way: { by: 'mapping', group: above.name, provenance, externalGroup } })),
    ),
  ];
  const waysBy = (gives: (above: Group) => boolean): readonly Way[] => {
    const ways = memberships.filter(({ above }) => gives(above)).map(({ way }) => [JSON.stringify(way), way] as const);
    return [...new Map(ways).values()];
  };

  return {
    groups: groups
      .filter(({ name }) => Object.hasOwn(builtInGroups, name))
      .map(({ name }) => ({ name, ways: waysBy((above) => above.name === name) })),
    adminBy: waysBy((above) => givesAdmin(admins, above)),
    roles: roles.map(({ name }) => ({
      name,
      ways: [
        ...(assignedRoles.includes(name) ? [{ by: 'assigned' }] : []),
        ...waysBy((above) => above.assignedRoles.includes(name)),
      ],
    })),
  };
};
