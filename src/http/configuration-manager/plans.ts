import { Type } from 'typebox';
import {
  createCompliancePlan,
  deleteCompliancePlans,
  updateCompliancePlan,
} from '../../commands/configuration-manager/plans.ts';
import { planOptionsSchema, planSchema } from '../../domain/configuration-manager/planSchemas.ts';
import { maskPlan } from '../../domain/configuration-manager/plans.ts';
import { defined } from '../../domain/engine/defined.ts';
import { name } from '../../domain/engine/schemas.ts';
import { type Plan, plans } from '../../projections/configuration-manager/plans.ts';
import { documentIn, pageOf } from '../../projections/engine/documents.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import type { Where } from '../../projections/engine/port.ts';
import { plain, succeeded } from '../engine/envelopes.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { fromStart, success } from '../engine/schemas.ts';

const path = '/compliance_plans';
const join: Join<Plan> = async (plan) => maskPlan(plan);

const search = actionRoute({
  name: 'searchCompliancePlans',
  method: 'post',
  reads: true,
  path: '/search/compliance_plans',
  access: ['operators', 'readers'],
  summary: 'Search compliance plans',
  description: 'Sorted by name.',
  body: Type.Object(
    {
      name: Type.Optional(Type.String({ description: 'Part of the name, in any case' })),
      options: Type.Optional(
        Type.Object(
          {
            ...fromStart,
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({ totalCount: Type.Integer(), plans: Type.Array(planSchema) }),
  run: async ({ body: { name = '', options: { start = 0, limit = 25 } = {} }, actor }, { model }) => {
    const where: Where<'name'> | undefined = name === '' ? undefined : { field: 'name', op: 'contains', value: name };
    const may = actor.admin ? undefined : mayReadGuard(actor, model);
    const query = defined({ sort: 'name' as const, order: 1 as const, skip: start, limit, where, may });
    const { entries, total } = await pageOf(model, plans, query);
    return { body: { totalCount: total, plans: entries.map((entry) => maskPlan(documentIn(plans, entry))) } };
  },
});

/** Compliance plans (`updateCompliancePlan` in docs/behaviour/operations-in-detail.md). */
export const planRoutes: readonly Route[] = [
  search,
  commandRoute({
    name: 'createCompliancePlan',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create a compliance plan',
    description: 'A draft.',
    command: createCompliancePlan,
    join,
    envelope: plain,
    answer: planSchema,
  }),
  mappedCommandRoute({
    name: 'updateCompliancePlan',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Update a compliance plan',
    description: 'Each part of the options changes only when present.',
    command: updateCompliancePlan,
    key: (_, { planId }) => planId,
    input: (_, { options }) => options,
    body: Type.Object({ planId: name('Id of the plan'), options: planOptionsSchema }, { additionalProperties: false }),
    envelope: succeeded('Successfully updated compliance plan'),
    answer: success,
  }),
  commandRoute({
    name: 'deleteCompliancePlans',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete compliance plans, all or none',
    description: 'Ids that are not there are 404, naming all; then none is deleted.',
    command: deleteCompliancePlans,
    envelope: succeeded('Successfully deleted compliance plans'),
    answer: success,
  }),
  getRoute({
    name: 'getCompliancePlan',
    method: 'get',
    path: `${path}/:id`,
    access: ['operators', 'readers'],
    summary: 'Get a compliance plan',
    get: plans,
    join,
    envelope: plain,
    answer: planSchema,
  }),
];
