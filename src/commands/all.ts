import { sessionReactions } from './agent-session-manager/agentSessions.ts';
import { accountReactions } from './authorization/accounts.ts';
import { scheduledJobReactions } from './automation-catalog/scheduledJobMigrations.ts';
import { projectKind, projectReactions } from './automation-studio/projects.ts';
import { complianceReportReactions } from './configuration-manager/complianceBatches.ts';
import { deviceBackupReactions } from './configuration-manager/deviceBackups.ts';
import { deviceGroupReactions } from './configuration-manager/deviceGroups.ts';
import { deviceTemplateReactions } from './configuration-manager/deviceTemplates.ts';
import { planReactions } from './configuration-manager/plans.ts';
import { stoppedRunReactions } from './configuration-manager/stoppedRuns.ts';
import { treeReactions } from './configuration-manager/trees.ts';
import type { Restorable } from './engine/kinds.ts';
import type { Reaction } from './engine/reactions.ts';
import { formReactions } from './json-forms/forms.ts';
import { kinds } from './kinds.ts';
import { actionReactions } from './lifecycle-manager/actionReactions.ts';
import { groupReactions } from './lifecycle-manager/resourceGroups.ts';
import { modelReactions } from './lifecycle-manager/resourceModels.ts';
import { automationReactions } from './operations-manager/automationReactions.ts';
import { childReactions } from './operations-manager/jobChildren.ts';
import { jobReactions } from './operations-manager/jobMoves.ts';
import { jobSessionReactions } from './operations-manager/jobSessions.ts';
import { taskReactions } from './operations-manager/taskReports.ts';
import { scheduleReactions } from './operations-manager/triggerSchedules.ts';
import { prebuiltKind, prebuiltReactions } from './prebuilts/prebuilts.ts';

/** The reactions of all areas. */
export const reactions: readonly Reaction[] = [
  ...accountReactions,
  ...actionReactions,
  ...automationReactions,
  ...deviceBackupReactions,
  ...deviceGroupReactions,
  ...deviceTemplateReactions,
  ...formReactions,
  ...groupReactions,
  ...jobReactions,
  ...jobSessionReactions,
  ...taskReactions,
  ...childReactions,
  ...modelReactions,
  ...complianceReportReactions,
  ...stoppedRunReactions,
  ...planReactions,
  ...treeReactions,
  ...prebuiltReactions,
  ...projectReactions,
  ...scheduledJobReactions,
  ...scheduleReactions,
  ...sessionReactions,
];

/** The kinds of resources that become again what they were, by category. */
export const restorable: ReadonlyMap<string, Restorable> = new Map(
  [...kinds, prebuiltKind, projectKind].flatMap(({ of, restore }) =>
    restore ? [[of.category, restore] as const] : [],
  ),
);
