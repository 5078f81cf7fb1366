import { cancelExecution } from '../../commands/lifecycle-manager/actionExecutions.ts';
import { actionExecutions } from '../../projections/lifecycle-manager/actionExecutions.ts';
import { withMessage } from '../engine/envelopes.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { executionNow, shownExecution } from './resourceModels.ts';
import { executionSchema } from './resourceSchemas.ts';

const path = '/action-executions';
const answer = enveloped(executionSchema);

const usual = resourceRoutes({
  noun: 'action execution',
  inMessages: 'action executions',
  path,
  one: `${path}/:id`,
  documents: actionExecutions,
  schema: executionSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: shownExecution,
});

/** Executions of the actions of all models. */
export const actionExecutionRoutes: readonly Route[] = [
  usual.list({
    name: 'getActionExecutions',
    summary: 'List executions of actions',
    description: 'The latest first.',
    order: -1,
  }),
  usual.get({ name: 'getActionExecution', summary: 'Get an execution of an action' }),
  commandRoute({
    name: 'cancelActionExecution',
    method: 'post',
    path: `${path}/:id/cancel`,
    access: ['operators'],
    summary: 'Cancel an execution of an action',
    description: 'Cancels its jobs; it ends once they have. Jobs that were complete by then stay so.',
    command: cancelExecution,
    join: executionNow,
    envelope: withMessage('Successfully canceled action execution'),
    answer,
  }),
];
