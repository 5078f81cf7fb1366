import { isObject, type Members, plainValue } from '@automation-platform/json';
import { accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import type { Tools } from '../engine/define.ts';

/** A member who is here: an account by its id, a group by its name. */
type Found = { readonly type: 'account' | 'group'; readonly id: string; readonly role: string };

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const accountOf = async (
  { reference, username, name, provenance }: Members,
  { find, query }: Tools,
): Promise<string | undefined> => {
  if (isText(reference) && (await find(accounts, reference)) === reference) return reference;
  const texts = [username ?? name, reference].filter(isText);
  const called = await Promise.all(texts.map((value) => query(accounts, { field: 'username', op: 'equals', value })));
  const [account, ...namesakes] = called.flat().filter((one) => !isText(provenance) || one.provenance === provenance);
  return namesakes.length === 0 ? account?._id : undefined;
};

const groupOf = async ({ reference, name }: Members, { find, shown }: Tools): Promise<string | undefined> => {
  for (const text of [reference, name].filter(isText)) {
    const id = await find(groups, text);
    if (id !== undefined) return (await shown(groups, id))?.name;
  }
  return undefined;
};

/**
 * The members of a list, each as it is here; undefined for one who is not. Accounts are named by id or username, groups
 * by id or name. A role that is unknown counts as the least.
 */
export const membersHere = async (
  members: unknown,
  roles: readonly string[],
  tools: Tools,
): Promise<readonly (Found | undefined)[]> =>
  Promise.all(
    (Array.isArray(members) ? members : []).map(async (one): Promise<Found | undefined> => {
      const member = plainValue(one);
      if (!isObject(member)) return undefined;
      const type = member.type === 'group' ? 'group' : 'account';
      const id = await (type === 'group' ? groupOf : accountOf)(member, tools);
      const role = roles.find((name) => name === member.role) ?? roles.at(-1) ?? '';
      return id === undefined ? undefined : { type, id, role };
    }),
  );
