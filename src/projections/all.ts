import { accounts } from './accounts.ts';
import { actionExecutions } from './actionExecutions.ts';
import { adapters } from './adapters.ts';
import { agents } from './agents.ts';
import { agentSessions, sessionMessages } from './agentSessions.ts';
import { analyticTemplates } from './analyticTemplates.ts';
import { automations } from './automations.ts';
import { banners } from './banner.ts';
import { certificates } from './certificates.ts';
import { commandTemplates } from './commandTemplates.ts';
import { credentials } from './credentials.ts';
import type { Projection } from './define.ts';
import { deviceGroups } from './deviceGroups.ts';
import { formDeletions } from './formDeletions.ts';
import { forms } from './forms.ts';
import { groupMappings } from './groupMappings.ts';
import { groups } from './groups.ts';
import { inventories } from './inventories.ts';
import { jobs } from './jobs.ts';
import { lastActions } from './lastActions.ts';
import { logins } from './logins.ts';
import { parkedReactions } from './parkedReactions.ts';
import { plans } from './plans.ts';
import { prebuilts } from './prebuilts.ts';
import { activeProfiles, profiles } from './profiles.ts';
import { resourceGroups } from './resourceGroups.ts';
import { resourceInstances } from './resourceInstances.ts';
import { resourceModels } from './resourceModels.ts';
import { roles } from './roles.ts';
import { scheduledJobMigrations } from './scheduledJobMigrations.ts';
import { scheduledJobs } from './scheduledJobs.ts';
import { serviceGroups } from './serviceGroups.ts';
import { templates } from './templates.ts';
import { trees } from './trees.ts';
import { triggers } from './triggers.ts';
import { watchings } from './watchings.ts';

/** All collections. The first of an aggregate is the document that its commands answer with. */
export const projections: readonly Projection[] = [
  accounts,
  actionExecutions,
  activeProfiles,
  adapters,
  agents,
  agentSessions,
  analyticTemplates,
  automations,
  banners,
  certificates,
  commandTemplates,
  credentials,
  deviceGroups,
  formDeletions,
  forms,
  groupMappings,
  groups,
  inventories,
  jobs,
  lastActions,
  logins,
  parkedReactions,
  plans,
  prebuilts,
  profiles,
  resourceGroups,
  resourceInstances,
  resourceModels,
  roles,
  scheduledJobMigrations,
  scheduledJobs,
  serviceGroups,
  sessionMessages,
  templates,
  trees,
  triggers,
  watchings,
];
