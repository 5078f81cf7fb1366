import { type Static, type TSchema, Type } from 'typebox';
import { groupRefs } from '../authorization/groups.ts';
import { objectId, time } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

/** The states of a job. Only a running or paused job changes. */
export const jobStatus = Type.Enum(['running', 'complete', 'error', 'canceled', 'paused', 'incomplete'], {
  description: 'Where it is',
});
export type JobStatus = Static<typeof jobStatus>;

/** Any names with any JSON values. */
export const jobVariables = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Its variables; those named like secrets are shown as ********',
});

/** An error as text or as an object. */
export const jobError = Type.Union([Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown())], {
  description: 'The error',
});
export type JobError = Static<typeof jobError>;

const about = {
  description: Type.Optional(Type.String({ description: 'Its purpose' })),
  type: Type.Optional(name('Kind of job; automation or workflow unless given')),
  variables: Type.Optional(jobVariables),
  groups: Type.Optional(groupRefs('Groups whose members may see the job; none: whoever may see its automation')),
};
const workflow = name('Id or name of an automation, or the name of a workflow that workers know');

/** The body of a request that starts a job. */
export const newJobSchema = Type.Object(
  {
    workflow,
    options: Type.Optional(
      Type.Object(about, { additionalProperties: false, description: 'Its description, type, variables and groups' }),
    ),
  },
  { additionalProperties: false, title: 'NewJob', description: 'The automation to run, and its variables' },
);

/** The input of `startJob`: the body, and the origin of a job that no request starts. */
export const jobStartSchema = Type.Object(
  {
    workflow,
    ...about,
    name: Type.Optional(name('Name; that of the automation or workflow unless given')),
    automation: Type.Optional(
      Type.Union([Type.Null(), name('Id')], { description: 'The automation; null: none, whatever bears the name' }),
    ),
    component: Type.Optional(
      Type.Object(
        { type: Type.String(), name: Type.String() },
        { description: 'Component that runs, where no automation names one' },
      ),
    ),
    trigger: Type.Optional(name('Id of the trigger that fired')),
    execution: Type.Optional(name('Id of the action execution that it is a part of')),
    inventories: Type.Optional(Type.Array(Type.String(), { description: 'Inventories whose devices it names' })),
  },
  { additionalProperties: false },
);
export type JobStart = Static<typeof jobStartSchema>;

const nullable = (id: string) => Type.Union([Type.Null(), Type.String()], { description: id });

/** How far the work is, as its worker says. */
export const jobProgress = Type.Object(
  {
    percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'How much is done' })),
    message: Type.Optional(Type.String({ maxLength: 1024, description: 'The present step of the worker' })),
  },
  { additionalProperties: false, description: 'How far it is' },
);
export type JobProgress = Static<typeof jobProgress>;

const either = <S extends TSchema>(schema: S) => Type.Union([Type.Null(), schema]);

/** A task of a job in answers. */
export const jobTask = Type.Object(
  {
    status: Type.Enum(['idle', 'dead', 'waiting', 'claimed', 'running', 'retrying', 'done', 'blocked'], {
      description: 'Where it is; running: the service itself holds it; blocked: its error stops the job',
    }),
    run: Type.Integer({ minimum: 0, description: 'Number of its last run; 0: it has not run' }),
    result: either(Type.Enum(['success', 'failure', 'error', 'loop'], { description: 'How its last run ended' })),
    from: either(time('When its last run began')),
    to: either(time('When its last run ended')),
    claim: either(
      Type.Object({
        claim: Type.Integer({ description: 'Number of the claim' }),
        worker: Type.String({ description: 'Name of the worker or person' }),
        until: either(Type.Integer({ description: 'When it lapses, epoch milliseconds; of people never' })),
      }),
    ),
    until: either(Type.Integer({ description: 'When something happens with it by itself, epoch milliseconds' })),
    error: Type.Unknown({ description: 'The error; null: none' }),
    children: Type.Optional(
      Type.Array(
        Type.Object({
          job: nullable('Id of the job; null: it could not begin'),
          index: Type.Integer({ description: 'Which of the jobs of the task it is' }),
          status: Type.Enum(['running', 'complete', 'error', 'canceled', 'incomplete'], {
            description: 'How it ended; running: the task waits for it',
          }),
        }),
        { description: 'Jobs that the task has begun' },
      ),
    ),
  },
  { title: 'JobTask', description: 'A task' },
);

/** A job in answers. */
export const jobSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: name('Name of the automation or workflow'),
    description: Type.String({ description: 'Its purpose' }),
    type: name('Kind of job'),
    status: jobStatus,
    variables: jobVariables,
    watchers: Type.Array(Type.String(), { description: 'Usernames of those who watch it' }),
    trigger: nullable('Id of the trigger that started it'),
    automation: nullable('Id of the automation that it runs'),
    event: nullable('Id of the event by which its trigger fired'),
    instant: Type.Union([Type.Null(), Type.Integer()], {
      description: 'Instant of the schedule by which its trigger fired, epoch milliseconds',
    }),
    depth: Type.Integer({
      minimum: 0,
      description: 'How many triggers have fired one after the other until it began',
    }),
    parent: Type.Union(
      [
        Type.Null(),
        Type.Object({
          job: Type.String({ description: 'Id of the job' }),
          task: Type.String({ description: 'Its task' }),
          index: Type.Integer({ description: 'Which of the jobs of that task it is' }),
          run: Type.Optional(Type.Integer({ description: 'Run of the task that began it' })),
          level: Type.Optional(Type.Integer({ description: 'How many jobs it is a part of, one in the other' })),
        }),
      ],
      { description: 'Task of another job that it is a part of' },
    ),
    component: Type.Object(
      { type: nullable('Type of the component'), name: Type.String({ description: 'Name of the component' }) },
      { description: 'The component that a worker runs' },
    ),
    groups: Type.Array(Type.String(), {
      description: 'Groups whose members may see it; none: whoever may see its automation',
    }),
    created: time('When it was started'),
    created_by: Type.String({ description: 'The account that started it' }),
    last_updated: time('When it last changed'),
    metrics: Type.Object(
      {
        start_time: time('When it was started'),
        end_time: Type.Union([Type.Null(), time('When it ended')]),
        duration: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
          description: 'Milliseconds from start to end',
        }),
        progress: Type.Optional(
          Type.Number({ minimum: 0, maximum: 1, description: 'Share of its tasks that are done, or never will run' }),
        ),
      },
      { description: 'Times' },
    ),
    error: Type.Union([Type.Null(), jobError], { description: 'The error' }),
    claim: Type.Union(
      [
        Type.Null(),
        Type.Object({
          worker: Type.String({ description: 'Name that the worker gives itself' }),
          until: Type.Integer({ description: 'When the claim lapses unless it is extended, epoch milliseconds' }),
          attempts: Type.Integer({
            minimum: 1,
            description: 'How many workers have had it since its start or last retry, this one included',
          }),
        }),
      ],
      { description: 'The worker that has claimed it; null: none' },
    ),
    progress: Type.Union([Type.Null(), jobProgress], {
      description: 'How far it is, as its worker has told this node; it is not stored',
    }),
    workflow: Type.Union(
      [
        Type.Null(),
        Type.Object({
          id: Type.String({ description: 'Id of the workflow' }),
          revision: Type.Integer({ minimum: 0, description: 'Revision that it runs, whatever the workflow becomes' }),
        }),
      ],
      { description: 'Workflow that the service runs; null: a worker carries out the job as a whole' },
    ),
    tasks: Type.Optional(
      Type.Record(Type.String(), jobTask, { description: 'Its tasks by id; lists do not have them' }),
    ),
    ancestors: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Ids of the jobs that it is a part of, the nearest first; not in lists',
      }),
    ),
  },
  { title: 'Job', description: 'Run of an automation or workflow' },
);
