import { Type } from 'typebox';
import { cancelExecution } from '../../commands/lifecycle-manager/actionExecutions.ts';
import { actionExecutions } from '../../projections/lifecycle-manager/actionExecutions.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { executionNow, shownExecution } from './resourceModels.ts';
import { executionSchema } from './resourceSchemas.ts';

const path = '/action-executions';
const answer = enveloped(executionSchema);

/** Executions of the actions of all models. */
export const actionExecutionRoutes: readonly Route[] = [
  listRoute({
    name: 'getActionExecutions',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'List executions of actions',
    description: 'The latest first.',
    list: actionExecutions,
    order: -1,
    join: shownExecution,
    envelope: resultsWithMessage('Successfully retrieved action executions'),
    answer: enveloped(Type.Array(executionSchema)),
  }),
  getRoute({
    name: 'getActionExecution',
    method: 'get',
    path: `${path}/:id`,
    access: ['operators', 'readers'],
    summary: 'Get an execution of an action',
    get: actionExecutions,
    join: shownExecution,
    envelope: withMessage('Successfully retrieved action execution'),
    answer,
  }),
  commandRoute({
    name: 'cancelActionExecution',
    method: 'post',
    path: `${path}/:id/cancel`,
    access: ['operators'],
    summary: 'Cancel an execution of an action',
    description: 'Cancels its jobs; it ends once they have. What was complete by then stays so.',
    command: cancelExecution,
    join: executionNow,
    envelope: withMessage('Successfully canceled action execution'),
    answer,
  }),
];
