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
  whole,
} from '../engine/topics.ts';
import { automationImport } from './automationImports.ts';
import { automation } from './automations.ts';
import { jobMoveDecision } from './jobMoves.ts';
import { job } from './jobs.ts';
import { triggerRuns } from './triggerRuns.ts';
import { triggerSchedule } from './triggerSchedules.ts';
import { trigger } from './triggers.ts';
import { watching } from './watchings.ts';

const moment = Type.Integer({ description: 'Epoch milliseconds' });
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
        event: Type.Optional(textOrNull),
        instant: Type.Optional(Type.Union([moment, Type.Null()])),
        depth: Type.Optional(whole),
        parent: Type.Optional(Type.Union([Type.Object({ job: text, task: text, index: whole }), Type.Null()])),
        workflow: Type.Optional(Type.Union([Type.Object({ id: text, revision: whole }), Type.Null()])),
        groups: texts,
        watchers: texts,
      }),
    ],
    jobPaused: ['A job was paused', nothing],
    jobResumed: ['A paused job went on', nothing],
    jobCompleted: ['A job ended well', Type.Object({ variables: members })],
    jobErrored: ['A job ended in error', Type.Object({ error: Type.Union([Type.String(), members]) })],
    jobCanceled: ['A job was canceled', nothing],
    jobClaimed: [
      'A worker got a job',
      Type.Object({ claim: whole, worker: text, account: text, until: moment, lease: whole }),
    ],
    jobClaimExtended: ['A worker that was heard of keeps its job', Type.Object({ claim: whole, until: moment })],
    jobReleased: ['A job waits for a worker again', Type.Object({ claim: whole, reason: text })],
    jobGivenUp: ['A job is not offered any more, because too many claims were lost', Type.Object({ claims: whole })],
    jobRetried: ['A job that had ended in error began again', nothing],
  }),
  describeTopics(jobMoveDecision, {
    jobsMoved: ['Jobs are to be paused, resumed or canceled', Type.Object({ move: text, jobIds: texts })],
  }),
  describeTopics(triggerRuns, {
    triggerRan: [
      'A trigger started jobs, of which this is the last',
      Type.Object({ count: whole, job: text, at: text }),
    ],
    runsRefused: [
      'A trigger that should have fired started no job',
      Type.Object({
        reason: text,
        count: whole,
        event: Type.Optional(text),
        instant: Type.Optional(moment),
        message: text,
      }),
    ],
  }),
  describeTopics(triggerSchedule, {
    scheduleSet: [
      'A schedule began anew at begun: instants up to since are settled, and of those up to begun only the last may run',
      Type.Object({
        since: moment,
        begun: Type.Optional(moment),
        ran: Type.Optional(Type.Array(moment, { description: 'Later instants than since that have run already' })),
      }),
    ],
    runsMissed: [
      'Instants of a schedule were due and do not run',
      Type.Object({ count: whole, first: moment, last: moment }),
    ],
    scheduleFired: ['An instant of a schedule starts a job', Type.Object({ instant: moment, job: text })],
  }),
  describeTopics(watching, {
    jobsWatched: ['An account began to watch jobs', Type.Object({ jobIds: texts })],
    jobsUnwatched: ['An account stopped watching jobs', Type.Object({ jobIds: texts })],
  }),
];
