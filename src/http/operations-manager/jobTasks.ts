import { exactText, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { mayRead } from '../../commands/engine/access.ts';
import { missing } from '../../commands/engine/decide.ts';
import { childIdOf } from '../../commands/operations-manager/jobChildren.ts';
import { type JobRead, lastRunsOf, readJob, readRun } from '../../commands/operations-manager/jobReading.ts';
import { continueJob, listThatDeniesTask, retryTask } from '../../commands/operations-manager/taskReports.ts';
import { defined } from '../../domain/engine/defined.ts';
import { entriesIn } from '../../domain/engine/layeredMap.ts';
import { name, orNull } from '../../domain/engine/schemas.ts';
import { maskNamed, maskSecrets } from '../../domain/engine/secretFields.ts';
import { jobSchema, jobVariables } from '../../domain/operations-manager/jobSchemas.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { outcomeMembers } from '../../domain/operations-manager/taskSchemas.ts';
import type { RunTimes } from '../../domain/operations-manager/workflows/taskHistory.ts';
import { type TaskView, taskViews } from '../../domain/operations-manager/workflows/taskViews.ts';
import type { Task } from '../../domain/operations-manager/workflows/workflows.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { withMessage } from '../engine/envelopes.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';
import { showJob } from './jobs.ts';

type OfJob = { readonly job: string; readonly task: string };

/** The jobs that a task has begun. */
const showChildren = ({ job, task }: OfJob, children: TaskView['children']) =>
  children?.map(({ run, index, status }) => ({
    job: run === null ? null : childIdOf(job, { task, run, index }),
    index,
    status,
  }));

const showTask = (of: OfJob, { claim, error, children, ...view }: TaskView, times: RunTimes | undefined) =>
  defined({
    ...view,
    from: times?.from ?? null,
    to: times?.to ?? null,
    claim: claim && { claim: claim.claim, worker: claim.worker, until: claim.until },
    error: maskSecrets(error),
    children: showChildren(of, children),
  });

/** The ids of the jobs that a job is a part of, the nearest first. */
const ancestorsOf = async ({ parent }: JobDoc, { model }: Service): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let id = parent?.job; id !== undefined && !found.includes(id); ) {
    found.push(id);
    id = (await documentOf(model, jobs, id))?.parent?.job;
  }
  return found;
};

const tasksOf = async (id: string, read: JobRead, last: number, { tools }: Service) => {
  const runs = await lastRunsOf(id, last, tools);
  const { tasks, progress } = taskViews(read.graph, read.tasks);
  const views = Object.entries(tasks).map(
    ([task, view]) => [task, showTask({ job: id, task }, view, runs.get(task))] as const,
  );
  return { tasks: Object.fromEntries(views), progress };
};

/** A job with its tasks. Its variables are those of its stream. */
const showWholeJob = async (doc: JobDoc, service: Service) => {
  const plain = await showJob(doc, service);
  const ancestors = await ancestorsOf(doc, service);
  // A job of its own has the same form, and so the same ETag, as in the answer to its start.
  const whole = ancestors.length > 0 ? { ...plain, ancestors } : plain;
  const { state, revision } = await service.tools.version(job, doc._id);
  const read = await readJob(doc._id, state, service.tools);
  if (!read) return whole;
  const { tasks, progress } = await tasksOf(doc._id, read, revision, service);
  return {
    ...whole,
    variables: maskSecrets(Object.fromEntries(entriesIn(read.tasks.variables))),
    metrics: { ...plain.metrics, progress },
    tasks,
  };
};

const members = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const time = (description: string) => Type.String({ format: 'date-time', description });
const result = Type.Enum(['success', 'failure', 'error', 'loop'], { description: 'How it ended' });
const runTimes = {
  run: Type.Integer({ minimum: 1, description: 'Number of the run' }),
  result: orNull(result),
  from: time('When it began'),
  to: orNull(time('When it ended')),
};

const taskRunSchema = Type.Object(
  {
    task: Type.String({ description: 'Id of the task' }),
    ...runTimes,
    status: Type.String({ description: 'Where the task is now' }),
    incoming: members('Inputs as they were when it began, with masked secrets'),
    outgoing: members('Outputs, with masked secrets'),
    error: Type.Unknown({ description: 'The error; null: none' }),
    runs: Type.Array(Type.Object(runTimes), { description: 'The last 100 runs' }),
  },
  { title: 'TaskRun', description: 'Run of a task' },
);

const mostRuns = 100;
const plainTimes = ({ run, result: of, from, to }: RunTimes) => ({ run, result: of, from, to });

const taskOf = ({ graph }: JobRead, id: string): Task => {
  const task = graph.tasks[graph.places.get(id) ?? -1];
  if (!task) throw missing('task');
  return task;
};

const continueSchema = Type.Object(
  {
    fromTask: name('Id of the task to go back to'),
    variables: Type.Optional({ ...jobVariables, description: 'Variables that are replaced first' }),
  },
  { additionalProperties: false, title: 'JobContinuation', description: 'Where a job goes on' },
);

const retrySchema = Type.Object(
  {
    result: Type.Optional(Type.Enum(['success', 'failure'], { description: 'The answer in the place of the task' })),
    outgoing: outcomeMembers.outgoing,
  },
  { additionalProperties: false, title: 'TaskRetry', description: 'Nothing, or the answer in the place of the task' },
);

/** Jobs that run workflows (docs/workflows.md). */
export const jobTaskRoutes: readonly Route[] = [
  getRoute({
    name: 'getJob',
    method: 'get',
    path: '/jobs/:id',
    access: ['operators', 'readers'],
    summary: 'Get a job',
    description: 'Variables that hold secrets are masked. A job that runs a workflow has its tasks.',
    get: jobs,
    key: ({ id }) => id,
    join: showWholeJob,
    envelope: withMessage('Successfully retrieved job'),
    answer: enveloped(jobSchema),
  }),
  mappedCommandRoute({
    name: 'continueJob',
    method: 'post',
    path: '/jobs/:id/continue',
    access: ['operators'],
    summary: 'Let a job in error go on from a task',
    description:
      'The task, and all that is reached from it, run again. It must have run. Other states are 409, and so is a task in the ' +
      'body of a loop.',
    command: continueJob,
    key: ({ id }) => id,
    body: continueSchema,
    input: (_, body) => body,
    join: showWholeJob,
    envelope: withMessage('Successfully continued job'),
    answer: enveloped(jobSchema),
  }),
  mappedCommandRoute({
    name: 'retryTask',
    method: 'post',
    path: '/jobs/:id/tasks/:task/retry',
    access: ['operators'],
    summary: 'Retry a task that blocks a job',
    description:
      'It runs again; with a result, the caller answers in its place, as only members of its groups may do for a task for ' +
      'people. A task that blocks nothing is 409.',
    command: retryTask,
    key: ({ id }) => id,
    body: retrySchema,
    input: ({ task }, body) => ({ task, ...body }),
    join: showWholeJob,
    envelope: withMessage('Successfully retried task'),
    answer: enveloped(jobSchema),
  }),
  actionRoute({
    name: 'getTaskRun',
    method: 'get',
    path: '/jobs/:id/tasks/:task',
    access: ['operators', 'readers'],
    reads: true,
    summary: 'Get a run of a task of a job',
    description:
      'The last run, or the one that run names, with its inputs as they were when it began. A run of a task for people is ' +
      'shown to those who may do it.',
    query: { run: Type.Integer({ minimum: 1, description: 'Number of the run' }) },
    answer: enveloped(taskRunSchema),
    run: async ({ params, query, actor }: Call<'id' | 'task', unknown, { readonly run?: number }>, service) => {
      const { id } = params;
      await service.entryById(jobs, id, actor);
      const { state, revision } = await service.tools.version(job, id);
      const read = await readJob(id, state, service.tools);
      if (!read) throw missing('task');
      const task = taskOf(read, params.task);
      const denies = await listThatDeniesTask(actor, state, { job: id, task: task.id }, service.tools);
      if (!mayRead(actor, denies)) throw missing('task');
      const found = await readRun(read, { id, task, run: query.run, last: revision }, service.tools);
      const text = exactText({
        task: task.id,
        ...plainTimes(found.run),
        status: taskViews(read.graph, read.tasks).tasks[task.id]?.status,
        incoming: maskNamed(maskSecrets(found.inputs) as Members),
        outgoing: maskSecrets(found.outgoing) as Members,
        error: maskSecrets(found.error),
        runs: found.runs.slice(-mostRuns).map(plainTimes),
      });
      return { text: withMessage('Successfully retrieved task')(text) };
    },
  }),
];
