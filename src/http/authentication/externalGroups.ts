import { type Static, Type } from 'typebox';
import { groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import { type Account, accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import { documentOf, documentsOf } from '../../projections/engine/documents.ts';
import { groupMappings } from '../../projections/group-mappings/groupMappings.ts';
import type { Service } from '../engine/service.ts';

const externalGroupSchema = Type.Object(
  {
    externalGroup: Type.String({ description: 'Name of the external group' }),
    platformGroups: Type.Array(Type.String(), { description: 'Groups of the platform that it gives' }),
    reason: Type.Optional(Type.String({ description: 'Why it gives nothing, or less than its mapping says' })),
  },
  { title: 'ExternalGroup', description: 'The groups that an external group gives to an account' },
);
type ExternalGroup = Static<typeof externalGroupSchema>;

/** `externalGroups` and `mappings` of an account. */
export const externalGroupsSchema = {
  externalGroups: Type.Array(Type.String(), { description: 'Groups of the account at the authentication provider' }),
  mappings: Type.Array(externalGroupSchema, {
    description: 'The groups that each of them gives, or why it gives none',
  }),
};

type Needs = Pick<Service, 'model' | 'tools'>;

const noMapping = (provenance: string, others: readonly string[]): string =>
  others.length === 0
    ? 'There is no mapping of this external group'
    : `Its mappings have the provenance ${others.join(', ')}, the account has ${provenance}: only equal ones act`;

/** The groups that each external group of an account gives, or why it gives none. */
export const mappingsOf = async (
  { provenance, externalGroups }: Pick<Account, 'provenance' | 'externalGroups'>,
  { model, tools }: Needs,
): Promise<readonly ExternalGroup[]> => {
  const ids = externalGroups.map((name) => groupMappingId(provenance, name));
  const own = await documentsOf(model, groupMappings, ids);
  const unmapped = externalGroups.filter((name) => !own.some((mapping) => mapping.externalGroup === name));
  const any = unmapped.map((value) => ({ field: 'externalGroup', op: 'equals', value }) as const);
  const others = any.length === 0 ? [] : await tools.query(groupMappings, { any });
  const groupNames = [...new Set(own.flatMap(({ platformGroups }) => platformGroups))];
  const found = await Promise.all(groupNames.map((name) => model.idsNamed(groups.collection, name)));
  const existing = new Set(groupNames.filter((_, i) => (found[i]?.length ?? 0) > 0));
  return externalGroups.map((externalGroup) => {
    const mapping = own.find((one) => one.externalGroup === externalGroup);
    if (!mapping) {
      const elsewhere = others.filter((one) => one.externalGroup === externalGroup).map((one) => one.provenance);
      return { externalGroup, platformGroups: [], reason: noMapping(provenance, elsewhere) };
    }
    const missing = mapping.platformGroups.filter((name) => !existing.has(name));
    const result = { externalGroup, platformGroups: mapping.platformGroups.filter((name) => existing.has(name)) };
    if (mapping.platformGroups.length === 0) return { ...result, reason: 'Its mapping names no group' };
    return missing.length === 0 ? result : { ...result, reason: `There is no group ${missing.join(', ')}` };
  });
};

/** The same of the account with this id. */
export const externalGroupsOf = async (id: string, service: Needs) => {
  const account = await documentOf(service.model, accounts, id);
  const { externalGroups = [] } = account ?? {};
  return { externalGroups, mappings: account ? await mappingsOf(account, service) : [] };
};
