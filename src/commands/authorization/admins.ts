import { type Admins, adminNames, givesAdmin } from '../../domain/authorization/admins.ts';
import { activeProfile, activeProfileId, adminsOf, profile } from '../../domain/profiles/profiles.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import type { Tools } from '../engine/define.ts';

/** An account, a group or the active profile's list of admins as a change would leave it. */
export type Changed =
  | { readonly account: string; readonly inactive: boolean; readonly memberOf: readonly string[] }
  | { readonly group: string; readonly provenance: string; readonly memberOf: readonly string[] }
  | { readonly admins: Admins };

/**
 * The lock of all decisions on who belongs where and who is an admin, so that the answers here still hold when they
 * are stored.
 */
export const membership = 'membership';

/** Members of which groups are admins, as the active profile says. */
const activeAdmins = async ({ state }: Tools): Promise<Admins> => {
  const { id } = await state(activeProfile, activeProfileId);
  return id === undefined ? [] : adminsOf((await state(profile, id)).properties);
};

const anyOf = <Filter extends string>(field: Filter, values: Iterable<string>) => ({
  any: [...values].map((value) => ({ field, op: 'equals' as const, value })),
});

/** Names of the groups whose members are, directly or through further groups, admins. */
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

/** Whether an active account is, through groups, an admin once the change is made. */
export const adminRemains = async (tools: Tools, changed: Changed): Promise<boolean> => {
  const privileged = await groupsOfAdmins(tools, changed);
  if (privileged.size === 0) return false;
  if ('account' in changed && !changed.inactive && changed.memberOf.some((name) => privileged.has(name))) return true;
  const admins = await tools.query(accounts, {
    all: [{ field: 'inactive', op: 'equals', value: 'false' }, anyOf('memberOf', privileged)],
  });
  return admins.some(({ _id }) => !('account' in changed) || _id !== changed.account);
};
