import type { Admins } from '../../domain/authorization/admins.ts';
import { type GroupMapping, groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import type { Account } from '../../projections/authorization/accounts.ts';
import { type Credential, credentialTag } from '../../projections/authorization/credentials.ts';
import type { Group } from '../../projections/authorization/groups.ts';
import type { Role } from '../../projections/authorization/roles.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type Known, principalOf } from './principal.ts';

type Needs = { readonly model: ReadStore; readonly settings: () => { readonly admins: Admins } };

/** Reads accounts with all that follows from their groups, roles and mappings, as the read models show them. */
export const accountReader = ({ model, settings }: Needs) => {
  const named = async <T>(collection: string, names: readonly string[]): Promise<T[]> => {
    const ids = await Promise.all(names.map((name) => model.idsNamed(collection, name)));
    const entries = await model.getMany(collection, ids.flat());
    return entries.flatMap((entry) => (entry ? [JSON.parse(entry.text) as T] : []));
  };

  /** The groups, and those that they are members of, however far up. */
  const withAllAbove = async (names: readonly string[]): Promise<Group[]> => {
    const found = new Map<string, Group>();
    const asked = new Set(names);
    for (let next = [...asked]; next.length > 0; ) {
      const level = await named<Group>('groups', next);
      for (const group of level) found.set(group.name, group);
      next = level.flatMap(({ memberOf }) => memberOf).filter((name) => !asked.has(name) && asked.add(name));
    }
    return [...found.values()];
  };

  const mapped = async ({ provenance, externalGroups }: Account): Promise<string[]> => {
    const found = await model.getMany(
      'groupMappings',
      externalGroups.map((name) => groupMappingId(provenance, name)),
    );
    return found.flatMap((entry) => (entry ? (JSON.parse(entry.text) as GroupMapping).platformGroups : []));
  };

  /** Undefined: there is no such account. */
  return async (id: string): Promise<{ readonly account: Account; readonly known: Known } | undefined> => {
    const [entry, credential] = await Promise.all([model.get('accounts', id), model.get('credentials', id)]);
    if (!entry || !credential) {
      await refuseParked(model, 'accounts', id);
      return undefined;
    }
    const account = JSON.parse(entry.text) as Account;
    const groups = await withAllAbove([...account.memberOf, ...(await mapped(account))]);
    const roles = await named<Role>('roles', [
      ...new Set([...account.assignedRoles, ...groups.flatMap(({ assignedRoles }) => assignedRoles)]),
    ]);
    return {
      account,
      known: {
        principal: principalOf({ account, groups, roles, admins: settings().admins }),
        credential: credentialTag(JSON.parse(credential.text) as Credential),
        mapped: account.externalGroups.length > 0,
      },
    };
  };
};
