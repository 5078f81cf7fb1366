import { type BatchDoc, complianceBatch } from '../../domain/configuration-manager/complianceBatches.ts';
import { idOf, projection } from '../engine/define.ts';
import { allGuards, documentGuard } from '../engine/guards.ts';
import { inventories } from '../inventory-manager/inventories.ts';
import { plans } from './plans.ts';

type NodeStatus = BatchDoc['nodes'][number]['status'];

const nodesIn = ({ nodes }: BatchDoc, status: NodeStatus): BatchDoc['nodes'] =>
  nodes.map((node) => ({ ...node, status }));

/** The run with these inventories, each once. */
const naming = (doc: BatchDoc, more: readonly string[] = []): BatchDoc =>
  more.length === 0 ? doc : { ...doc, inventories: [...new Set([...(doc.inventories ?? []), ...more])] };

/** Runs of compliance checks. A run is read by those who may read its plan, and all inventories of its devices. */
export const complianceBatches = projection<BatchDoc>()(complianceBatch, {
  collection: 'complianceBatches',
  on: {
    complianceRunRequested: (_, event) => {
      const { job, plan, inventories: named } = event.data;
      const none = { finished: null, nodes: [], devices: 0, totals: null, grade: null, failed: [] };
      return naming({ _id: idOf(event), job, planId: plan, started: event.metadata.at, ...none }, named);
    },
    complianceRunStarted: (doc, event) => {
      const {
        data: { job, plan, nodes, failed, inventories: named },
        metadata: { at },
      } = event;
      const started: BatchDoc = {
        ...doc,
        _id: idOf(event),
        job,
        planId: plan,
        started: at,
        finished: null,
        nodes: nodes.map(({ treeId, nodeId, devices }) => ({
          treeId,
          nodeId,
          status: 'running',
          devices: devices.length,
        })),
        devices: new Set(nodes.flatMap(({ devices }) => devices)).size,
        totals: null,
        grade: null,
        failed: [...failed],
      };
      return naming(started, named);
    },
    complianceRunStopped: (doc, { data: { status }, metadata: { at } }) =>
      doc && { ...doc, finished: at, nodes: nodesIn(doc, status) },
    complianceRunResumed: (doc) => doc && { ...doc, finished: null, nodes: nodesIn(doc, 'running') },
    compliancePlanRan: (doc, { data: { totals, grade, failed, inventories: named }, metadata: { at } }) =>
      doc &&
      naming(
        {
          ...doc,
          finished: at,
          nodes: nodesIn(doc, 'completed'),
          totals,
          grade: grade as BatchDoc['grade'],
          failed: [...failed],
        },
        named,
      ),
  },
  retires: { ended: ({ finished }) => finished ?? undefined, from: 'started' },
  guard: ({ planId, inventories: named = [] }) =>
    allGuards([
      planId === null ? undefined : documentGuard(plans, planId),
      ...named.map((id) => documentGuard(inventories, id)),
    ]),
  sorts: { started: ({ started }) => started },
  filters: {
    job: ({ job }) => job,
    planId: ({ planId }) => planId ?? [],
    treeId: ({ nodes }) => nodes.map(({ treeId }) => treeId),
  },
});
