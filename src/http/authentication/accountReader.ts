import type { Admins } from '../../domain/authorization/admins.ts';
import { groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import { type Account, accounts } from '../../projections/authorization/accounts.ts';
import { credentials, credentialTag } from '../../projections/authorization/credentials.ts';
import { groups as allGroups, type Group } from '../../projections/authorization/groups.ts';
import { roles as allRoles } from '../../projections/authorization/roles.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { documentOf, documentsOf } from '../../projections/engine/documents.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { groupMappings } from '../../projections/group-mappings/groupMappings.ts';
import { type Known, principalOf } from './principal.ts';

type Needs = { readonly model: ReadStore; readonly settings: () => { readonly admins: Admins } };

/** Reads accounts with the rights that their groups, roles and mappings give, as the read models show them. */
export const accountReader = ({ model, settings }: Needs) => {
  const named = async <Doc>(of: Collection<Doc>, names: readonly string[]): Promise<readonly Doc[]> => {
    const ids = await Promise.all(names.map((name) => model.idsNamed(of.collection, name)));
    return documentsOf(model, of, ids.flat());
  };

  /** The groups, and the groups of which they are members, at any depth. */
  const withAllAbove = async (names: readonly string[]): Promise<Group[]> => {
    const found = new Map<string, Group>();
    const asked = new Set(names);
    for (let next = [...asked]; next.length > 0; ) {
      const level = await named(allGroups, next);
      for (const group of level) found.set(group.name, group);
      next = level.flatMap(({ memberOf }) => memberOf).filter((name) => !asked.has(name) && asked.add(name));
    }
    return [...found.values()];
  };

  const mapped = async ({ provenance, externalGroups }: Account): Promise<string[]> => {
    const ids = externalGroups.map((name) => groupMappingId(provenance, name));
    return (await documentsOf(model, groupMappings, ids)).flatMap(({ platformGroups }) => platformGroups);
  };

  /** Gives undefined if there is no such account. */
  return async (id: string): Promise<{ readonly account: Account; readonly known: Known } | undefined> => {
    const [account, credential] = await Promise.all([
      documentOf(model, accounts, id),
      documentOf(model, credentials, id),
    ]);
    if (!account || !credential) {
      await refuseParked(model, accounts.collection, id);
      return undefined;
    }
    const groups = await withAllAbove([...account.memberOf, ...(await mapped(account))]);
    const roles = await named(allRoles, [
      ...new Set([...account.assignedRoles, ...groups.flatMap(({ assignedRoles }) => assignedRoles)]),
    ]);
    return {
      account,
      known: {
        principal: principalOf({ account, groups, roles, admins: settings().admins }),
        credential: credentialTag(credential),
        mapped: account.externalGroups.length > 0,
      },
    };
  };
};
