import {
  complianceReport,
  type StoredReport,
  subjectOf,
} from '../../domain/configuration-manager/complianceReports.ts';
import { idOf, projection } from '../engine/define.ts';
import { allGuards, documentGuard } from '../engine/guards.ts';
import { inventories } from '../inventory-manager/inventories.ts';
import { plans } from './plans.ts';

/** `followed`: when a newer report on the same device and node was stored; null: this is the newest. */
export type ReportDoc = { readonly _id: string; readonly followed: string | null } & StoredReport;

/** The report as it is answered. */
export const reportIn = ({ _id, followed: _, inventory: __, ...report }: ReportDoc): StoredReport => report;

type OfNode = Pick<StoredReport, 'treeId' | 'version' | 'nodeId'>;

/** The value of `newestOf` for a node of a tree. */
export const newestOfNode = ({ treeId, version, nodeId }: OfNode): string => `${treeId} ${nodeId} ${version}`;

/** The value of `newestOf` for all trees. No tree has this id. */
export const anyTree = '*';

/** The newest report of its device, node and plan; one on a copy says nothing of the device as it is now. */
const isNewest = ({ followed, backupId }: ReportDoc): boolean => followed === null && backupId === undefined;

/**
 * Reports of compliance checks. A report is read by those who may read its plan, and the inventory of its device. The newest
 * of each device, node, plan and inventory are found by their subject.
 */
export const complianceReports = projection<ReportDoc>()(complianceReport, {
  collection: 'complianceReports',
  on: {
    complianceReported: (_, event) => {
      const { follows: _follows, ...report } = event.data;
      return { _id: idOf(event), followed: null, ...report };
    },
    deviceComplianceChanged: (doc) => doc,
    complianceReportFollowed: (doc, { metadata: { at } }) => doc && { ...doc, followed: at },
  },
  retires: {
    ended: (doc) => doc.followed ?? (isNewest(doc) ? undefined : doc.timestamp),
    from: 'timestamp',
  },
  guard: ({ planId, inventory = null }) =>
    allGuards([
      planId === null ? undefined : documentGuard(plans, planId),
      inventory === null ? undefined : documentGuard(inventories, inventory),
    ]),
  sorts: {
    subject: (doc) => (isNewest(doc) ? subjectOf(doc) : `${subjectOf(doc)}\n${doc._id}`),
    timestamp: ({ timestamp }) => timestamp,
  },
  filters: {
    batchId: ({ batchId }) => batchId,
    planId: ({ planId }) => planId ?? [],
    treeId: ({ treeId }) => treeId,
    version: ({ version }) => version,
    nodeId: ({ nodeId }) => nodeId,
    /** Histories are of devices as they were. */
    deviceName: ({ deviceName, backupId }) => (backupId === undefined ? deviceName : []),
    status: ({ status }) => status,
    /** The node and the tree of which it is a newest report, and `anyTree`. */
    newestOf: (doc) => (isNewest(doc) ? [anyTree, doc.treeId, newestOfNode(doc)] : []),
  },
});
