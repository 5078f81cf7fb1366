import { oneByOne } from '@automation-platform/concurrency';
import { type Members, plainValue, step } from '@automation-platform/json';
import { Type } from 'typebox';
import type { Tools } from '../../commands/engine/define.ts';
import { workflowToStart } from '../../commands/operations-manager/jobWorkflows.ts';
import { transformationNamed } from '../../commands/template-builder/transformations.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import { jobTask, jobVariables } from '../../domain/operations-manager/jobSchemas.ts';
import { refuseUnfit } from '../../domain/operations-manager/jobWorkflows.ts';
import { outcomeMembers } from '../../domain/operations-manager/taskSchemas.ts';
import { transformationsNamed } from '../../domain/operations-manager/workflow.ts';
import type { Answers } from '../../domain/operations-manager/workflows/simulate.ts';
import type { WorkflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import type { Renderer } from '../../southbound/port.ts';
import { withMessage } from '../engine/envelopes.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Runs workflows without a job. */
    readonly simulator: Pick<Renderer, 'simulate'>;
  }
}

/** The id that a simulated job finds in `$var.job._id`. */
const noJob = '0'.repeat(24);

const answerSchema = Type.Object(
  {
    result: Type.Enum(['success', 'failure', 'error'], { description: 'How the run ends' }),
    ...outcomeMembers,
  },
  { additionalProperties: false, title: 'SimulatedAnswer', description: 'How one run of a task ends' },
);

const simulationSchema = Type.Object(
  {
    variables: Type.Optional({ ...jobVariables, description: 'Variables of the start' }),
    answers: Type.Optional(
      Type.Record(Type.String(), Type.Array(answerSchema, { maxItems: 10_000 }), {
        description: 'For a task by its id: how its runs end, the last answer again; without any, in success',
      }),
    ),
  },
  { additionalProperties: false, title: 'Simulation', description: 'The start, and the answers of tasks' },
);

const eventSchema = Type.Object({
  topic: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'As in the stream of a job; secrets are masked' }),
});

const simulatedSchema = Type.Object(
  {
    status: Type.String({ description: 'Status at the end' }),
    error: Type.Unknown({ description: 'The error that ended it; null: none' }),
    variables: jobVariables,
    tasks: Type.Record(Type.String(), jobTask, { description: 'Its tasks by id' }),
    events: Type.Array(eventSchema, { description: 'The events that the stream of a job would have' }),
  },
  { title: 'SimulatedJob', description: 'The run of a workflow without a job' },
);

/** Throws `invalid` for an answer of a task that is not there, and for an error without words. */
const checkAnswers = (answers: Answers, { places }: WorkflowGraph): void => {
  for (const [task, list] of Object.entries(answers)) {
    const refuse = (message: string, where: string): never => {
      throw new RequestError('invalid', message, { path: `/answers${step(task)}${where}` });
    };
    if (!places.has(task)) refuse('There is no such task', '');
    for (const [i, { result, error }] of list.entries())
      if (result === 'error' && error === undefined) refuse('The result error needs an error', `/${i}/error`);
  }
};

const mostCharacters = 16 * 1024 * 1024;

/** Looks up the documents of transformations by names. Throws `unprocessable` if they are too large. */
const lookingUp = (actor: Actor, tools: Tools) => {
  const documents = new Map<string, unknown>();
  let room = mostCharacters;
  return {
    documents: (): Members => Object.fromEntries(documents),
    add: async (idOrName: string): Promise<void> => {
      const document = plainValue(await transformationNamed(idOrName, tools, actor)) ?? null;
      room -= JSON.stringify(document).length;
      if (room < 0)
        throw new RequestError('unprocessable', `Its transformations have more than ${mostCharacters} characters`);
      documents.set(idOrName, document);
    },
  };
};

/** How many transformations a run may name that its document does not. */
const mostFound = 20;

/** The name of the transformation that a run needs; undefined: the text is its end. */
const neededIn = (text: string): string | undefined =>
  text.startsWith('{"needs":') ? (JSON.parse(text) as { readonly needs: string }).needs : undefined;

type Body = { readonly variables?: Members; readonly answers?: Answers };

const simulated = withMessage('Successfully simulated workflow');

const run = async ({ body, params, actor, abandoned }: Call<'id', Body>, service: Service) => {
  const { tools, moment, simulator, entry } = service;
  const { id } = await entry(workflows, params.id, actor);
  const variables = sealSecrets(body.variables ?? {}, {}, tools.seal, '/variables') as Members;
  const now = moment().now;
  const at = new Date(now).toISOString();
  const found = await workflowToStart(id, { id: noJob, actor, now: at, variables }, tools);
  if (!found) throw new RequestError('not_found', 'No such workflow');
  refuseUnfit(found);
  const { graph, job: self } = found.work;
  checkAnswers(body.answers ?? {}, graph);
  const { documents, add } = lookingUp(actor, tools);
  await oneByOne(transformationsNamed(graph.document), add);
  const answers = body.answers ?? {};
  // A run is the same each time. So one that names a further transformation begins again with it.
  for (let round = 0; round <= mostFound; round++) {
    const simulation = { workflow: graph.document, self, now, variables, answers, transformations: documents() };
    const text = await simulator.simulate(simulation, { account: actor.id, signal: abandoned() });
    const needed = neededIn(text);
    if (needed === undefined) return { text: simulated(text) };
    await add(needed);
  }
  throw new RequestError('unprocessable', `It computes the names of more than ${mostFound} transformations`);
};

/** Simulations of workflows (docs/workflows.md). */
export const simulationRoutes: readonly Route[] = [
  actionRoute({
    name: 'simulateWorkflow',
    method: 'post',
    path: '/workflows/:id/simulate',
    access: ['operators', 'readers'],
    summary: 'Run a workflow without a job',
    description:
      'Nothing is stored or called. Data tasks and transformations are carried out, times are over at once, and all other ' +
      'tasks take their answers. 422 if it has faults, the variables do not fit, or it takes longer than 5 s.',
    large: true,
    body: simulationSchema,
    answer: enveloped(simulatedSchema),
    run,
  }),
];
