import { account } from '../domain/accounts.ts';
import { adapter } from '../domain/adapters.ts';
import { analyticTemplate } from '../domain/analyticTemplates.ts';
import { automationImport } from '../domain/automationImports.ts';
import { automation } from '../domain/automations.ts';
import { commandTemplate } from '../domain/commandTemplates.ts';
import type { Aggregate } from '../domain/core.ts';
import { deviceConfiguration } from '../domain/deviceConfigurations.ts';
import { deviceGroupImport } from '../domain/deviceGroupImports.ts';
import { deviceGroup } from '../domain/deviceGroups.ts';
import { formDeletion } from '../domain/formDeletions.ts';
import { form } from '../domain/forms.ts';
import { groupMapping } from '../domain/groupMappings.ts';
import { group } from '../domain/groups.ts';
import { jobMoveDecision } from '../domain/jobMoves.ts';
import { job } from '../domain/jobs.ts';
import { login } from '../domain/logins.ts';
import { nameClaims } from '../domain/names.ts';
import { planDeletion } from '../domain/planDeletions.ts';
import { parkedReaction } from '../domain/parkedReactions.ts';
import { plan } from '../domain/plans.ts';
import { prebuilt } from '../domain/prebuilts.ts';
import { role } from '../domain/roles.ts';
import { series } from '../domain/series.ts';
import { template } from '../domain/templates.ts';
import { tree } from '../domain/trees.ts';
import { trigger } from '../domain/triggers.ts';
import { watching } from '../domain/watchings.ts';
import { automationReactions } from './automationReactions.ts';
import { deviceGroupReactions } from './deviceGroups.ts';
import { formReactions } from './forms.ts';
import { jobReactions } from './jobMoves.ts';
import { planReactions } from './plans.ts';
import { prebuiltReactions } from './prebuilts.ts';
import type { Reaction } from './reactions.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = [
  account,
  adapter,
  analyticTemplate,
  automation,
  automationImport,
  commandTemplate,
  deviceConfiguration,
  deviceGroup,
  deviceGroupImport,
  form,
  formDeletion,
  group,
  groupMapping,
  job,
  jobMoveDecision,
  login,
  nameClaims,
  parkedReaction,
  plan,
  planDeletion,
  prebuilt,
  role,
  series,
  template,
  tree,
  trigger,
  watching,
];

/** All that follows from events. */
export const reactions: readonly Reaction[] = [
  ...automationReactions,
  ...deviceGroupReactions,
  ...formReactions,
  ...jobReactions,
  ...planReactions,
  ...prebuiltReactions,
];
