import { isObject, type Members, plainValue } from '@automation-platform/json';
import { accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import type { Tools } from '../engine/define.ts';

/** The names of those members of a document that are here: accounts by id or username, groups by id or name. */
export const membersHere = async ({ members }: Members, { find, query }: Tools): Promise<readonly string[]> => {
  const here: string[] = [];
  for (const member of (Array.isArray(members) ? members : []).map(plainValue).filter(isObject)) {
    const { type, reference, username, name, provenance } = member;
    const texts = [reference, username ?? name].filter((text) => typeof text === 'string');
    if (type === 'group') {
      const found = await Promise.all(texts.map((text) => find(groups, text)));
      if (found.some((id) => id !== undefined)) here.push(String(name ?? reference));
      continue;
    }
    if (texts.length === 0) continue;
    const called = await query(accounts, {
      any: texts.map((value) => ({ field: 'username', op: 'equals', value })),
    });
    const isHere = called.some((account) => provenance === undefined || account.provenance === provenance);
    const isById = typeof reference === 'string' && (await find(accounts, reference)) === reference;
    if (isHere || isById) here.push(String(username ?? name ?? reference));
  }
  return here;
};
