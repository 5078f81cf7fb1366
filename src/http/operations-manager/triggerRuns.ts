import { exactText } from '@automation-platform/json';
import { Type } from 'typebox';
import { mayRead } from '../../commands/engine/access.ts';
import { missing } from '../../commands/engine/decide.ts';
import type { RunNotes } from '../../commands/operations-manager/runNotes.ts';
import type { Ran, TriggerRuns } from '../../commands/operations-manager/triggerRuns.ts';
import { defined } from '../../domain/engine/defined.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { jobSchema } from '../../domain/operations-manager/jobSchemas.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { type Incoming, transformationOf } from '../../domain/operations-manager/triggerVariables.ts';
import { pageOf } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { triggers } from '../../projections/operations-manager/triggers.ts';
import { withMessage } from '../engine/envelopes.ts';
import type { Answer, Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { etagOf, newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { showJob } from './jobs.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Starts the jobs of triggers, and notes that it did. */
    readonly runs: TriggerRuns & Pick<RunNotes, 'ran'>;
  }
}

const envelope = withMessage('Successfully started job');

/** The id of the endpoint trigger with this route, if the caller may read it. Throws `not_found`. */
const endpointOf = async (routeName: string, { model }: Service, { actor }: Call): Promise<string> => {
  const query = {
    where: { field: 'routeName', op: 'equals', value: routeName },
    sort: 'name',
    order: 1,
    skip: 0,
    limit: 1,
  } as const;
  const [found] = (await pageOf(model, triggers, { ...query, ...readableBy(actor, model) })).entries;
  if (!found) throw missing(trigger.category);
  return found.id;
};

/** The id of the trigger with this id or name. An id is looked up in the log, which knows it before the read models do. */
const manualOf = async (idOrName: string, { tools, entry }: Service, { actor }: Call): Promise<string> => {
  const { exists, content } = await tools.state(trigger, idOrName);
  if (exists && content && mayRead(actor, (await tools.state(automation, content.actionId)).content.gbac))
    return idOrName;
  return (await entry(triggers, idOrName, actor)).id;
};

type Started = Exclude<Ran, { readonly refused: unknown }>['job'];

const answerOf = async (job: Started, service: Service): Promise<Answer> => {
  const text = exactText(await showJob(job.doc as JobDoc, service)); // the projection of the command's aggregate
  return {
    text: envelope(text, job),
    etag: etagOf(job.revision, text),
    position: job.position,
    replayed: job.replayed,
  };
};

type Asked = {
  readonly operation: string;
  readonly type: 'endpoint' | 'manual';
  /** Finds the id of the trigger. */
  readonly find: () => Promise<string>;
  readonly incoming: Incoming;
};

/** Runs a trigger on behalf of the caller, who must be able to read its automation. */
const runFor = async (
  { operation, type, find, incoming }: Asked,
  call: Call<string, unknown, object>,
  service: Service,
): Promise<Answer> => {
  const { runs, tools } = service;
  const { actor } = call;
  const about = requestOf(operation, call as Call, service);
  const jobId = about.idempotency && newId(about.idempotency.key);
  const before = await runs.again({ ...defined({ jobId }), actor, about });
  if (before) return answerOf(before, service);
  const id = await find();
  const { exists, content } = await tools.state(trigger, id);
  if (!exists || content?.type !== type) throw missing(trigger.category);
  const target = await tools.state(automation, content.actionId);
  if (!target.exists || !mayRead(actor, target.content.gbac)) throw missing(trigger.category);
  const signal = transformationOf(content).kind === 'none' ? undefined : call.abandoned();
  const ran = await runs.run({
    trigger: { id, content },
    automation: { id: content.actionId, content: target.content },
    isNow: true,
    actor,
    given: incoming,
    depth: 0,
    ...defined({ jobId, signal }),
    about,
  });
  if ('refused' in ran) throw ran.refused;
  if (ran.job.changed) runs.ran(id, ran.job.id, ran.at);
  return answerOf(ran.job, service);
};

/** Triggers that people and other systems run (docs/triggers.md). */
export const triggerRunRoutes: readonly Route[] = [
  actionRoute({
    name: 'runEndpointTrigger',
    method: 'post',
    starts: true,
    path: '/triggers/endpoint/:routeName',
    access: ['operators'],
    summary: 'Run an endpoint trigger',
    description:
      'By its routeName. The body must fit the schema of the trigger; its members become the variables of the job, ' +
      'after the transformation if the trigger has one. The caller must be able to read the automation, and watches the job.',
    body: Type.Object(
      {},
      { additionalProperties: true, title: 'EndpointRun', description: 'A value that fits the schema of the trigger' },
    ),
    answer: enveloped(jobSchema),
    run: (call, service) =>
      runFor(
        {
          operation: 'runEndpointTrigger',
          type: 'endpoint',
          find: () => endpointOf(call.params.routeName, service, call as Call),
          incoming: { body: call.body },
        },
        call,
        service,
      ),
  }),
  actionRoute({
    name: 'runManualTrigger',
    method: 'post',
    starts: true,
    path: '/triggers/manual/:id/run',
    access: ['operators'],
    summary: 'Run a manual trigger',
    description:
      'formData replaces that of the trigger; ******** keeps a secret that is stored. It must fit the form of the ' +
      'trigger. A form that has changed since the trigger was saved is 409. The caller must be able to read the automation, and ' +
      'watches the job.',
    body: Type.Object(
      {
        formData: Type.Optional(
          Type.Union([Type.Object({}, { additionalProperties: true, description: 'Values' }), Type.Null()], {
            description: 'Values filled into the form; null or none: those of the trigger',
          }),
        ),
      },
      { additionalProperties: false, title: 'ManualRun', description: 'The values of a manual run' },
    ),
    answer: enveloped(jobSchema),
    run: (call, service) =>
      runFor(
        {
          operation: 'runManualTrigger',
          type: 'manual',
          find: () => manualOf(call.params.id, service, call as Call),
          incoming: { formData: call.body.formData },
        },
        call,
        service,
      ),
  }),
];
