import { denied, handedOut } from '../domain/authorization/requestRecords.ts';
import { deviceConfiguration } from '../domain/configuration-manager/deviceConfigurations.ts';
import { deviceGroupImport } from '../domain/configuration-manager/deviceGroupImports.ts';
import { planDeletion } from '../domain/configuration-manager/planDeletions.ts';
import type { Aggregate } from '../domain/engine/core.ts';
import { lock } from '../domain/engine/locks.ts';
import { nameClaims } from '../domain/engine/names.ts';
import { retirement } from '../domain/engine/retirement.ts';
import { automationImport } from '../domain/operations-manager/automationImports.ts';
import { jobMoveDecision } from '../domain/operations-manager/jobMoves.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { projections } from '../projections/all.ts';
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
import { jobSessionReactions } from './operations-manager/jobSessions.ts';
import { scheduleReactions } from './operations-manager/triggerSchedules.ts';
import { prebuiltReactions } from './prebuilts/prebuilts.ts';

/** Kinds of streams without a projection. */
const unshown: readonly Aggregate[] = [
  automationImport,
  denied,
  deviceConfiguration,
  deviceGroupImport,
  handedOut,
  jobMoveDecision,
  lock,
  nameClaims,
  planDeletion,
  publishedEvent,
  retirement,
];

/** All kinds of streams, with and without a projection. */
export const aggregates: readonly Aggregate[] = [...new Set([...projections.map(({ of }) => of), ...unshown])];

/** The reactions of all areas. */
export const reactions: readonly Reaction[] = [
  ...actionReactions,
  ...automationReactions,
  ...deviceGroupReactions,
  ...formReactions,
  ...groupReactions,
  ...jobReactions,
  ...jobSessionReactions,
  ...modelReactions,
  ...planReactions,
  ...prebuiltReactions,
  ...scheduledJobReactions,
  ...scheduleReactions,
  ...sessionReactions,
];
