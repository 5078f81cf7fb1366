import { type PlanContent, plan, withNodes, withoutNodes } from '../../domain/configuration-manager/plans.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import type { Recorded } from '../../store/event.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { listsGuard } from '../engine/guards.ts';

export type Plan = { readonly _id: string } & PlanContent & Authored;

const set = (doc: Plan | undefined, event: Recorded<Partial<PlanContent>>): Plan | undefined =>
  doc && { ...doc, ...event.data, ...touched(event) };

/** Compliance plans; authors are ids of accounts, groups are names. */
export const plans = projection<Plan>()(plan, {
  collection: 'compliancePlans',
  on: {
    planCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    planNamed: set,
    planDescribed: set,
    planNodesAdded: (doc, event) => doc && { ...doc, nodes: withNodes(doc.nodes, event.data.nodes), ...touched(event) },
    planStatusSet: set,
    planGbacSet: set,
    planNodesRemoved: (doc, event) =>
      doc && { ...doc, nodes: withoutNodes(doc.nodes, event.data.nodes), ...touched(event) },
    planThrottleSet: set,
    planGradingSet: set,
    planRestored: (_, event) => ({ _id: idOf(event), ...event.data }),
    planDeleted: () => undefined,
  },
  word: 'compliance plan',
  component: 'ucm_compliance_plans',
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    status: (doc) => doc.status,
    treeId: (doc) => doc.nodes.map(({ treeId }) => treeId),
    deviceGroup: (doc) => doc.nodes.flatMap(({ deviceGroups = [] }) => deviceGroups),
    groups: ({ gbac }) => [...gbac.read, ...gbac.write],
  },
  guard: ({ gbac }) => listsGuard(gbac),
});
