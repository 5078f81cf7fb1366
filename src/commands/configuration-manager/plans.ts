import type { Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { type GbacInput, groupsIn } from '../../domain/authorization/gbac.ts';
import {
  formerPlanNodesSchema,
  formerPlanSchema,
  importedPlanSchema,
  newPlanInput,
  newPlanNodesSchema,
  type PlanNode,
  planOptionsSchema,
} from '../../domain/configuration-manager/planSchemas.ts';
import {
  addNodes,
  create,
  importOne,
  type PlanRefs,
  plan,
  planDeletions,
  remove,
  removeNodes,
  restore,
  sealNodes,
  sealPlan,
  update,
} from '../../domain/configuration-manager/plans.ts';
import { type TreeState, tree } from '../../domain/configuration-manager/trees.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { importAuthors } from '../authorization/authors.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { deleteDecided } from '../engine/deletions.ts';
import { importedId } from '../engine/imports.ts';
import { by, type Kind, picked } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import type { Reaction } from '../engine/reactions.ts';
import { referrersOfComponent } from '../operations-manager/components.ts';
import { treeReferences } from './trees.ts';

const command = commandsOf(plan);

type Parts = { readonly nodes?: readonly PlanNode[]; readonly gbac?: GbacInput };

const prepare = async ({ input: { nodes = [], gbac } }: { readonly input: Parts }, tools: Tools): Promise<PlanRefs> => {
  const trees: Record<string, TreeState> = {};
  for (const { treeId } of nodes) trees[treeId] ??= await tools.state(tree, treeId);
  return { trees, unknownGroups: await unknownGroups(tools, groupsIn(gbac)) };
};

/** Trees that are to be deleted are gone before a plan looks for them. */
const locks = (_: unknown, { nodes = [] }: Parts): readonly string[] =>
  nodes.length > 0 ? [importing, treeReferences] : [];

export const createCompliancePlan = command({
  name: 'createCompliancePlan',
  input: newPlanInput,
  on: 'new',
  seal: sealNodes('/nodes'),
  prepare,
  locks,
  decide: create,
});
export const updateCompliancePlan = command({
  name: 'updateCompliancePlan',
  input: planOptionsSchema,
  on: 'existing',
  seal: sealNodes('/options/nodes'),
  prepare,
  locks,
  decide: update,
});

export const addCompliancePlanNodes = command({
  name: 'addCompliancePlanNodes',
  input: newPlanNodesSchema,
  on: 'existing',
  seal: sealNodes('/nodes'),
  prepare,
  locks,
  decide: addNodes,
});
export const removeCompliancePlanNodes = command({
  name: 'removeCompliancePlanNodes',
  input: formerPlanNodesSchema,
  on: 'existing',
  decide: removeNodes,
});

/** Makes a plan what it was. An update can only add nodes. */
const restoreCompliancePlan = command({
  name: 'restoreCompliancePlan',
  input: formerPlanSchema,
  on: 'any',
  seal: sealNodes('/nodes'),
  prepare,
  locks,
  decide: restore,
});

/** Imports one plan. `planMeant` chooses the stream. */
export const importCompliancePlan = command({
  name: 'importCompliancePlan',
  input: Type.Object({ plan: importedPlanSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  seal: sealPlan,
  prepare: async ({ id, input }, tools) => ({
    ...(await prepare({ input: input.plan }, tools)),
    ...(await importAuthors({ aggregate: plan, id, documents: [input.plan], ...input }, tools)),
  }),
  locks: () => [importing, treeReferences],
  decide: importOne,
});

/** Like `importedId`. */
export const planMeant = (document: Static<typeof importedPlanSchema>, fresh: string, tools: Tools): Promise<string> =>
  importedId({ aggregate: plan, collection: plans }, document, fresh, tools);

/** Part of a decision to delete plans. */
const removePlan = command({ name: 'removePlan', input: noInput, on: 'any', decide: remove });

export const deleteCompliancePlans = commandsOf(planDeletions.of)({
  name: 'deleteCompliancePlans',
  input: planDeletions.schema,
  on: 'new',
  decide: planDeletions.decide,
  prepare: async ({ input, actor }, tools) => {
    const [missing, closed]: [string[], string[]] = [[], []];
    const referrers: Referrer[] = [];
    for (const id of new Set(input.planIds)) {
      const {
        exists,
        content: { gbac, name },
      } = await tools.state(plan, id);
      if (!exists || !mayRead(actor, gbac)) missing.push(id);
      else if (!mayWrite(actor, gbac)) closed.push(id);
      else referrers.push(...(await referrersOfComponent(tools, 'ucm_compliance_plans', [id, name], actor)));
    }
    return { missing, closed, referrers };
  },
});

export const planReactions: readonly Reaction[] = [deleteDecided(planDeletions, removePlan)];

const asItWas = (former: Members): Members => ({
  ...picked(formerPlanSchema, former),
  created: former.created,
  createdBy: former.createdBy,
});

export const planKind: Kind = {
  of: plan,
  restore: {
    there: by(restoreCompliancePlan, { method: 'updateCompliancePlan', input: asItWas }),
    deleted: by(restoreCompliancePlan, { method: 'createCompliancePlan', input: asItWas }),
  },
};
