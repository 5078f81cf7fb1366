import { accounts } from './accounts.ts';
import { credentials } from './credentials.ts';
import type { Projection } from './define.ts';
import { groupMappings } from './groupMappings.ts';
import { groups } from './groups.ts';
import { logins } from './logins.ts';
import { roles } from './roles.ts';

/** All collections. The first of an aggregate is the document that its commands answer with. */
export const projections: readonly Projection[] = [
  accounts,
  credentials,
  groupMappings,
  groups,
  logins,
  roles,
];
