import { accounts } from './accounts.ts';
import { adapters } from './adapters.ts';
import { analyticTemplates } from './analyticTemplates.ts';
import { automations } from './automations.ts';
import { commandTemplates } from './commandTemplates.ts';
import { credentials } from './credentials.ts';
import type { Projection } from './define.ts';
import { deviceGroups } from './deviceGroups.ts';
import { formDeletions } from './formDeletions.ts';
import { forms } from './forms.ts';
import { groupMappings } from './groupMappings.ts';
import { groups } from './groups.ts';
import { jobs } from './jobs.ts';
import { logins } from './logins.ts';
import { parkedReactions } from './parkedReactions.ts';
import { plans } from './plans.ts';
import { prebuilts } from './prebuilts.ts';
import { roles } from './roles.ts';
import { templates } from './templates.ts';
import { trees } from './trees.ts';
import { triggers } from './triggers.ts';
import { watchings } from './watchings.ts';

/** All collections. The first of an aggregate is the document that its commands answer with. */
export const projections: readonly Projection[] = [
  accounts,
  adapters,
  analyticTemplates,
  automations,
  commandTemplates,
  credentials,
  deviceGroups,
  formDeletions,
  forms,
  groupMappings,
  groups,
  jobs,
  logins,
  parkedReactions,
  plans,
  prebuilts,
  roles,
  templates,
  trees,
  triggers,
  watchings,
];
