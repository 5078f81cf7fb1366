import { plainValue } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import {
  addCompliancePlanNodes,
  createCompliancePlan,
  deleteCompliancePlans,
  importCompliancePlan,
  planMeant,
  removeCompliancePlanNodes,
  updateCompliancePlan,
} from '../../commands/configuration-manager/plans.ts';
import {
  formerPlanNodesSchema,
  importedPlanSchema,
  newPlanInEitherForm,
  newPlanNodesSchema,
  planOptionsSchema,
  planSchema,
} from '../../domain/configuration-manager/planSchemas.ts';
import { maskPlan, missingInNodes, plan } from '../../domain/configuration-manager/plans.ts';
import { seesAll } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { type Plan, plans } from '../../projections/configuration-manager/plans.ts';
import { documentIn, pageOf } from '../../projections/engine/documents.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import type { Where } from '../../projections/engine/port.ts';
import { plain, succeeded } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { fromStart, success } from '../engine/schemas.ts';

const path = '/compliance_plans';
const planId = name('Id of the plan');
const join: Join<Plan> = async (plan) => maskPlan(plan);

const search = actionRoute({
  name: 'searchCompliancePlans',
  method: 'post',
  reads: true,
  path: '/search/compliance_plans',
  access: ['operators', 'readers'],
  summary: 'Search compliance plans',
  description: 'Sorted by name.',
  body: closed({
    name: Type.Optional(Type.String({ description: 'Part of the name, in any case' })),
    options: Type.Optional(closed(fromStart)),
  }),
  answer: Type.Object({
    totalCount: Type.Integer(),
    plans: Type.Array(planSchema),
    groups: Type.Array(Type.Object({ plans: Type.Array(planSchema) }), { description: 'The same plans' }),
  }),
  run: async ({ body: { name = '', options: { start = 0, limit = 25 } = {} }, actor }, { model }) => {
    const where: Where<'name'> | undefined = name === '' ? undefined : { field: 'name', op: 'contains', value: name };
    const may = seesAll(actor) ? undefined : mayReadGuard(actor, model);
    const query = defined({ sort: 'name' as const, order: 1 as const, skip: start, limit, where, may });
    const { entries, total } = await pageOf(model, plans, query);
    const found = entries.map((entry) => maskPlan(documentIn(plans, entry)));
    return { body: { totalCount: total, plans: found, groups: [{ plans: found }] } };
  },
});

const importPlans = importRoute({
  name: 'importCompliancePlans',
  method: 'post',
  path: '/import/plans',
  access: ['operators'],
  summary: 'Import compliance plans',
  description:
    'Takes what the GET of a plan gives. Ids, times and authors are kept; trees, versions and nodes must be there. The ' +
    'same plan again is no change; other content under a used id or name is 409 unless overwrite is true.',
  member: 'plans',
  document: importedPlanSchema,
  itemSchema: planSchema,
  status: true,
  take: async ({ document, path, overwrite, fresh, about }, { handle, tools }) => {
    const { id: alias, ...imported } = plainValue(document) as Static<typeof importedPlanSchema>;
    const one = { ...defined({ _id: alias }), ...imported };
    const id = await planMeant(one, fresh, tools);
    const input = { plan: one, overwrite };
    const { doc, position, replayed } = await handle(importCompliancePlan, { ...about, id, input });
    const { content } = await tools.state(plan, id);
    const missingSecrets = missingInNodes(one.nodes ?? [], content.nodes, `${path}/nodes`);
    return { data: maskPlan(doc as Plan), position, replayed, missingSecrets };
  },
});

/** Compliance plans (`updateCompliancePlan` in docs/behaviour/operations-in-detail.md). */
export const planRoutes: readonly Route[] = [
  search,
  importPlans,
  mappedCommandRoute({
    name: 'createCompliancePlan',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create a compliance plan',
    description: 'A draft, unless the options give another status.',
    command: createCompliancePlan,
    body: newPlanInEitherForm,
    input: (_, body) => ('options' in body ? { name: body.name, ...body.options } : body),
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
    body: closed({ planId, options: planOptionsSchema }),
    envelope: succeeded('Successfully updated compliance plan'),
    answer: success,
  }),
  mappedCommandRoute({
    name: 'addCompliancePlanNodes',
    method: 'post',
    path: `${path}/nodes`,
    access: ['operators'],
    summary: 'Add nodes to a compliance plan',
    description: 'One with the same tree, version and nodeId replaces the earlier one.',
    command: addCompliancePlanNodes,
    key: (_, { planId }) => planId,
    body: closed({ planId, ...newPlanNodesSchema.properties }),
    input: (_, { nodes }) => ({ nodes }),
    join,
    envelope: plain,
    answer: planSchema,
  }),
  mappedCommandRoute({
    name: 'removeCompliancePlanNodes',
    method: 'delete',
    path: `${path}/nodes`,
    access: ['operators'],
    summary: 'Remove nodes from a compliance plan, all or none',
    description: 'Nodes that it does not have are 404, naming all. 409 for the last nodes of an active plan.',
    command: removeCompliancePlanNodes,
    key: (_, { planId }) => planId,
    body: closed({ planId, ...formerPlanNodesSchema.properties }),
    input: (_, { nodes }) => ({ nodes }),
    join,
    envelope: plain,
    answer: planSchema,
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
