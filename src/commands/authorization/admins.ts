import { type Admins, adminNames, givesAdmin } from '../../domain/authorization/admins.ts';
import { activeProfile, activeProfileId, adminsOf, profile } from '../../domain/profiles/profiles.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import type { Tools } from '../engine/define.ts';

/** An account, a group or the active profile's list of admins, as it is after the change. */
export type Changed =
  | { readonly account: string; readonly inactive: boolean; readonly memberOf: readonly string[] }
  | { readonly group: string; readonly provenance: string; readonly memberOf: readonly string[] }
  | { readonly admins: Admins };

/**
 * The lock of all decisions on members, roles and admins. So the results below are still true when events are stored.
 */
export const membership = 'membership';

/** The list of admins in the active profile. */
const activeAdmins = async ({ state }: Tools): Promise<Admins> => {
  const { id } = await state(activeProfile, activeProfileId);
  return id === undefined ? [] : adminsOf((await state(profile, id)).properties);
};

const anyOf = <Filter extends string>(field: Filter, values: Iterable<string>) => ({
  any: [...values].map((value) => ({ field, op: 'equals' as const, value })),
});

/** The names of the groups whose members are admins, directly or through other groups. */
const groupsOfAdmins = async (tools: Tools, changed: Changed): Promise<ReadonlySet<string>> => {
  const admins = 'admins' in changed ? changed.admins : await activeAdmins(tools);
  const named = await tools.query(groups, anyOf('name', adminNames(admins)));
  const first = named
    .filter((group) =>
      givesAdmin(
        admins,
        'group' in changed && changed.group === group.name ? { ...group, provenance: changed.provenance } : group,
      ),
    )
    .map(({ name }) => name);
  const found = new Set(first);
  for (let level = first; level.length > 0; ) {
    const below = (await tools.query(groups, anyOf('memberOf', level))).map(({ name }) => name);
    if ('group' in changed) {
      const at = below.indexOf(changed.group);
      const still = changed.memberOf.some((name) => level.includes(name));
      if (at >= 0 && !still) below.splice(at, 1);
      if (at < 0 && still) below.push(changed.group);
    }
    level = below.filter((name) => !found.has(name));
    for (const name of level) found.add(name);
  }
  return found;
};

/** True if an active account of a person is an admin after the change: a service account cannot log in to mend things. */
export const adminRemains = async (tools: Tools, changed: Changed): Promise<boolean> => {
  const privileged = await groupsOfAdmins(tools, changed);
  if (privileged.size === 0) return false;
  if ('account' in changed && !changed.inactive && changed.memberOf.some((name) => privileged.has(name))) return true;
  const admins = await tools.query(accounts, {
    all: [{ field: 'inactive', op: 'equals', value: 'false' }, anyOf('memberOf', privileged)],
  });
  return admins.some(({ _id, type }) => type !== 'service' && (!('account' in changed) || _id !== changed.account));
};
