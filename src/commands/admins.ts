import type { Tools } from './define.ts';

/** An account or group as a change would leave it. */
export type Changed =
  | { readonly account: string; readonly inactive: boolean; readonly memberOf: readonly string[] }
  | { readonly group: string; readonly memberOf: readonly string[] };

/** The series of all decisions on who belongs where, so that the answers here still hold when they are stored. */
export const membership = 'membership';

/** Names of the groups whose members are, directly or through further groups, in `admins`. */
const groupsOfAdmins = async ({ query }: Tools, changed: Changed): Promise<ReadonlySet<string>> => {
  const found = new Set(['admins']);
  for (let level = ['admins']; level.length > 0;) {
    const below: string[] = (await query('groups', { any: level.map((value) => ({ field: 'memberOf', op: 'equals', value })) })).map(({ name }) => name);
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

/** Whether an active account is, through groups, in `admins` once the change is made. */
export const adminRemains = async (tools: Tools, changed: Changed): Promise<boolean> => {
  const groups = await groupsOfAdmins(tools, changed);
  if ('account' in changed && !changed.inactive && changed.memberOf.some((name) => groups.has(name))) return true;
  const admins = await tools.query('accounts', { all: [
    { field: 'inactive', op: 'equals', value: 'false' },
    { any: [...groups].map((value) => ({ field: 'memberOf', op: 'equals', value })) },
  ] });
  return admins.some(({ _id }) => !('account' in changed) || _id !== changed.account);
};
