import { agentSessions, sessionMessages } from './agent-session-manager/agentSessions.ts';
import { agents } from './agent-session-manager/agents.ts';
import { accounts } from './authorization/accounts.ts';
import { credentials } from './authorization/credentials.ts';
import { formerAccounts } from './authorization/formerAccounts.ts';
import { groups } from './authorization/groups.ts';
import { logins } from './authorization/logins.ts';
import { roles } from './authorization/roles.ts';
import { scheduledJobMigrations } from './automation-catalog/scheduledJobMigrations.ts';
import { scheduledJobs } from './automation-catalog/scheduledJobs.ts';
import { adapters } from './configuration-manager/adapters.ts';
import { deviceGroups } from './configuration-manager/deviceGroups.ts';
import { plans } from './configuration-manager/plans.ts';
import { trees } from './configuration-manager/trees.ts';
import { banners } from './customization/banner.ts';
import type { Projection } from './engine/define.ts';
import { parkedReactions } from './engine/parkedReactions.ts';
import { certificates } from './gateway-manager/certificates.ts';
import { serviceGroups } from './gateway-manager/serviceGroups.ts';
import { groupMappings } from './group-mappings/groupMappings.ts';
import { inventories } from './inventory-manager/inventories.ts';
import { formDeletions } from './json-forms/formDeletions.ts';
import { forms } from './json-forms/forms.ts';
import { actionExecutions } from './lifecycle-manager/actionExecutions.ts';
import { lastActions } from './lifecycle-manager/lastActions.ts';
import { resourceGroups } from './lifecycle-manager/resourceGroups.ts';
import { resourceInstances } from './lifecycle-manager/resourceInstances.ts';
import { resourceModels } from './lifecycle-manager/resourceModels.ts';
import { analyticTemplates } from './mop/analyticTemplates.ts';
import { commandTemplates } from './mop/commandTemplates.ts';
import { automations } from './operations-manager/automations.ts';
import { jobs } from './operations-manager/jobs.ts';
import { schedulePlans } from './operations-manager/schedulePlans.ts';
import { triggerRuns } from './operations-manager/triggerRuns.ts';
import { triggerSchedules } from './operations-manager/triggerSchedules.ts';
import { triggers } from './operations-manager/triggers.ts';
import { watchings } from './operations-manager/watchings.ts';
import { prebuilts } from './prebuilts/prebuilts.ts';
import { activeProfiles, profiles } from './profiles/profiles.ts';
import { templates } from './template-builder/templates.ts';

/** All projections. Commands of an aggregate answer with the document of its first projection. */
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
  formerAccounts,
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
  triggerRuns,
  triggers,
  triggerSchedules,
  // After `triggers`: the document of a trigger is that one.
  schedulePlans,
  watchings,
];
