import { Type } from 'typebox';
import {
  type Described,
  describeTopics,
  flag,
  gbac,
  members,
  nothing,
  restored,
  text,
  textOrNull,
  texts,
} from '../engine/topics.ts';
import { automationImport } from './automationImports.ts';
import { automation } from './automations.ts';
import { jobMoveDecision } from './jobMoves.ts';
import { job } from './jobs.ts';
import { trigger } from './triggers.ts';
import { watching } from './watchings.ts';

const automationContent = {
  name: text,
  description: text,
  componentType: textOrNull,
  componentName: textOrNull,
  gbac,
};
// The members that triggers of every type have; those of its type follow.
const triggerContent = {
  name: text,
  enabled: flag,
  actionType: text,
  actionId: text,
  type: text,
};

export const operationsTopics: readonly Described[] = [
  describeTopics(automation, {
    automationCreated: ['An automation was created', Type.Object(automationContent)],
    automationChanged: ['Members of an automation changed', Type.Partial(Type.Object(automationContent))],
    automationRestored: [
      'An automation got the content of an imported document',
      Type.Object({ ...automationContent, ...restored }),
    ],
    automationDeleted: ['An automation was deleted', nothing],
  }),
  describeTopics(automationImport, {
    automationImported: [
      'An automation and its triggers are to be taken in',
      Type.Object({
        automation: Type.Object({ _id: text, ...automationContent, ...restored }),
        triggers: Type.Array(Type.Object({ _id: text, ...triggerContent, ...restored })),
        removed: texts,
        overwrite: flag,
      }),
    ],
  }),
  describeTopics(trigger, {
    triggerCreated: ['A trigger was created', Type.Object(triggerContent)],
    triggerChanged: ['Members of a trigger changed', Type.Partial(Type.Object(triggerContent))],
    triggerRestored: [
      'A trigger got the content of an imported document',
      Type.Object({ ...triggerContent, ...restored }),
    ],
    triggerDeleted: ['A trigger was deleted', nothing],
  }),
  describeTopics(job, {
    jobStarted: [
      'A job began',
      Type.Object({
        name: text,
        description: text,
        type: text,
        variables: members,
        component: Type.Object({ type: textOrNull, name: text }),
        automation: textOrNull,
        trigger: textOrNull,
        execution: textOrNull,
        groups: texts,
        watchers: texts,
      }),
    ],
    jobPaused: ['A job was paused', nothing],
    jobResumed: ['A paused job went on', nothing],
    jobCompleted: ['A job ended well', Type.Object({ variables: members })],
    jobErrored: ['A job ended in error', Type.Object({ error: Type.Union([Type.String(), members]) })],
    jobCanceled: ['A job was canceled', nothing],
  }),
  describeTopics(jobMoveDecision, {
    jobsMoved: ['Jobs are to be paused, resumed or canceled', Type.Object({ move: text, jobIds: texts })],
  }),
  describeTopics(watching, {
    jobsWatched: ['An account began to watch jobs', Type.Object({ jobIds: texts })],
    jobsUnwatched: ['An account stopped watching jobs', Type.Object({ jobIds: texts })],
  }),
];
