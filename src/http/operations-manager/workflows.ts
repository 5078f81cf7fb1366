import { Type } from 'typebox';
import { missingFor } from '../../commands/operations-manager/readiness.ts';
import { findingsIn, sizeNow, sizeOf, workflowCommands } from '../../commands/operations-manager/workflows.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { readinessOf, readinessSchema } from '../engine/readiness.ts';
import type { AreaRoutes, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { keptRoutes } from '../keptDocuments/keptRoutes.ts';

const findingSchema = Type.Object(
  {
    code: Type.String({ description: 'Kind of the fault (docs/workflows.md)' }),
    task: Type.Union([Type.String(), Type.Null()], {
      description: 'Task that it is about, or the source of an edge; null: the whole',
    }),
    path: Type.String({ description: 'JSON pointer into the document' }),
    message: Type.String(),
  },
  { title: 'Finding', description: 'Fault or warning of a document' },
);

const readinessRoute = actionRoute({
  name: 'getWorkflowReadiness',
  method: 'get',
  path: '/workflows/:id/readiness',
  access: ['operators', 'readers'],
  summary: 'Find what a workflow needs and the platform does not have',
  description:
    'As of now: its faults, tasks for workers, and what its tasks name. A name that a reference gives is not looked at.',
  answer: readinessSchema,
  run: async ({ params, actor }, { entry, tools }) => {
    const { id } = await entry(workflows, params.id, actor);
    return readinessOf([{ category: workflow.category, id, name: id }], (one) => missingFor(one, actor, tools));
  },
});

/** Workflows (docs/workflows.md). */
export const workflowRoutes = (areas: () => readonly AreaRoutes[]): readonly Route[] => [
  readinessRoute,
  ...keptRoutes({
    commands: workflowCommands,
    documents: workflows,
    finding: findingSchema,
    findings: findingsIn,
    summary: {
      members: { tasks: Type.Integer({ description: 'How many tasks it has, without start and end' }) },
      of: sizeOf,
      now: sizeNow,
    },
    sentences: {
      create:
        'The body is the document. One with faults is kept, and cannot be started. The caller needs the methods of the ' +
        'operations that its tasks stand for, too.',
      replace: 'Jobs that run it go on with what they began. 409 if it is renamed while an automation names it.',
      remove: 'Jobs that run it go on. 409 while an automation names it.',
    },
    areas,
  }),
];
