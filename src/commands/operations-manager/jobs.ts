import { Type } from 'typebox';
import { everybody } from '../../domain/authorization/gbac.ts';
import { namesOf } from '../../domain/authorization/groups.ts';
import { type Actor, type Gbac, mayName } from '../../domain/engine/core.ts';
import { retirementLock } from '../../domain/engine/retirement.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import { inventory } from '../../domain/inventory-manager/inventories.ts';
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
  noteInventories,
  start,
  type Variables,
  withoutOrigin,
} from '../../domain/operations-manager/jobs.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { whyNotRunComponent, workflowOfComponent, workOf } from './jobWorkflows.ts';

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

/** The account with its rights of now: none if it is gone. */
const accountOf = async (actor: Actor, { accountNow }: Tools): Promise<Actor> =>
  (await accountNow(actor.id)) ?? { ...actor, groups: [], admin: false };

/**
 * Starts a job. A caller who may see an automation may run it. Reactions use a derived id and set the origin (`automation`,
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
    const component = found?.component ?? input.component ?? { type: 'workflows', name: input.workflow };
    const sealed = execution === undefined ? {} : plain;
    const variables = withoutOrigin(sealSecrets(plain, sealed, tools.seal, '/options/variables') as Variables);
    // An action starts its jobs by a reaction. Its job is there in any case, and ends if the account may not run the component.
    const who = execution === undefined ? actor : await accountOf(actor, tools);
    const notRun = found?.readable === false ? undefined : await whyNotRunComponent(component, who, tools);
    const starting = { id, actor: who, now, variables };
    return {
      gbac: await accessListThatDenies(actor, state, tools),
      automation: found,
      unknownGroups: await unknownGroups(tools, namesOf(groups)),
      variables,
      running: notRun ? undefined : await workflowOfComponent(component, starting, tools),
      notRun: execution === undefined ? notRun : undefined,
    };
  },
  // The account that repeats the request must still be able to see the job.
  gbac: (_, { gbac }) => gbac,
});

type Lists = Pick<JobStarted, 'automation' | 'groups'> & { readonly workflow?: JobStarted['workflow'] };

const closed: Gbac = { read: [], write: [], closed: true };

/** The list of the inventory as it is now. */
const ofInventory = async (id: string, actor: Actor, { stateForRights }: Tools): Promise<Gbac> =>
  mayName(actor, inventory.category, id)
    ? (inventory.gbac?.(await stateForRights(inventory, id)) ?? everybody)
    : closed;

/**
 * The access list that denies the actor access to a job, else an open one. A job follows its own groups, the lists of
 * its automation, those of the inventories whose devices it names, and that of the project of its workflow: whoever may
 * see the job and run the workflow may change it.
 */
export const accessListThatDenies = async (
  actor: Actor,
  { started, inventories = [] }: { readonly started?: Lists | undefined } & Pick<JobState, 'inventories'>,
  tools: Tools,
): Promise<Gbac> => {
  const { groups = [], automation: id = null, workflow: running } = started ?? {};
  const { read, write } = id === null ? everybody : (await tools.state(automation, id)).content.gbac;
  const ofWorkflow = running && (await tools.gbacAbove(workflow, await tools.state(workflow, running.id), 'run'));
  const lists: readonly Gbac[] = [
    { read: [], write: groups },
    { read: [], write: [...read, ...write] },
    ...(await Promise.all(inventories.map((id) => ofInventory(id, actor, tools)))),
    ...(ofWorkflow ? [ofWorkflow] : []),
  ];
  return lists.find((list) => !mayRead(actor, list)) ?? lists.find((list) => !mayWrite(actor, list)) ?? everybody;
};

/** How an actor may not change a job: it may not see it, or not run its workflow; undefined: it may. */
export const whyNotMoved = async (
  actor: Actor,
  state: JobState,
  tools: Tools,
): Promise<'hidden' | 'closed' | undefined> => {
  const list = await accessListThatDenies(actor, state, tools);
  if (!mayRead(actor, list)) return 'hidden';
  return mayWrite(actor, list) ? undefined : 'closed';
};

/** Part of a run that comes upon devices of inventories, before it stores anything about them. */
export const noteJobInventories = command({
  name: 'noteJobInventories',
  input: Type.Object({ inventories: Type.Array(Type.String()) }),
  on: 'existing',
  decide: noteInventories,
});

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
