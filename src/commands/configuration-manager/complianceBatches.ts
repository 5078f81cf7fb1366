import { Type } from 'typebox';
import {
  type BatchEnd,
  type BatchRequest,
  type BatchStart,
  beginBatch,
  complianceBatch,
  endBatch,
  requestBatch,
} from '../../domain/configuration-manager/complianceBatches.ts';
import {
  complianceReport,
  followReport,
  type StoredReport,
  storeReport,
} from '../../domain/configuration-manager/complianceReports.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { commandsOf } from '../engine/define.ts';
import type { Reaction } from '../engine/reactions.ts';

const command = commandsOf(complianceBatch);

/** The id of the batch of a job. */
export const batchOf = (job: string): string => derivedId(`batch ${job}`);

/** Part of the start of a job that checks devices. */
export const requestComplianceBatch = command({
  name: 'requestComplianceBatch',
  input: Type.Unsafe<BatchRequest>({}),
  on: 'any',
  decide: requestBatch,
});

/** Parts of a job that checks devices. */
export const beginComplianceBatch = command({
  name: 'beginComplianceBatch',
  input: Type.Unsafe<BatchStart>({}),
  on: 'any',
  decide: beginBatch,
});
export const endComplianceBatch = command({
  name: 'endComplianceBatch',
  input: Type.Unsafe<Omit<BatchEnd, 'batch' | 'job' | 'plan'>>({}),
  on: 'any',
  decide: endBatch,
});

const ofReport = commandsOf(complianceReport);

export const storeComplianceReport = ofReport({
  name: 'storeComplianceReport',
  input: Type.Unsafe<{ readonly report: StoredReport; readonly before: readonly StoredReport[] }>({}),
  on: 'any',
  decide: storeReport,
});

/** Follows from a newer report on the same subject. */
const followComplianceReport = ofReport({
  name: 'followComplianceReport',
  input: Type.Object({ by: Type.String() }),
  on: 'any',
  decide: followReport,
});

export const complianceReportReactions: readonly Reaction[] = [
  {
    of: complianceReport,
    on: {
      complianceReported: async ({
        stream,
        data: { follows = [] },
      }: Recorded<{ readonly follows?: readonly string[] }>) =>
        follows.map((id) => ({ command: followComplianceReport, id, input: { by: splitStream(stream).id } })),
    },
  },
];
