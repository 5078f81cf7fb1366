import { accounts } from './accounts.ts';
import { adapters } from './adapters.ts';
import { agents } from './agents.ts';
import { agentSessions, sessionMessages } from './agentSessions.ts';
import { automations } from './automations.ts';
import { credentials } from './credentials.ts';
import type { Projection } from './define.ts';
import { deviceGroups } from './deviceGroups.ts';
import { groupMappings } from './groupMappings.ts';
import { groups } from './groups.ts';
import { jobs } from './jobs.ts';
import { logins } from './logins.ts';
import { parkedReactions } from './parkedReactions.ts';
import { plans } from './plans.ts';
import { roles } from './roles.ts';
import { trees } from './trees.ts';
import { triggers } from './triggers.ts';
import { watchings } from './watchings.ts';

/** All collections. The first of an aggregate is the document that its commands answer with. */
export const projections: readonly Projection[] = [
  accounts,
  adapters,
  agents,
  agentSessions,
  sessionMessages,
  automations,
  credentials,
  deviceGroups,
  groupMappings,
  groups,
  jobs,
  logins,
  parkedReactions,
  plans,
  roles,
  trees,
  triggers,
  watchings,
];
