import { exactText, isObject, type Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { mayRead } from '../../commands/engine/access.ts';
import { missing } from '../../commands/engine/decide.ts';
import type { CommandResult } from '../../commands/engine/handle.ts';
import { inputsNow, type JobRead, readJob } from '../../commands/operations-manager/jobReading.ts';
import {
  type ClaimedTask,
  finishTask,
  heartbeatTask,
  listThatDeniesTask,
  releaseTask,
  reserveTask,
} from '../../commands/operations-manager/taskReports.ts';
import { same } from '../../domain/engine/changes.ts';
import { type Actor, seesAll } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { orNull } from '../../domain/engine/schemas.ts';
import { clearSecrets, maskNamed, maskSecrets } from '../../domain/engine/secretFields.ts';
import { jobProgress } from '../../domain/operations-manager/jobSchemas.ts';
import { type JobState, job } from '../../domain/operations-manager/jobs.ts';
import {
  type TaskClaim,
  type TaskReport,
  taskClaimSchema,
  taskFinishSchema,
  taskHeartbeatSchema,
  taskReleaseSchema,
} from '../../domain/operations-manager/taskSchemas.ts';
import { wordOfApp, wordOfTask } from '../../domain/operations-manager/taskWords.ts';
import { formOfTask } from '../../domain/operations-manager/workflows/peopleTasks.ts';
import { type RunOfJob, runIdOf, runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import { taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { Task } from '../../domain/operations-manager/workflows/workflows.ts';
import { documentIn, pagesOf, readableDocuments } from '../../projections/engine/documents.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { jobs } from '../../projections/operations-manager/jobs.ts';
import { type OpenTask, type OpenTasksDoc, openTasks } from '../../projections/operations-manager/openTasks.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Call, Common, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { askedOf, claimerOf, refuseOverheard, until } from './jobClaims.ts';

const taskSchema = Type.Object(
  {
    _id: Type.String({ description: 'Id of the run: <job>.<task>.<run>' }),
    job: Type.String({ description: 'Id of the job' }),
    task: Type.String({ description: 'Id of the task in its workflow' }),
    run: Type.Integer({ minimum: 1, description: 'Number of the run' }),
    name: Type.String({ description: 'Name of what it does' }),
    app: Type.String({ description: 'Application' }),
    summary: Type.String({ description: 'Text by which people know it' }),
    groups: Type.Array(Type.String(), { description: 'Groups whose members do it; none: whoever may see the job' }),
    view: orNull(Type.String({ description: 'View in which its editor shows it' })),
    form: Type.Optional(Type.Unknown({ description: 'The form to fill in' })),
    incoming: Type.Record(Type.String(), Type.Unknown(), { description: 'Inputs, with masked secrets' }),
    status: Type.Enum(['waiting', 'claimed', 'done'], { description: 'Where it is' }),
    claim: orNull(
      Type.Object({
        claim: Type.Integer({ description: 'Number of the claim' }),
        worker: Type.String({ description: 'Name of the worker or person' }),
        until: orNull(Type.Integer({ description: 'When it lapses, epoch milliseconds; of people never' })),
      }),
    ),
    since: orNull(Type.String({ description: 'When the run began to wait' })),
    until: orNull(Type.Integer({ description: 'When its time limit is over, epoch milliseconds' })),
    progress: orNull(jobProgress),
  },
  { title: 'Task', description: 'Run of a task of a job' },
);

/** The run that a path names. Throws `not_found` for any other text. */
const runOf = (id: string): RunOfJob => {
  const run = runIn(id);
  if (!run) throw missing('task');
  return run;
};

type Shown = { readonly read: JobRead; readonly of: RunOfJob; readonly task: Task; readonly since: string | null };

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A stored form that a person is to fill in; undefined if the task names none. */
const formShown = async (task: Task, incoming: Members, { model, tools }: Service, actor: Actor): Promise<unknown> => {
  const form = formOfTask(task, incoming);
  if (!form) return undefined;
  if ('schema' in form) return { schema: form.schema };
  const id = await tools.find(forms, form.formId);
  const [found] = id === undefined ? [] : await readableDocuments(model, forms, [id], actor);
  return found ?? null;
};

const statusOf = (isOpen: boolean, isHeld: boolean): 'claimed' | 'waiting' | 'done' => {
  if (!isOpen) return 'done';
  return isHeld ? 'claimed' : 'waiting';
};

/** A run as answers show it. */
const showTask = async ({ read, of, task, since }: Shown, service: Service, actor: Actor) => {
  const { status, claims, to, until: ends } = taskIn(read.tasks, of.task);
  const isOpen = status === 'open';
  const holder = isOpen ? claims.held : null;
  const source = read.graph.document.tasks[of.task];
  const incoming = maskNamed(maskSecrets(inputsNow(read, task)) as Members);
  const form = task.kind === 'people' ? await formShown(task, incoming, service, actor) : undefined;
  return {
    _id: runIdOf(of),
    ...of,
    name: task.name,
    app: task.app,
    summary: task.title,
    groups: to && 'groups' in to ? to.groups : [],
    view: isObject(source) ? textOrNull(source.view) : null,
    ...defined({ form }),
    incoming,
    status: statusOf(isOpen, holder !== null),
    claim: holder && { claim: holder.claim, worker: holder.worker, until: holder.until },
    since,
    until: isOpen ? (ends ?? null) : null,
    progress: service.work.taskProgressOf(runIdOf(of), holder?.claim),
  };
};

/** Looks a run up in its job. Undefined if the workflow cannot be read, or the run is not the task's last. */
const lookUp = async (
  { job: id, task: named, run }: RunOfJob,
  state: JobState,
  service: Service,
): Promise<Shown | undefined> => {
  const of = { job: id, task: named, run };
  const read = await readJob(of.job, state, service.tools);
  const place = read?.graph.places.get(of.task);
  const task = place === undefined ? undefined : read?.graph.tasks[place];
  if (!read || !task || taskIn(read.tasks, of.task).run !== of.run) return undefined;
  const open = (await service.tools.shown(openTasks, of.job))?.open[of.task];
  return { read, of, task, since: open?.run === of.run ? open.since : null };
};

/** The run as a command has left it. */
const shownAfter = async (call: Call<'id'>, { state }: CommandResult, service: Service): Promise<string> => {
  const view = await lookUp(runOf(call.params.id), state as JobState, service); // the state of the command's own aggregate
  return exactText(view ? await showTask(view, service, call.actor) : null);
};

type Listed = { readonly doc: OpenTasksDoc; readonly of: RunOfJob; readonly open: OpenTask };

const kindOf = ({ to }: OpenTask): 'people' | 'worker' | undefined => {
  if (to && 'groups' in to) return 'people';
  return to && 'worker' in to ? 'worker' : undefined;
};

/** True for those who may do a task. One that is not for people is open to all who may see its job. */
const mayDo = ({ to }: OpenTask, { admin, groups }: Actor): boolean =>
  admin || !to || !('groups' in to) || to.groups.length === 0 || to.groups.some((group) => groups.includes(group));

const listQuery = {
  status: Type.Enum(['waiting', 'claimed'], { description: 'Only tasks that wait, or that are claimed' }),
  kind: Type.Enum(['people', 'worker'], { description: 'Only tasks for people, or for workers' }),
  job: Type.String({ description: 'Only tasks of this job' }),
  app: Type.String({ description: 'Only tasks of this application' }),
  groups: Type.String({ description: 'Only tasks for this group' }),
  skip: Type.Integer({ minimum: 0, default: 0, description: 'How many tasks to leave out' }),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'How many tasks at most' }),
} as const;
type ListQuery = { readonly [N in keyof typeof listQuery]?: Static<(typeof listQuery)[N]> };

const fits = ({ open, of }: Listed, { status, kind, job: id, app, groups }: ListQuery): boolean => {
  const { to, claim } = open;
  const found = kindOf(open);
  return (
    found !== undefined &&
    (kind === undefined || kind === found) &&
    (id === undefined || id === of.job) &&
    (status === undefined || (claim !== null) === (status === 'claimed')) &&
    (app === undefined || (to !== null && 'worker' in to && to.worker.app === app)) &&
    (groups === undefined || (to !== null && 'groups' in to && to.groups.includes(groups)))
  );
};

/** The open tasks that the caller may see, the oldest first. */
const listed = async (query: ListQuery, actor: Actor, { model }: Service): Promise<readonly Listed[]> => {
  const { kind, app, groups } = query;
  const live = ['running', 'paused'].map((value) => ({ field: 'status', op: 'equals', value }) as const);
  const fields = [
    { field: 'kind', value: kind },
    { field: 'app', value: app },
    { field: 'group', value: groups },
  ] as const;
  const more = fields.flatMap(({ field, value }) =>
    value === undefined ? [] : [{ field, op: 'equals', value } as const],
  );
  const where = { all: [{ any: live }, ...more] };
  const may = seesAll(actor) ? {} : { may: mayReadGuard(actor, model) };
  const found: Listed[] = [];
  for await (const entries of pagesOf(model, openTasks, { where, sort: 'created', order: 1, length: 100, ...may }))
    for (const entry of entries) {
      const doc = documentIn(openTasks, entry);
      for (const [task, open] of Object.entries(doc.open)) {
        const one = { doc, open, of: { job: doc._id, task, run: open.run } };
        if (fits(one, query) && mayDo(open, actor)) found.push(one);
      }
    }
  return found.sort((a, b) => (a.open.since < b.open.since ? -1 : 1));
};

const claimRow: Pick<Common, 'name' | 'access'> = { name: 'claimTasks', access: ['operators'] };

const claimedSchema = Type.Object(
  { task: taskSchema, claim: Type.Integer({ minimum: 1, description: 'Number of the claim' }), until },
  { title: 'ClaimedTask', description: 'A task that the worker has now, with its secrets in clear' },
);

const heardSchema = Type.Object(
  {
    until: orNull(Type.Integer({ description: 'When the claim lapses, epoch milliseconds' })),
    asked: orNull(Type.Enum(['pause', 'cancel'], { description: 'The request to the worker; null: go on' })),
  },
  { title: 'HeardTaskHeartbeat', description: 'Answer to the worker of a task' },
);

/** The task as it is given out, with its secrets in clear; undefined if they cannot be opened: then it ends in error. */
const givenOut = async (one: ClaimedTask, about: ReturnType<typeof requestOf>, service: Service) => {
  const found = await lookUp(one, one.state, service);
  if (!found) return undefined;
  const view = await showTask(found, service, about.actor);
  const sealed = inputsNow(found.read, found.task);
  try {
    const incoming = clearSecrets(sealed, service.tools.unseal);
    const hasSecrets = !same(maskSecrets(sealed), sealed);
    return { work: { task: { ...view, incoming }, claim: one.claim, until: one.lease.until }, hasSecrets };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { task, run, claim } = one;
    const input = { task, run, claim, result: 'error', error: error.message };
    const { idempotency: _, ...rest } = about;
    await service.handle(finishTask, { ...rest, id: one.job, input });
    return undefined;
  }
};

const componentsOf = ({ apps = [], names = [] }: TaskClaim): readonly string[] => {
  const words = [...apps.map(wordOfApp), ...names.map(wordOfTask)];
  if (words.length === 0)
    throw new RequestError('invalid', 'Name the apps or the names of the tasks that you do', { path: '/apps' });
  return words;
};

const [claimed, heard] = [withMessage('Successfully claimed tasks'), withMessage('Successfully heard heartbeat')];
const listEnvelope = resultsWithMessage('Successfully retrieved tasks');
const answer = enveloped(taskSchema);

/** A change of one run: the answer is the task. */
const change = <Body>(
  command: Parameters<Service['handle']>[0],
  envelope: ReturnType<typeof withMessage>,
  input: (body: Body) => object = () => ({}),
) => ({
  run: async (call: Call<'id', Body>, service: Service) => {
    const about = requestOf(command.name, call, service);
    const { job: id, task, run } = runOf(call.params.id);
    const result = await service.handle(command, { ...about, id, input: { task, run, ...input(call.body) } });
    const text = envelope(await shownAfter(call, result, service));
    return { text, position: result.position, replayed: result.replayed };
  },
});

/** Tasks of jobs that run workflows, as workers and people get them (docs/workflows.md). */
export const taskRoutes: readonly Route[] = [
  actionRoute({
    name: 'getTasks',
    method: 'get',
    path: '/tasks',
    access: ['operators', 'readers'],
    reads: true,
    summary: 'List tasks that wait',
    description:
      'Open tasks of jobs that run workflows, the oldest first: those for people that the caller may do, and those for ' +
      'workers. Those who may not see a job see none of its tasks.',
    query: listQuery,
    answer: enveloped(Type.Array(taskSchema)),
    run: async ({ query, actor }: Call<never, unknown, ListQuery>, service) => {
      const { skip = 0, limit = 25 } = query;
      const all = await listed(query, actor, service);
      const texts: string[] = [];
      for (const { of } of all.slice(skip, skip + limit)) {
        const view = await lookUp(of, await service.tools.state(job, of.job), service);
        if (view) texts.push(exactText(await showTask(view, service, actor)));
      }
      return { text: listEnvelope(texts, { skip, limit, total: all.length }) };
    },
  }),
  actionRoute({
    ...claimRow,
    method: 'post',
    path: '/tasks/claim',
    untimed: true,
    summary: 'Claim tasks to work on',
    description:
      'The oldest tasks for workers of these apps, names and adapters; automations take turns. If there is none, the ' +
      'answer waits for the next one, for as long as asked. The inputs have their secrets in clear, so the caller must be ' +
      'on this machine or come over TLS. A claim lapses unless heartbeats extend it; then the task is offered again, and ' +
      'after three lost claims it ends in error. With an Idempotency-Key a job gives out one task at most.',
    body: taskClaimSchema,
    answer: enveloped(Type.Array(claimedSchema)),
    run: async (call: Call<never, TaskClaim>, service) => {
      refuseOverheard(call);
      const { adapters, worker, max = 1, lease = 300, wait = 0 } = call.body;
      const about = { ...requestOf(claimRow.name, call, service), ifRevision: undefined };
      const components = componentsOf(call.body);
      const actorNow = () => claimerOf(call, claimRow, service);
      const query = { components, adapters, worker, max, lease, about, actorNow };
      const { jobs: got, replayed } = await service.work.claimTasks(query, wait * 1000, call.abandoned());
      const all = await Promise.all(got.map((one) => givenOut(one, about, service)));
      const works = all.flatMap((one) => one?.work ?? []);
      const position = got.length > 0 ? Math.max(...got.map((one) => one.position)) : undefined;
      const inClear = got.flatMap((one, i) => (all[i]?.hasSecrets ? { kind: job.category, id: one.job } : []));
      return defined({ text: claimed(exactText(works)), replayed, position, inClear });
    },
  }),
  actionRoute({
    name: 'heartbeatTask',
    method: 'post',
    path: '/tasks/:id/heartbeat',
    access: ['operators'],
    summary: 'Report that a worker is at work on a task',
    description:
      'Extends the claim once half of its lease is over. Progress is held by the node that receives it and is not stored. ' +
      'The answer says whether to pause or to stop. A claim that is not held any more is 409.',
    body: taskHeartbeatSchema,
    answer: enveloped(heardSchema),
    run: async (call: Call<'id', Static<typeof taskHeartbeatSchema>>, service) => {
      const about = requestOf(heartbeatTask.name, call, service);
      const { job: id, task, run } = runOf(call.params.id);
      const { claim, progress } = call.body;
      const result = await service.handle(heartbeatTask, { ...about, id, input: { task, run, claim } });
      const { position, replayed } = result;
      const state = result.state as JobState; // the state of the command's own aggregate
      if (progress) service.work.noteTaskProgress(call.params.id, claim, progress);
      const ended = await service.work.endIfGone(id, claim);
      const claims = state.tasks && taskIn(state.tasks, task).claims;
      const ask = ended ? 'cancel' : askedOf(state);
      const text = heard(JSON.stringify({ until: claims?.held?.until ?? null, asked: ask }));
      return { text, position: ended?.position ?? position, replayed };
    },
  }),
  actionRoute({
    name: 'reserveTask',
    method: 'post',
    path: '/tasks/:id/claim',
    access: ['operators'],
    summary: 'Reserve a task for people for yourself',
    description: 'It has no end. Nobody needs it to finish the task; one that another person has claimed is 409.',
    answer,
    ...change(reserveTask, withMessage('Successfully claimed task')),
  }),
  actionRoute({
    name: 'releaseTask',
    method: 'post',
    path: '/tasks/:id/release',
    access: ['operators'],
    summary: 'Give a claimed task back',
    description: 'It waits again. That is no lost claim. The person who holds it may do that, and admins.',
    body: taskReleaseSchema,
    answer,
    ...change(releaseTask, withMessage('Successfully released task'), (body: Static<typeof taskReleaseSchema>) => body),
  }),
  actionRoute({
    name: 'finishTask',
    method: 'post',
    path: '/tasks/:id/finish',
    access: ['operators'],
    large: true,
    summary: 'Report how a task ended',
    description:
      'For workers, and for people. All that follows in the workflow is stored with it. While a worker has claimed the ' +
      'task, the report names that claim. The same report again changes nothing. A run that is not under way any more is ' +
      '409. Data of people must fit the form of the task.',
    body: taskFinishSchema,
    answer,
    ...change(finishTask, withMessage('Successfully finished task'), (body: TaskReport) => body),
  }),
  actionRoute({
    name: 'getTask',
    method: 'get',
    path: '/tasks/:id',
    access: ['operators', 'readers'],
    reads: true,
    summary: 'Get a task',
    description: 'The last run of a task of a job, by its id. Secrets in its inputs are masked.',
    answer,
    run: async (call: Call<'id'>, service) => {
      const of = runOf(call.params.id);
      await service.entryById(jobs, of.job, call.actor);
      const state = await service.tools.state(job, of.job);
      const view = await lookUp(of, state, service);
      const denies = await listThatDeniesTask(call.actor, state, of, service.tools);
      if (!view || !mayRead(call.actor, denies)) throw missing('task');
      return { text: withMessage('Successfully retrieved task')(exactText(await showTask(view, service, call.actor))) };
    },
  }),
];
