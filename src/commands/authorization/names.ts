import { groups } from '../../projections/authorization/groups.ts';
import { roles } from '../../projections/authorization/roles.ts';
import type { Tools } from '../engine/define.ts';
import { unknownNames } from '../engine/references.ts';

export const unknownGroups = (tools: Tools, names: readonly string[]): Promise<readonly string[]> =>
  unknownNames(tools, groups, names);

export const unknownRoles = (tools: Tools, names: readonly string[]): Promise<readonly string[]> =>
  unknownNames(tools, roles, names);
