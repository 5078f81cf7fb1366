import { complianceReport, type StoredReport } from '../../domain/configuration-manager/complianceReports.ts';
import { idOf, projection } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { plans } from './plans.ts';

export type ReportDoc = { readonly _id: string } & StoredReport;

/** Reports of compliance checks. A report is read by those who may read its plan. */
export const complianceReports = projection<ReportDoc>()(complianceReport, {
  collection: 'complianceReports',
  on: { complianceReported: (_, event) => ({ _id: idOf(event), ...event.data }) },
  guard: ({ planId }) => (planId === null ? undefined : documentGuard(plans, planId)),
  sorts: { deviceName: ({ deviceName }) => deviceName, timestamp: ({ timestamp }) => timestamp },
  filters: {
    batchId: ({ batchId }) => batchId,
    planId: ({ planId }) => planId ?? [],
    treeId: ({ treeId }) => treeId,
    version: ({ version }) => version,
    nodeId: ({ nodeId }) => nodeId,
    deviceName: ({ deviceName }) => deviceName,
    status: ({ status }) => status,
  },
});
