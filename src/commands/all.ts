import { account } from '../domain/accounts.ts';
import { actionExecution } from '../domain/actionExecutions.ts';
import { automationImport } from '../domain/automationImports.ts';
import { automation } from '../domain/automations.ts';
import { certificate } from '../domain/certificates.ts';
import { banner } from '../domain/banner.ts';
import type { Aggregate } from '../domain/core.ts';
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
import { planDeletion } from '../domain/planDeletions.ts';
import { parkedReaction } from '../domain/parkedReactions.ts';
import { plan } from '../domain/plans.ts';
import { resourceGroup } from '../domain/resourceGroups.ts';
import { resourceInstance } from '../domain/resourceInstances.ts';
import { resourceModel } from '../domain/resourceModels.ts';
import { activeProfile, profile } from '../domain/profiles.ts';
import { role } from '../domain/roles.ts';
import { scheduledJobMigration } from '../domain/scheduledJobMigrations.ts';
import { scheduledJob } from '../domain/scheduledJobs.ts';
import { series } from '../domain/series.ts';
import { template } from '../domain/templates.ts';
import { serviceGroup } from '../domain/serviceGroups.ts';
import { tree } from '../domain/trees.ts';
import { trigger } from '../domain/triggers.ts';
import { watching } from '../domain/watchings.ts';
import { actionReactions } from './actionReactions.ts';
import { automationReactions } from './automationReactions.ts';
import { formReactions } from './forms.ts';
import { jobReactions } from './jobMoves.ts';
import { planReactions } from './plans.ts';
import type { Reaction } from './reactions.ts';
import { groupReactions } from './resourceGroups.ts';
import { modelReactions } from './resourceModels.ts';
import { scheduledJobReactions } from './scheduledJobMigrations.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = [
  account,
  actionExecution,
  activeProfile,
  automation,
  automationImport,
  form,
  formDeletion,
  certificate,
  banner,
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
  resourceGroup,
  resourceInstance,
  resourceModel,
  profile,
  role,
  scheduledJob,
  scheduledJobMigration,
  series,
  template,
  serviceGroup,
  tree,
  trigger,
  watching,
];

/** All that follows from events. */
export const reactions: readonly Reaction[] = [
  ...actionReactions,
  ...automationReactions,
  ...formReactions,
  ...groupReactions,
  ...jobReactions,
  ...modelReactions,
  ...planReactions,
  ...scheduledJobReactions,
];
