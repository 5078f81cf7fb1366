import { Type } from 'typebox';
import { createWorkflow, deleteWorkflow, replaceWorkflow } from '../../commands/operations-manager/workflows.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type WorkflowDoc, workflows } from '../../projections/operations-manager/workflows.ts';
import { signed } from '../authorization/people.ts';
import { acknowledged, resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Join, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';

const workflowSchema = Type.Record(Type.String(), Type.Unknown(), {
  title: 'Workflow',
  description: 'A workflow, with masked secrets',
});

const show: Join<WorkflowDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** Workflows (docs/workflows.md). */
export const workflowRoutes: readonly Route[] = [
  listRoute({
    name: 'getWorkflows',
    method: 'get',
    path: '/workflows',
    access: ['operators', 'readers'],
    summary: 'List workflows',
    list: workflows,
    join: show,
    envelope: resultsWithMessage('Successfully retrieved workflows'),
    answer: enveloped(Type.Array(workflowSchema)),
  }),
  commandRoute({
    name: 'createWorkflow',
    method: 'post',
    path: '/workflows',
    access: ['operators'],
    summary: 'Create a workflow',
    description: 'The body is the document. One with faults is kept, and cannot be started.',
    command: createWorkflow,
    join: show,
    envelope: withMessage('Successfully created workflow'),
    answer: enveloped(workflowSchema),
  }),
  getRoute({
    name: 'getWorkflow',
    method: 'get',
    path: '/workflows/:id',
    access: ['operators', 'readers'],
    summary: 'Get a workflow',
    get: workflows,
    join: show,
    envelope: withMessage('Successfully retrieved workflow'),
    answer: enveloped(workflowSchema),
  }),
  commandRoute({
    name: 'replaceWorkflow',
    method: 'put',
    path: '/workflows/:id',
    access: ['operators'],
    summary: 'Replace a workflow',
    command: replaceWorkflow,
    join: show,
    envelope: withMessage('Successfully replaced workflow'),
    answer: enveloped(workflowSchema),
  }),
  commandRoute({
    name: 'deleteWorkflow',
    method: 'delete',
    path: '/workflows/:id',
    access: ['operators'],
    summary: 'Delete a workflow',
    description: 'Jobs that run it go on. One that an automation names is 409.',
    command: deleteWorkflow,
    envelope: acknowledged('Successfully deleted workflow'),
    answer: enveloped(Type.Null()),
  }),
];
