import { account } from '../domain/accounts.ts';
import { actionExecution } from '../domain/actionExecutions.ts';
import { adapter } from '../domain/adapters.ts';
import { agent } from '../domain/agents.ts';
import { agentSession } from '../domain/agentSessions.ts';
import { analyticTemplate } from '../domain/analyticTemplates.ts';
import { automationImport } from '../domain/automationImports.ts';
import { automation } from '../domain/automations.ts';
import { banner } from '../domain/banner.ts';
import { certificate } from '../domain/certificates.ts';
import { commandTemplate } from '../domain/commandTemplates.ts';
import type { Aggregate } from '../domain/core.ts';
import { deviceConfiguration } from '../domain/deviceConfigurations.ts';
import { deviceGroupImport } from '../domain/deviceGroupImports.ts';
import { deviceGroup } from '../domain/deviceGroups.ts';
import { formDeletion } from '../domain/formDeletions.ts';
import { form } from '../domain/forms.ts';
import { groupMapping } from '../domain/groupMappings.ts';
import { group } from '../domain/groups.ts';
import { inventory } from '../domain/inventories.ts';
import { jobMoveDecision } from '../domain/jobMoves.ts';
import { job } from '../domain/jobs.ts';
import { lastAction } from '../domain/lastActions.ts';
import { login } from '../domain/logins.ts';
import { nameClaims } from '../domain/names.ts';
import { parkedReaction } from '../domain/parkedReactions.ts';
import { planDeletion } from '../domain/planDeletions.ts';
import { plan } from '../domain/plans.ts';
import { prebuilt } from '../domain/prebuilts.ts';
import { activeProfile, profile } from '../domain/profiles.ts';
import { publishedEvent } from '../domain/publishedEvents.ts';
import { resourceGroup } from '../domain/resourceGroups.ts';
import { resourceInstance } from '../domain/resourceInstances.ts';
import { resourceModel } from '../domain/resourceModels.ts';
import { role } from '../domain/roles.ts';
import { scheduledJobMigration } from '../domain/scheduledJobMigrations.ts';
import { scheduledJob } from '../domain/scheduledJobs.ts';
import { series } from '../domain/series.ts';
import { serviceGroup } from '../domain/serviceGroups.ts';
import { template } from '../domain/templates.ts';
import { tree } from '../domain/trees.ts';
import { trigger } from '../domain/triggers.ts';
import { watching } from '../domain/watchings.ts';
import { actionReactions } from './actionReactions.ts';
import { sessionReactions } from './agentSessions.ts';
import { automationReactions } from './automationReactions.ts';
import { deviceGroupReactions } from './deviceGroups.ts';
import { formReactions } from './forms.ts';
import { jobReactions } from './jobMoves.ts';
import { planReactions } from './plans.ts';
import { prebuiltReactions } from './prebuilts.ts';
import type { Reaction } from './reactions.ts';
import { groupReactions } from './resourceGroups.ts';
import { modelReactions } from './resourceModels.ts';
import { scheduledJobReactions } from './scheduledJobMigrations.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = [
  account,
  actionExecution,
  activeProfile,
  adapter,
  agent,
  agentSession,
  analyticTemplate,
  automation,
  automationImport,
  banner,
  certificate,
  commandTemplate,
  deviceConfiguration,
  deviceGroup,
  deviceGroupImport,
  form,
  formDeletion,
  group,
  groupMapping,
  inventory,
  job,
  jobMoveDecision,
  lastAction,
  login,
  nameClaims,
  parkedReaction,
  plan,
  planDeletion,
  prebuilt,
  profile,
  publishedEvent,
  resourceGroup,
  resourceInstance,
  resourceModel,
  role,
  scheduledJob,
  scheduledJobMigration,
  series,
  serviceGroup,
  template,
  tree,
  trigger,
  watching,
];

/** All that follows from events. */
export const reactions: readonly Reaction[] = [
  ...actionReactions,
  ...automationReactions,
  ...deviceGroupReactions,
  ...formReactions,
  ...groupReactions,
  ...jobReactions,
  ...modelReactions,
  ...planReactions,
  ...prebuiltReactions,
  ...scheduledJobReactions,
  ...sessionReactions,
];
