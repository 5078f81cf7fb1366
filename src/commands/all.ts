import { account } from '../domain/accounts.ts';
import type { Aggregate } from '../domain/core.ts';
import { groupMapping } from '../domain/groupMappings.ts';
import { group } from '../domain/groups.ts';
import { login } from '../domain/logins.ts';
import { nameClaims } from '../domain/names.ts';
import { role } from '../domain/roles.ts';
import { series } from '../domain/series.ts';
import type { Reaction } from './reactions.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = [
  account,
  group,
  groupMapping,
  login,
  nameClaims,
  role,
  series,
];

/** All that follows from events. */
export const reactions: readonly Reaction[] = [];
