import { type BatchDoc, complianceBatch } from '../../domain/configuration-manager/complianceBatches.ts';
import { idOf, projection } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { plans } from './plans.ts';

type NodeStatus = BatchDoc['nodes'][number]['status'];

const nodesIn = ({ nodes }: BatchDoc, status: NodeStatus): BatchDoc['nodes'] =>
  nodes.map((node) => ({ ...node, status }));

/** Runs of compliance checks, without the names of their devices. */
export const complianceBatches = projection<BatchDoc>()(complianceBatch, {
  collection: 'complianceBatches',
  on: {
    complianceRunRequested: (_, event) => {
      const { job, plan } = event.data;
      const none = { finished: null, nodes: [], devices: 0, totals: null, grade: null, failed: [] };
      return { _id: idOf(event), job, planId: plan, started: event.metadata.at, ...none };
    },
    complianceRunStarted: (_, event) => {
      const {
        data: { job, plan, nodes, failed },
        metadata: { at },
      } = event;
      return {
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
    },
    complianceRunStopped: (doc, { data: { status }, metadata: { at } }) =>
      doc && { ...doc, finished: at, nodes: nodesIn(doc, status) },
    complianceRunResumed: (doc) => doc && { ...doc, finished: null, nodes: nodesIn(doc, 'running') },
    compliancePlanRan: (doc, { data: { totals, grade, failed }, metadata: { at } }) =>
      doc && {
        ...doc,
        finished: at,
        nodes: nodesIn(doc, 'completed'),
        totals,
        grade: grade as BatchDoc['grade'],
        failed: [...failed],
      },
  },
  retires: { ended: ({ finished }) => finished ?? undefined, from: 'started' },
  guard: ({ planId }) => (planId === null ? undefined : documentGuard(plans, planId)),
  sorts: { started: ({ started }) => started },
  filters: {
    job: ({ job }) => job,
    planId: ({ planId }) => planId ?? [],
    treeId: ({ nodes }) => nodes.map(({ treeId }) => treeId),
  },
});
