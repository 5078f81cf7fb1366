import { lruCache } from '@automation-platform/concurrency';
import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { entriesIn } from '../../domain/engine/layeredMap.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import {
  type ChildStart,
  carryOut,
  type JobMove,
  type JobState,
  job,
  noteInventories,
  startChild as start,
  type Variables,
  withoutOrigin,
} from '../../domain/operations-manager/jobs.ts';
import { decideTasks, refuseUnfit, type StartedWorkflow } from '../../domain/operations-manager/jobWorkflows.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import {
  type BegunChildren,
  type ChildEnd,
  type ChildOfTask,
  childrenUnderWay,
} from '../../domain/operations-manager/workflows/children.ts';
import {
  childVariables,
  isWaitedFor,
  itemInputs,
  noteChild as note,
  transformationOfItems,
} from '../../domain/operations-manager/workflows/childTasks.ts';
import { runIdOf } from '../../domain/operations-manager/workflows/runIds.ts';
import { taskOf } from '../../domain/operations-manager/workflows/taskClaims.ts';
import { messageOf } from '../../domain/operations-manager/workflows/taskOutcomes.ts';
import { taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import { jobs } from '../../projections/operations-manager/jobs.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { whyNotRun } from '../engine/access.ts';
import { commandsOf, type Preparing, type Tools } from '../engine/define.ts';
import { type Next, type Reaction, requestFor } from '../engine/reactions.ts';
import { transformationNamed, transformedBy } from '../template-builder/transformations.ts';
import { beginningOf, inputsNow, readJob } from './jobReading.ts';
import { moveJob } from './jobs.ts';
import { workflowToStart, workOf } from './jobWorkflows.ts';

const command = commandsOf(job);

/** The id of a child: the same whatever stops in between, so that no child begins twice. */
export const childIdOf = (parent: string, { task, run, index }: ChildOfTask): string =>
  derivedId(`job ${parent} ${task} ${run} ${index}`);

type ChildToStart = { readonly parent: string } & ChildOfTask;

type Prepared = { readonly child: ChildStart; readonly running: StartedWorkflow };

const never = new AbortController().signal;

/** The variables that a transformation makes for a child. Another try gives the same. */
const transformedItem = async (
  idOrName: string,
  incoming: Members,
  { parent: job, task, run, index, actor }: ChildToStart & { readonly actor: Actor },
  tools: Tools,
): Promise<Members> => {
  const document = await transformationNamed(idOrName, tools, actor);
  if (!document) throw new RequestError('not_found', `There is no transformation ${JSON.stringify(idOrName)}`);
  const runOfTask = runIdOf({ job, task, run });
  const about = { incoming, now: await beginningOf(runOfTask, tools), runId: `${runOfTask}.${index}` };
  return transformedBy(document, about, { account: actor.id, signal: never }, tools);
};

/** The account that started a job, with its rights of now. Throws `forbidden` if it is deleted or inactive. */
const starterOf = async (id: string, { shown, accountNow }: Tools): Promise<Actor> => {
  const { created_by: by = '' } = (await shown(jobs, id)) ?? {};
  const actor = await accountNow(by);
  if (!actor) throw new RequestError('forbidden', 'The account that started the job is deleted or inactive');
  return actor;
};

/** The start of a child. Throws `RequestError` if it cannot begin. */
const childStartOf = async (
  { id, input, now }: Pick<Preparing<JobState, ChildToStart>, 'id' | 'input' | 'now'>,
  tools: Tools,
): Promise<Prepared> => {
  const { parent, task: taskId, run, index } = input;
  const state = await tools.state(job, parent);
  const read = await readJob(parent, state, tools);
  const { started } = state;
  const isOpen = read && taskIn(read.tasks, taskId).run === run && taskIn(read.tasks, taskId).status === 'open';
  if (!started || !isOpen || state.status === 'canceled')
    throw new RequestError('conflict', 'Its task is not under way any more');
  const actor = await starterOf(parent, tools);
  const task = taskOf(read, taskId);
  const inputs = inputsNow(read, task);
  const { startedWith = read.tasks.variables } = taskIn(read.tasks, taskId);
  const scope = { state: read.tasks, job: read.self, variables: startedWith };
  const idOrName = transformationOfItems(inputs);
  const plain =
    idOrName === undefined
      ? childVariables(scope, task, inputs, index)
      : await transformedItem(idOrName, itemInputs(scope, task, inputs, index), { ...input, actor }, tools);
  const variables = withoutOrigin(sealSecrets(plain, plain, tools.seal) as Variables);
  const level = (read.self.level ?? 0) + 1;
  const name = String(inputs.workflow);
  const running = await workflowToStart(name, { id, actor, now, variables, level }, tools);
  const notRun = running && (await whyNotRun({ of: workflow, id: running.id }, actor, tools));
  if (!running || notRun?.code === 'not_found')
    throw new RequestError('not_found', `There is no workflow ${JSON.stringify(name)}`);
  if (notRun) throw notRun;
  refuseUnfit(running);
  const { automation, groups, watchers, depth = 0 } = started;
  const origin = { job: parent, task: taskId, run, index, level };
  const { inventories } = state;
  const named = defined({ inventories: inventories && [...inventories] });
  return { child: { name, variables, automation, groups, watchers, depth, parent: origin, ...named }, running };
};

const ofService: readonly string[] = ['unavailable', 'internal', 'limited'];

/** The work, or the error of a child that cannot begin. A failure of the service is none: it is tried again. */
const orRefusal = async <V>(work: () => Promise<V>): Promise<V | { readonly refused: RequestError }> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestError) || ofService.includes(error.code)) throw error;
    return { refused: error };
  }
};

/** Starts a child. If it cannot begin, nothing happens: `noteChild` says so. */
const startChild = command({
  name: 'startChild',
  input: Type.Unsafe<ChildToStart>({}),
  on: 'any',
  prepare: async (request, tools) => {
    if (job.exists(request.state)) return undefined;
    const found = await orRefusal(() => childStartOf(request, tools));
    return 'refused' in found ? undefined : found;
  },
  decide: start,
});

/** How it is with a child, as its own stream says. */
const endOf = ({ status, tasks, variables: plain, error }: JobState): ChildEnd => {
  const variables: Members = tasks ? Object.fromEntries(entriesIn(tasks.variables)) : plain;
  if (status === 'complete') return { status, variables };
  if (status === 'error' || status === 'canceled' || status === 'incomplete')
    return defined({ status, variables, error: error === null ? undefined : messageOf(error) });
  return { status: 'running' };
};

/**
 * Notes in a job how it is with one of its children, and all that follows. It looks at the child's own stream, so the order
 * in which it is told does not matter. A child that is not there was to be started before, and could not be.
 */
const noteChild = command({
  name: 'noteChild',
  input: Type.Unsafe<ChildOfTask>({}),
  on: 'any',
  prepare: async ({ id, state, input, now }, tools) => {
    const childId = childIdOf(id, input);
    const child = await tools.state(job, childId);
    const work = await workOf({ id, state, now }, tools);
    if (job.exists(child)) return { end: endOf(child), inventories: child.inventories ?? [], work };
    const found = await orRefusal(() => childStartOf({ id: childId, input: { parent: id, ...input }, now }, tools));
    const why = 'refused' in found ? { error: found.refused.message } : {};
    return { end: { status: 'refused', ...why } as const, inventories: [], work };
  },
  decide: (state, input, { refs: { end, inventories, work } }) => {
    const events = state.tasks && work ? decideTasks(state, work, (_, tasks) => note(tasks, input, end)) : [];
    return events.length > 0 ? [...noteInventories(state, { inventories }), ...events] : [];
  },
});

/**
 * Cancels a child that its task does not wait for: where two nodes lead for a moment, one may begin it after the other has
 * noted that it could not begin, or has canceled the children.
 */
const cancelUnwanted = command({
  name: 'cancelUnwanted',
  input: Type.Unsafe<ChildToStart>({}),
  on: 'any',
  prepare: async (request, tools) => {
    const { parent, ...child } = request.input;
    const { tasks } = await tools.state(job, parent);
    return { isWanted: tasks !== undefined && isWaitedFor(tasks, child), work: await workOf(request, tools) };
  },
  decide: (state, _, context) => (context.refs.isWanted ? [] : carryOut(state, { move: 'cancel' }, context)),
});

/** The events that children follow from: the start of a job, and of the task that begins them. */
type Cause = Pick<NonNullable<Next['about']>, 'actor' | 'causation' | 'correlation'>;
const causes = lruCache<Cause>(10_000);

/**
 * The account that started a job, and the event by which its task began the children: all of them, also those that begin
 * when another one has ended, follow from it.
 */
const causeOf = async (
  { stream, revision, data: { task, run } }: Recorded<ChildOfTask>,
  tools: Tools,
): Promise<Cause> => {
  const key = `${stream} ${task} ${run}`;
  const cause = causes.get(key);
  if (cause) return cause;
  const events = await tools.events(job, splitStream(stream).id, revision);
  const began = events.findLast(({ topic, data }) => {
    const { task: of, run: ofRun } = data as Partial<ChildOfTask>;
    return topic === 'taskStarted' && of === task && ofRun === run;
  });
  const [first] = events;
  if (!first || !began) throw new RequestError('internal', 'The start of the task is not in the stream');
  const { correlation, causation } = requestFor(began);
  const found = { actor: requestFor(first).actor, correlation, causation };
  causes.set(key, found);
  return found;
};

/** Begins children, or lets those go on that had ended in error. */
const begin = async (event: Recorded<ChildOfTask & BegunChildren>, tools: Tools): Promise<readonly Next[]> => {
  const { task, run, indexes, retried } = event.data;
  const parent = splitStream(event.stream).id;
  const about = await causeOf(event, tools);
  const starts = indexes.flatMap((index): readonly Next[] => {
    const child = { task, run, index };
    const id = childIdOf(parent, child);
    return [
      { command: startChild, id, input: { parent, ...child }, about },
      { command: noteChild, id: parent, input: child },
      { command: cancelUnwanted, id, input: { parent, ...child } },
    ];
  });
  const again = retried.flatMap(({ index, run: of }): readonly Next[] => {
    const child = { task, run: of, index };
    return [
      { command: moveJob, id: childIdOf(parent, child), input: { move: 'retry' } },
      { command: noteChild, id: parent, input: child },
    ];
  });
  return [...starts, ...again];
};

/** A job that has ended, or goes on after that, tells the job that it is a part of. */
const tellParent = async ({ stream }: Recorded, { state }: Tools): Promise<readonly Next[]> => {
  const { parent } = (await state(job, splitStream(stream).id)).started ?? {};
  if (!parent?.run) return [];
  const { job: id, task, run, index } = parent;
  return [{ command: noteChild, id, input: { task, run, index } }];
};

const moveAll = (parent: string, children: readonly ChildOfTask[], move: JobMove): readonly Next[] =>
  children.map((child) => ({ command: moveJob, id: childIdOf(parent, child), input: { move } }));

/** The children of a job carry out what becomes of it. */
const carryDown =
  (move: JobMove) =>
  async ({ stream }: Recorded, { state }: Tools): Promise<readonly Next[]> => {
    const { id } = splitStream(stream);
    const { tasks } = await state(job, id);
    const open = tasks ? [...entriesIn(tasks.tasks)] : [];
    const children = open.flatMap(([task, { status, children: of }]) =>
      status === 'open' ? childrenUnderWay(task, of) : [],
    );
    return moveAll(id, children, move);
  };

type Stopping = Recorded<{ readonly stops?: readonly ChildOfTask[] }>;

/** Children whose task has ended before them, or was put back, are broken off. */
const breakOff = async ({ stream, data }: Stopping): Promise<readonly Next[]> =>
  moveAll(splitStream(stream).id, data.stops ?? [], 'cancel');

const cancel = carryDown('cancel');

export const childReactions: readonly Reaction[] = [
  {
    of: job,
    background: true,
    when: ({ data: { stops } }: Stopping) => stops !== undefined,
    on: { taskFinished: breakOff, tasksReverted: breakOff },
  },
  {
    of: job,
    background: true,
    on: {
      childrenBegun: begin,
      jobPaused: carryDown('pause'),
      jobResumed: carryDown('resume'),
      jobCanceled: async (event, tools) => [...(await cancel(event, tools)), ...(await tellParent(event, tools))],
      jobCompleted: tellParent,
      jobErrored: tellParent,
      jobRetried: tellParent,
    },
  },
];
