import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { refuseRun } from '../../commands/engine/access.ts';
import {
  findingsIn,
  planOf,
  transformationCommands,
  transformedBy,
} from '../../commands/template-builder/transformations.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { transformation } from '../../domain/template-builder/transformations.ts';
import { type TransformationDoc, transformations } from '../../projections/template-builder/transformations.ts';
import type { AreaRoutes, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { keptRoutes } from '../keptDocuments/keptRoutes.ts';

const findingSchema = Type.Object(
  {
    code: Type.String({ description: 'Kind of the fault (docs/transformations.md)' }),
    path: Type.String({ description: 'JSON pointer into the document' }),
    message: Type.String(),
  },
  { title: 'TransformationFinding', description: 'Fault or warning of a transformation' },
);

const members = (description: string) =>
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description }));

const runTransformation = actionRoute({
  name: 'runTransformation',
  method: 'post',
  path: '/transformations/:id/run',
  access: ['operators', 'readers'],
  summary: 'Run a transformation',
  description:
    'Computes the outputs, and stores nothing. 422 with step, method and reason where a step fails, and with places ' +
    'where inputs do not fit.',
  large: true,
  body: Type.Object(
    {
      incoming: members('Inputs by name'),
      options: Type.Optional(
        Type.Object(
          {
            validateIncoming: Type.Optional(Type.Boolean({ description: 'True if inputs must fit their schemas' })),
            revertToDefaultValue: Type.Optional(
              Type.Boolean({ description: 'True if an input that is missing is the default of its schema' }),
            ),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({ outgoing: members('Outputs by name; secrets of the document are masked') }),
  run: async ({ params, body, actor, abandoned, requestId }, { entry, tools, moment }) => {
    const { id } = await entry(transformations, params.id, actor);
    await refuseRun({ of: transformation, id }, actor, tools);
    const { content: document } = await tools.state(transformation, id);
    const run = { ...body, now: moment().now, runId: requestId };
    const outgoing = await transformedBy(document, run, { account: actor.id, signal: abandoned() }, tools);
    return { body: { outgoing: maskSecrets(outgoing) } };
  },
});

/** Transformations (docs/transformations.md). */
export const transformationRoutes = (areas: () => readonly AreaRoutes[]): readonly Route[] => [
  ...keptRoutes({
    commands: transformationCommands,
    documents: transformations,
    finding: findingSchema,
    findings: findingsIn,
    summary: {
      members: { steps: Type.Integer({ description: 'How many steps and assignments it has, without its functions' }) },
      of: (doc: TransformationDoc) => ({ steps: doc.steps.length, faults: planOf(doc).faults.length }),
      now: async (size) => size,
    },
    sentences: {
      create: 'The body is the document. One with faults is kept, and cannot run.',
      replace: '409 if it is renamed while a workflow or trigger names it.',
      remove: '409 while a workflow or trigger names it.',
    },
    areas,
  }),
  runTransformation,
];
