import { type Members, plainValue } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { retirementLock } from '../../domain/engine/retirement.ts';
import { faultsInTheOpen, maskSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import { claimInput, claimNumber, heartbeatSchema } from '../../domain/operations-manager/jobClaims.ts';
import { hasEnded, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { decideTasks, goOn, type JobWork } from '../../domain/operations-manager/jobWorkflows.ts';
import { outcomeMembers, taskFinishSchema } from '../../domain/operations-manager/taskSchemas.ts';
import type { Outcome } from '../../domain/operations-manager/workflows/controlTasks.ts';
import { formOfTask, outputsOfPerson } from '../../domain/operations-manager/workflows/peopleTasks.ts';
import type { RunOfJob } from '../../domain/operations-manager/workflows/runIds.ts';
import {
  claimTask as claim,
  finishTask as finish,
  heartbeatTask as heartbeat,
  isForPeople,
  lapseTask as lapse,
  releaseTask as release,
  reserveTask as reserve,
  taskOf,
} from '../../domain/operations-manager/workflows/taskClaims.ts';
import { continueFrom, retryTask as retry } from '../../domain/operations-manager/workflows/taskMoves.ts';
import { type TaskStates, taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import { inputsOf } from '../../domain/operations-manager/workflows/taskValues.ts';
import { splitStream } from '../../store/event.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Reaction } from '../engine/reactions.ts';
import type { Claimed } from './jobClaims.ts';
import { accessListThatDenies } from './jobs.ts';
import { faultsUnder, runningOf, workOf } from './jobWorkflows.ts';
import { formNamed } from './triggerForms.ts';

const command = commandsOf(job);

/** A run of a task that was given out, and the state of its job then. */
export type ClaimedTask = Claimed &
  RunOfJob & {
    readonly lease: { readonly worker: string; readonly account: string; readonly until: number | null };
    readonly state: JobState;
  };

const ofRun = { task: Type.String(), run: Type.Integer() };
type OfRun = Static<ReturnType<typeof Type.Object<typeof ofRun>>>;

type Asked<Input> = {
  readonly id: string;
  readonly input: Input;
  readonly state: JobState;
  readonly actor: Actor;
  readonly now: string;
};

type TaskOfJob = { readonly job: string; readonly task: string };

/**
 * The access list that denies the actor a task: those of the job, and the groups of a task for people, whichever run of it
 * is asked for.
 */
export const listThatDeniesTask = async (
  actor: Actor,
  state: JobState,
  { job: id, task }: TaskOfJob,
  tools: Tools,
): Promise<Gbac> => {
  const graph = (await runningOf(id, state, tools))?.graph;
  const { kind, groups = [] } = graph?.tasks[graph.places.get(task) ?? -1] ?? {};
  const ofPeople = { read: [], write: kind === 'people' ? groups : [] };
  return mayRead(actor, ofPeople) ? accessListThatDenies(actor, state, tools) : ofPeople;
};

/** The knowledge that decisions about a task need, for those who may see the job and do the task. */
const prepared = async <Input extends OfRun>(request: Asked<Input>, tools: Tools) => ({
  gbac: await listThatDeniesTask(request.actor, request.state, { job: request.id, task: request.input.task }, tools),
  work: await workOf(request, tools),
});
type Prepared = Awaited<ReturnType<typeof prepared>>;

const byAccess = { prepare: prepared, gbac: (_: JobState, { gbac }: Prepared) => gbac };

/** The tasks of the job. Throws `conflict` if it runs no workflow. */
const tasksOf = ({ tasks }: JobState): TaskStates => {
  if (!tasks) throw new RequestError('conflict', 'The job runs no workflow');
  return tasks;
};

/** Gives one run of a task to a worker or a node. */
export const claimTask = command({
  name: 'claimTask',
  input: Type.Object({ ...ofRun, ...claimInput.properties }),
  on: 'existing',
  ...byAccess,
  decide: (state, input, { now, actor }) => claim(tasksOf(state), input, Date.parse(now), actor),
});

/** A person reserves a task. */
export const reserveTask = command({
  name: 'reserveTask',
  input: Type.Object(ofRun),
  on: 'existing',
  ...byAccess,
  decide: (state, input, { actor }) => reserve(tasksOf(state), { ...input, worker: actor.username }, actor),
});

/** A worker's sign of life. */
export const heartbeatTask = command({
  name: 'heartbeatTask',
  input: Type.Object({ ...ofRun, ...heartbeatSchema.properties }),
  on: 'existing',
  ...byAccess,
  decide: (state, input, { now, actor }) => heartbeat(tasksOf(state), input, Date.parse(now), actor),
});

/** A worker or a person gives a task back. */
export const releaseTask = command({
  name: 'releaseTask',
  input: Type.Object({ ...ofRun, claim: Type.Optional(claimNumber) }),
  on: 'existing',
  ...byAccess,
  decide: (state, input, { actor }) => release(tasksOf(state), defined(input) as OfRun, actor),
});

/** Releases a claim whose time is up. */
export const lapseTask = command({
  name: 'lapseTask',
  input: Type.Object({ ...ofRun, claim: claimNumber, until: Type.Integer() }),
  on: 'any',
  prepare: async (request, tools) => ({ work: await workOf(request, tools) }),
  decide: (state, input, { refs: { work } }) =>
    state.tasks ? decideTasks(state, work, (workflow, tasks) => lapse(workflow, tasks, input)) : [],
});

/** The faults of a person's data under the form of the task. */
const formFaults = async (
  { work, tasks, actor }: { readonly work: JobWork | undefined; readonly tasks: TaskStates; readonly actor: Actor },
  { task, data }: OfRun & { data?: unknown },
  tools: Tools,
) => {
  if (!work || 'broken' in work) return [];
  const { startedWith = tasks.variables } = taskIn(tasks, task);
  const inputs = inputsOf({ state: tasks, job: work.job, variables: startedWith }, taskOf(work, task));
  const form = formOfTask(taskOf(work, task), inputs);
  if (!form) return [];
  if ('formId' in form) {
    const found = await formNamed(form.formId, { formData: maskSecrets(data), values: 'whole', actor }, tools);
    return found?.faults ?? [{ path: '', message: `the form ${JSON.stringify(form.formId)} is gone` }];
  }
  return faultsInTheOpen(faultsUnder(form.schema, plainValue(data)), maskSecrets(data));
};

type Report = OfRun & Static<typeof taskFinishSchema>;

/** The outputs of a report. Throws `invalid` if a worker reports as people do, or the reverse. */
const outputsOf = (work: JobWork | undefined, { task, data, outgoing }: Report, isOfPerson: boolean): Members => {
  if (!isOfPerson && data !== undefined)
    throw new RequestError('invalid', 'A worker reports its outputs as outgoing', { path: '/data' });
  if (isOfPerson && outgoing !== undefined)
    throw new RequestError('invalid', 'People say what they have filled in as data', { path: '/outgoing' });
  if (!isOfPerson || data === undefined || !work || 'broken' in work) return outgoing ?? {};
  return outputsOfPerson(taskOf(work, task), data);
};

/** Stores the outcome of a run, and all that follows from it. */
export const finishTask = command({
  name: 'finishTask',
  input: Type.Object({ ...ofRun, ...taskFinishSchema.properties }),
  on: 'existing',
  prepare: async (request, tools) => {
    const { state, input } = request;
    const ready = await prepared(request, tools);
    const last = state.tasks && taskIn(state.tasks, input.task);
    const isOfPerson = last?.run === input.run && isForPeople(last.to);
    const isChecked =
      state.tasks &&
      isOfPerson &&
      last.status === 'open' &&
      input.result === 'success' &&
      mayRead(request.actor, ready.gbac);
    const before = last?.run === input.run ? last : undefined;
    return {
      ...ready,
      isOfPerson,
      formFaults: isChecked
        ? await formFaults({ work: ready.work, tasks: state.tasks, actor: request.actor }, input, tools)
        : [],
      seal: (value: unknown, of: 'outgoing' | 'error'): unknown =>
        sealSecrets(value, before?.[of], tools.seal, `/${of}`),
    };
  },
  gbac: (_, { gbac }) => gbac,
  decide: (state, input: Report, { actor, refs }) => {
    const { work, isOfPerson, seal } = refs;
    const { result, error, claim: number } = input;
    const outgoing = outputsOf(work, input, isOfPerson);
    refuseUnfitData(refs.formFaults);
    const outcome: Outcome = defined({
      result,
      outgoing: seal(outgoing, 'outgoing') as Members,
      error: error === undefined ? undefined : seal(error, 'error'),
    });
    const report = defined({ task: input.task, run: input.run, outcome, claim: number });
    return decideTasks(state, work, (workflow, tasks) => finish(workflow, tasks, report, actor));
  },
});

const refuseUnfitData = (found: readonly (Fault & { readonly path: string })[]): void => {
  const [first, ...others] = found.map(({ path, message }) => ({ path: `/data${path}`, message }));
  if (first)
    throw new RequestError('invalid', `The data do not fit the form: ${first.path} ${first.message}`, {
      faults: [first, ...others],
    });
};

/** A time of a task has come. `until`: which time, as an event has said it. */
export const wakeTask = command({
  name: 'wakeTask',
  input: Type.Object({ ...ofRun, until: Type.Integer() }),
  on: 'any',
  prepare: async (request, tools) => ({ work: await workOf(request, tools) }),
  decide: (state, { task, run, until }, { refs: { work } }) => {
    const now = state.tasks && taskIn(state.tasks, task);
    if (!work || now?.run !== run || now.until !== until) return [];
    // The caller has counted the time by a clock that does not jump.
    return goOn(state, 'broken' in work ? work : { ...work, now: Math.max(work.now, until) });
  },
});

/** The service goes on with a job in which more was to be done than one decision does. */
const advanceJob = command({
  name: 'advanceJob',
  input: Type.Object({}),
  on: 'any',
  prepare: async (request, tools) => ({ work: await workOf(request, tools) }),
  decide: (state, _, { refs: { work } }) => goOn(state, work),
});

/** Moves of one job are open to all who may see it. */
const ofJob = {
  prepare: async (request: Pick<Asked<unknown>, 'id' | 'state' | 'actor' | 'now'>, tools: Tools) => ({
    gbac: await accessListThatDenies(request.actor, request.state, tools),
    work: await workOf(request, tools),
    seal: tools.seal,
  }),
  gbac: (_: JobState, { gbac }: { readonly gbac: Awaited<ReturnType<typeof accessListThatDenies>> }) => gbac,
};

/** A job that has ended may be retired: a retry and that must not cross. */
const lockOfRetry = (state: JobState): string | undefined =>
  hasEnded(state) ? retirementLock(job.category) : undefined;

/** Begins a new run of a task that blocks a job, or answers in its place. */
export const retryTask = command({
  name: 'retryTask',
  input: Type.Object({
    task: Type.String(),
    result: Type.Optional(Type.Enum(['success', 'failure'])),
    outgoing: outcomeMembers.outgoing,
  }),
  on: 'existing',
  locks: lockOfRetry,
  ...ofJob,
  prepare: async (request, tools) => {
    const { id, input, state, actor } = request;
    const ready = await ofJob.prepare(request, tools);
    // An answer in the place of people is theirs to give.
    return input.result === undefined
      ? ready
      : { ...ready, gbac: await listThatDeniesTask(actor, state, { job: id, task: input.task }, tools) };
  },
  decide: (state, { task, result, outgoing }, { refs: { work, seal } }) => {
    const answer = result && { result, outgoing: sealSecrets(outgoing ?? {}, {}, seal, '/outgoing') as Members };
    return decideTasks(state, work, (workflow, tasks) => retry(workflow, tasks, defined({ task, outcome: answer })));
  },
});

/** Lets a job in error go back to a task that has run. */
export const continueJob = command({
  name: 'continueJob',
  input: Type.Object({ fromTask: Type.String(), variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
  on: 'existing',
  locks: lockOfRetry,
  ...ofJob,
  decide: (state, { fromTask, variables }, { refs: { work, seal } }) => {
    const set = variables && (sealSecrets(variables, {}, seal, '/variables') as Members);
    return decideTasks(state, work, (workflow, tasks) =>
      continueFrom(workflow, tasks, defined({ task: fromTask, variables: set })),
    );
  },
});

/** Goes on where a decision did not do all that can be done. */
const advanceMore = async ({ stream }: { readonly stream: string }) => [
  { command: advanceJob, id: splitStream(stream).id, input: {} },
];

export const taskReactions: readonly Reaction[] = [
  {
    of: job,
    background: true,
    when: ({ data }: { readonly data: { readonly more?: true } }) => data.more === true,
    on: {
      taskStarted: advanceMore,
      childrenBegun: advanceMore,
      taskOffered: advanceMore,
      taskFinished: advanceMore,
      tasksReverted: advanceMore,
      jobDescribed: advanceMore,
    },
  },
];
