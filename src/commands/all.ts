import { agentSession } from '../domain/agent-session-manager/agentSessions.ts';
import { agent } from '../domain/agent-session-manager/agents.ts';
import { account } from '../domain/authorization/accounts.ts';
import { group } from '../domain/authorization/groups.ts';
import { login } from '../domain/authorization/logins.ts';
import { role } from '../domain/authorization/roles.ts';
import { scheduledJobMigration } from '../domain/automation-catalog/scheduledJobMigrations.ts';
import { scheduledJob } from '../domain/automation-catalog/scheduledJobs.ts';
import { adapter } from '../domain/configuration-manager/adapters.ts';
import { deviceConfiguration } from '../domain/configuration-manager/deviceConfigurations.ts';
import { deviceGroupImport } from '../domain/configuration-manager/deviceGroupImports.ts';
import { deviceGroup } from '../domain/configuration-manager/deviceGroups.ts';
import { planDeletion } from '../domain/configuration-manager/planDeletions.ts';
import { plan } from '../domain/configuration-manager/plans.ts';
import { tree } from '../domain/configuration-manager/trees.ts';
import { banner } from '../domain/customization/banner.ts';
import type { Aggregate } from '../domain/engine/core.ts';
import { lock } from '../domain/engine/locks.ts';
import { nameClaims } from '../domain/engine/names.ts';
import { parkedReaction } from '../domain/engine/parkedReactions.ts';
import { certificate } from '../domain/gateway-manager/certificates.ts';
import { serviceGroup } from '../domain/gateway-manager/serviceGroups.ts';
import { groupMapping } from '../domain/group-mappings/groupMappings.ts';
import { inventory } from '../domain/inventory-manager/inventories.ts';
import { formDeletion } from '../domain/json-forms/formDeletions.ts';
import { form } from '../domain/json-forms/forms.ts';
import { actionExecution } from '../domain/lifecycle-manager/actionExecutions.ts';
import { lastAction } from '../domain/lifecycle-manager/lastActions.ts';
import { resourceGroup } from '../domain/lifecycle-manager/resourceGroups.ts';
import { resourceInstance } from '../domain/lifecycle-manager/resourceInstances.ts';
import { resourceModel } from '../domain/lifecycle-manager/resourceModels.ts';
import { analyticTemplate } from '../domain/mop/analyticTemplates.ts';
import { commandTemplate } from '../domain/mop/commandTemplates.ts';
import { automationImport } from '../domain/operations-manager/automationImports.ts';
import { automation } from '../domain/operations-manager/automations.ts';
import { jobMoveDecision } from '../domain/operations-manager/jobMoves.ts';
import { job } from '../domain/operations-manager/jobs.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { trigger } from '../domain/operations-manager/triggers.ts';
import { watching } from '../domain/operations-manager/watchings.ts';
import { prebuilt } from '../domain/prebuilts/prebuilts.ts';
import { activeProfile, profile } from '../domain/profiles/profiles.ts';
import { template } from '../domain/template-builder/templates.ts';
import { sessionReactions } from './agent-session-manager/agentSessions.ts';
import { scheduledJobReactions } from './automation-catalog/scheduledJobMigrations.ts';
import { deviceGroupReactions } from './configuration-manager/deviceGroups.ts';
import { planReactions } from './configuration-manager/plans.ts';
import type { Reaction } from './engine/reactions.ts';
import { formReactions } from './json-forms/forms.ts';
import { actionReactions } from './lifecycle-manager/actionReactions.ts';
import { groupReactions } from './lifecycle-manager/resourceGroups.ts';
import { modelReactions } from './lifecycle-manager/resourceModels.ts';
import { automationReactions } from './operations-manager/automationReactions.ts';
import { jobReactions } from './operations-manager/jobMoves.ts';
import { prebuiltReactions } from './prebuilts/prebuilts.ts';

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
  lock,
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
