import { Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseClosed, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';
import { texts, topicsOf } from '../engine/topics.ts';

export const planDeletionSchema = Type.Object(
  { planIds: Type.Array(name('Id of a plan'), { description: 'Plans to delete: all or none', maxItems: 1000 }) },
  { additionalProperties: false, title: 'PlanDeletion', description: 'Plans to delete' },
);

const decision = Type.Object({ planIds: texts });
export type PlansDeleted = SchemaData<typeof decision>;

const topics = topicsOf({
  plansDeleted: ['Compliance plans are to be deleted', decision],
});
export type PlanDeletionEvent = EventOf<typeof topics>;

/** The decision to delete several plans, all or none. It is carried out in the streams of the plans. */
export const planDeletion = aggregate<{ readonly decided: boolean }, PlanDeletionEvent>({
  area: 'configuration-manager',
  category: 'planDeletion',
  topics,
  initial: { decided: false },
  evolve: { plansDeleted: () => ({ decided: true }) },
  exists: ({ decided }) => decided,
});

/** `missing`: plans that do not exist or that the actor may not see. `closed`: plans that the actor may not change. */
export type PlanDeletionRefs = {
  readonly missing: readonly string[];
  readonly closed: readonly string[];
  /** The automations that run one of the plans. */
  readonly referrers: readonly Referrer[];
};

export const decideDeletion = (
  _: unknown,
  { planIds }: { readonly planIds: readonly string[] },
  { refs }: Context<PlanDeletionRefs>,
): readonly PlanDeletionEvent[] => {
  const { missing, closed, referrers } = refs;
  refuseUnknownIds(missing, 'compliance plan', '/planIds');
  refuseClosed(closed, 'compliance plan', '/planIds');
  refuseReferred(referrers, 'deleted');
  return planIds.length > 0 ? [{ topic: 'plansDeleted', data: { planIds: [...new Set(planIds)] } }] : [];
};
