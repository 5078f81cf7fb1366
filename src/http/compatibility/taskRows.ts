import { isObject, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { performAlone } from '../../commands/operations-manager/jobWorkflows.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type CatalogTask, foreignTasks, withForeign } from '../../domain/operations-manager/workflows/taskCatalog.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import { perVersion } from '../../projections/engine/perVersion.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';

const access = ['operators', 'readers'] as const;
const text = (description: string) => Type.String({ description });

type OfWorkflow = { readonly id: string; readonly tasks: readonly CatalogTask[] };

/** The tasks of other programs that each workflow has, once for each version of all workflows. */
const tasksOfWorkflows = perVersion(workflows.collection, async (model: ReadModel): Promise<readonly OfWorkflow[]> => {
  const all: OfWorkflow[] = [];
  for await (const entries of pagesOf(model, workflows, { sort: 'name', order: 1 }))
    for (const entry of entries) {
      const tasks = foreignTasks(documentIn(workflows, entry));
      if (tasks.length > 0) all.push({ id: entry.id, tasks });
    }
  return all;
});

/** The tasks that this service knows, and those that workflows have which the actor may read. */
const tasksFor = async (actor: Actor, { model }: Pick<Service, 'model'>): Promise<readonly CatalogTask[]> => {
  const mayRead = mayReadGuard(actor, model);
  const found = (await tasksOfWorkflows(model, '')).filter(({ id }) => {
    const guard = model.guard(workflows.collection, id);
    return guard !== undefined && (guard === null || mayRead(guard));
  });
  return withForeign(found.flatMap(({ tasks }) => tasks));
};

const outline = ({ app, name, type, location, summary }: CatalogTask) => ({
  name,
  app,
  type,
  location,
  canvasName: name,
  displayName: app,
  summary,
});

const outlineMembers = {
  name: text('Name of the task'),
  app: text('Application or adapter'),
  type: Type.Enum(['automatic', 'operation', 'manual'], { description: 'manual: people do it' }),
  location: Type.Enum(['Application', 'Adapter']),
  canvasName: text('The same as name'),
  displayName: text('The same as app'),
  summary: text('Name in words'),
};

const schemas = (description: string) =>
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description }));

const detailSchema = Type.Object(
  {
    ...outlineMembers,
    variables: Type.Object({
      incoming: schemas('JSON Schemas of the inputs by name'),
      outgoing: schemas('JSON Schemas of the outputs by name'),
    }),
  },
  { title: 'TaskDetails', description: 'Task that workflows may have, with its inputs and outputs' },
);

const detailOf = (task: CatalogTask) => ({
  ...outline(task),
  variables: { incoming: task.incoming, outgoing: task.outgoing },
});

type Named = { readonly location: string; readonly pckg: string; readonly method: string };

const found = (tasks: readonly CatalogTask[], { location, pckg, method }: Named, path: string): CatalogTask => {
  const task = tasks.find((one) => one.location === location && one.app === pckg && one.name === method);
  if (task) return task;
  throw new RequestError('not_found', `There is no task ${pckg}.${method} of the location ${location}`, { path });
};

const dereference = {
  dereferenceSchemas: Type.Boolean({ description: 'Means nothing: the schemas refer to nothing' }),
};

/** Rows of the tasks that workflows may have: `/automation-studio`. */
export const studioTaskRows = [
  actionRoute({
    name: 'getAppsList',
    method: 'get',
    reads: true,
    path: '/apps/list',
    access,
    summary: 'List the applications and adapters of tasks',
    answer: Type.Array(
      Type.Object({ name: text('Application or adapter'), type: Type.Enum(['Application', 'Adapter']) }),
    ),
    run: async ({ actor }, service) => {
      const types = new Map((await tasksFor(actor, service)).map(({ app, location }) => [app, location]));
      return { body: [...types].map(([name, type]) => ({ name, type })) };
    },
  }),
  actionRoute({
    name: 'getTaskDetails',
    method: 'get',
    reads: true,
    path: '/locations/:location/packages/:pckg/tasks/:method',
    access,
    summary: 'Get the inputs and outputs of a task',
    query: dereference,
    answer: detailSchema,
    run: async ({ actor, params }, service) => ({
      body: detailOf(found(await tasksFor(actor, service), params, 'method')),
    }),
  }),
  actionRoute({
    name: 'getMultipleTaskDetails',
    method: 'post',
    path: '/multipleTaskDetails',
    access,
    summary: 'Get the inputs and outputs of several tasks',
    description: 'In the order of the request. Nothing is stored.',
    query: dereference,
    body: Type.Object(
      {
        inputsArray: Type.Array(
          Type.Object(
            {
              location: text('Application or Adapter'),
              pckg: text('Application or adapter that has the task'),
              method: text('Name of the task'),
            },
            { additionalProperties: false },
          ),
          { maxItems: 1000, description: 'Tasks to look up' },
        ),
      },
      { additionalProperties: false },
    ),
    answer: Type.Array(detailSchema),
    run: async ({ actor, body }, service) => {
      const tasks = await tasksFor(actor, service);
      return { body: body.inputsArray.map((one, i) => detailOf(found(tasks, one, `/inputsArray/${i}`))) };
    },
  }),
];

/** `/workflow_builder`. */
export const builderTaskRows = [
  actionRoute({
    name: 'getTasksList',
    method: 'get',
    reads: true,
    path: '/tasks/list',
    access,
    summary: 'List the tasks that workflows may have',
    description:
      'Those that this service knows, and those of workers and people that workflows have which the caller may read.',
    answer: Type.Array(Type.Object(outlineMembers)),
    run: async ({ actor }, service) => ({ body: (await tasksFor(actor, service)).map(outline) }),
  }),
];

const anyJob = Type.Optional(Type.Unknown({ description: 'Means nothing: no job is looked at' }));

/** A group with `operator` says by it whether all of its rows must hold. */
const groupIn = (group: unknown): unknown => {
  if (!isObject(group) || !Object.hasOwn(group, 'operator')) return group;
  const { operator, ...rest } = group;
  if (operator !== 'AND' && operator !== 'OR')
    throw new RequestError('unprocessable', 'The operator of a group is AND or OR');
  return { ...rest, all_true_flag: operator === 'AND' };
};

/** `/workflow_engine`: data tasks without a job. */
export const engineRows = [
  actionRoute({
    name: 'runEvaluationGroups',
    method: 'post',
    path: '/runEvaluationGroups',
    access,
    summary: 'Evaluate groups of comparisons',
    description:
      'As the task evaluation does; operands are values or {task: "static", variable}. Nothing is stored. 422 for what ' +
      'would be the error of the task.',
    large: true,
    body: Type.Object(
      {
        evaluation_groups: Type.Array(Type.Unknown(), { maxItems: 10_000, description: 'As of the task' }),
        all_true_flag: Type.Optional(Type.Boolean({ description: 'True: all groups must hold; false: one is enough' })),
        job_id: anyJob,
      },
      { additionalProperties: false },
    ),
    answer: Type.Boolean({ description: 'True if they hold' }),
    run: async ({ body }, { tools, moment }) => {
      const { evaluation_groups: groups, all_true_flag } = body;
      const inputs = { evaluation_groups: groups.map(groupIn), all_true_flag };
      return { body: performAlone('evaluation', inputs, moment().now, tools).outgoing?.return_value };
    },
  }),
  actionRoute({
    name: 'runQuery',
    method: 'post',
    path: '/query',
    access,
    summary: 'Look into a value',
    description: 'As the task query does. null if nothing is found. Nothing is stored.',
    large: true,
    body: Type.Object(
      {
        query: Type.String({ maxLength: 65_536, description: 'Path to look for' }),
        obj: Type.Unknown({ description: 'Value to look into' }),
        pass_on_null: Type.Optional(Type.Unknown({ description: 'Means nothing here' })),
        job_id: anyJob,
      },
      { additionalProperties: false },
    ),
    answer: Type.Unknown({ description: 'The value' }),
    run: async ({ body }, { tools, moment }) => ({
      body: performAlone('query', { query: body.query, obj: body.obj }, moment().now, tools).outgoing?.return_data,
    }),
  }),
];
