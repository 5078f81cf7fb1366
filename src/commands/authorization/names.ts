import { groups } from '../../projections/authorization/groups.ts';
import { roles } from '../../projections/authorization/roles.ts';
import type { Tools } from '../engine/define.ts';
import { unknownNames } from '../engine/references.ts';

/** The names of the first list that the second one lacks. */
export const without = (names: readonly string[], others: readonly string[]): readonly string[] =>
  names.filter((name) => !others.includes(name));

export const unknownGroups = (tools: Tools, names: readonly string[]): Promise<readonly string[]> =>
  unknownNames(tools, groups, names);

export const unknownRoles = (tools: Tools, names: readonly string[]): Promise<readonly string[]> =>
  unknownNames(tools, roles, names);
