import type { Actor } from '../domain/engine/core.ts';
import type { Referrer } from '../domain/engine/references.ts';
import { projections } from '../projections/all.ts';
import type { Projection } from '../projections/engine/define.ts';
import type { Tools } from './engine/define.ts';
import { referrerOf } from './engine/references.ts';

/** The documents of a projection that name the group or role. */
const naming = async (projection: Projection, kind: 'group' | 'role', name: string, { query }: Tools) => {
  const { field, only } = projection.names?.[kind] ?? {};
  if (field === undefined) return [];
  const where = { field, op: 'equals', value: name } as const;
  return query(projection, only ? { all: [where, only] } : where);
};

/**
 * The documents that name the group or role, without the one with the id `self`. Names that the actor may not see are
 * replaced.
 */
const referrersTo =
  (kind: 'group' | 'role') =>
  async (tools: Tools, name: string, self: string, actor: Actor): Promise<readonly Referrer[]> => {
    const found = await Promise.all(
      projections.map(async (projection) =>
        (await naming(projection, kind, name, tools))
          .filter(({ _id }) => _id !== self)
          .map((doc) => referrerOf(projection, doc, actor, tools)),
      ),
    );
    return found.flat();
  };

export const referrersOfGroup = referrersTo('group');
export const referrersOfRole = referrersTo('role');
