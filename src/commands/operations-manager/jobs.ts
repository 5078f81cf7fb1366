import { Type } from 'typebox';
import { everybody } from '../../domain/authorization/gbac.ts';
import { namesOf } from '../../domain/authorization/groups.ts';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { retirementLock } from '../../domain/engine/retirement.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { claimNumber } from '../../domain/operations-manager/jobClaims.ts';
import {
  type JobError,
  type JobStart,
  jobError,
  jobStartSchema,
  jobVariables,
} from '../../domain/operations-manager/jobSchemas.ts';
import {
  carryOut,
  complete,
  fail,
  type JobStarted,
  type JobState,
  job,
  jobMoves,
  start,
  type Variables,
  withoutOrigin,
} from '../../domain/operations-manager/jobs.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { workflowOfComponent, workflowToStart, workOf } from './jobWorkflows.ts';

const command = commandsOf(job);

/** The automation that the request starts, by id or name; undefined if the platform has none. */
const meant = async ({ workflow, automation: given }: JobStart, actor: Actor, tools: Tools) => {
  const id = given === undefined ? await tools.find(automations, workflow) : given;
  if (id == null) return undefined;
  const {
    exists,
    content: { name, gbac, componentType: type, componentName },
  } = await tools.state(automation, id);
  return exists
    ? { id, name, readable: mayRead(actor, gbac), component: { type, name: componentName ?? name } }
    : undefined;
};

/**
 * Starts a job. Whoever may see an automation may run it. Reactions use a derived id and set the origin (`automation`,
 * `trigger`, `execution`). Only jobs of executions keep variables that look sealed: in other jobs a client may have
 * sent them.
 */
export const startJob = command({
  name: 'startJob',
  input: jobStartSchema,
  on: 'new',
  decide: start,
  prepare: async ({ id, input, state, actor, now }, tools) => {
    const { variables: plain = {}, groups = [], execution } = input;
    const found = await meant(input, actor, tools);
    const sealed = execution === undefined ? {} : plain;
    const variables = withoutOrigin(sealSecrets(plain, sealed, tools.seal, '/options/variables') as Variables);
    const starting = { id, actor, now, variables };
    const workflow = async (): Promise<Awaited<ReturnType<typeof workflowToStart>>> => {
      if (found) return workflowOfComponent(found.component, starting, tools);
      return input.component === undefined ? workflowToStart(input.workflow, starting, tools) : undefined;
    };
    return {
      gbac: await accessListThatDenies(actor, state, tools),
      automation: found,
      unknownGroups: await unknownGroups(tools, namesOf(groups)),
      variables,
      running: await workflow(),
    };
  },
  // Whoever repeats the request must still be able to see the job.
  gbac: (_, { gbac }) => gbac,
});

/**
 * The access list that denies the actor access to a job, else an open one. A job follows its own groups and the lists
 * of its automation. Whoever may see a job may change it.
 */
export const accessListThatDenies = async (
  actor: Actor,
  { started }: { readonly started?: Pick<JobStarted, 'automation' | 'groups'> | undefined },
  tools: Tools,
): Promise<Gbac> => {
  const { groups = [], automation: id = null } = started ?? {};
  const { read, write } = id === null ? everybody : (await tools.state(automation, id)).content.gbac;
  const lists = [
    { read: [], write: groups },
    { read: [], write: [...read, ...write] },
  ];
  return lists.find((list) => !mayRead(actor, list)) ?? everybody;
};

/** Whether the actor may see the job. */
export const maySee = async (actor: Actor, state: JobState, tools: Tools): Promise<boolean> =>
  mayRead(actor, await accessListThatDenies(actor, state, tools));

const claim = Type.Optional(claimNumber);

/** A worker's report of success. The variables are merged into those of the job. */
export const completeJob = command({
  name: 'completeJob',
  input: Type.Object({ variables: Type.Optional(jobVariables), claim }, { additionalProperties: false }),
  on: 'existing',
  decide: complete,
  prepare: async ({ input: { variables = {} }, state, actor }, tools) => ({
    gbac: await accessListThatDenies(actor, state, tools),
    variables: sealSecrets(variables, state.variables, tools.seal, '/variables') as Variables,
  }),
  gbac: (_, { gbac }) => gbac,
});

/** A worker's report of an error. */
export const failJob = command({
  name: 'failJob',
  input: Type.Object({ error: jobError, claim }, { additionalProperties: false }),
  on: 'existing',
  decide: fail,
  prepare: async ({ input: { error }, state, actor }, tools) => ({
    gbac: await accessListThatDenies(actor, state, tools),
    error: sealSecrets(error, state.error, tools.seal, '/error') as JobError,
  }),
  gbac: (_, { gbac }) => gbac,
});

/** Part of a decision on several jobs. Pauses, resumes, cancels or retries a job if its state still allows it. */
export const moveJob = command({
  name: 'moveJob',
  input: Type.Object({ move: Type.Enum(Object.keys(jobMoves) as (keyof typeof jobMoves)[]) }),
  on: 'any',
  locks: (_, { move }) => (move === 'retry' ? retirementLock(job.category) : undefined),
  prepare: async (request, tools) => ({ work: await workOf(request, tools) }),
  decide: carryOut,
});
