import { Type } from 'typebox';
import {
  type BatchEnd,
  type BatchStart,
  beginBatch,
  complianceBatch,
  endBatch,
} from '../../domain/configuration-manager/complianceBatches.ts';
import {
  complianceReport,
  type StoredReport,
  storeReport,
} from '../../domain/configuration-manager/complianceReports.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { commandsOf } from '../engine/define.ts';

const command = commandsOf(complianceBatch);

/** The id of the batch of a job. */
export const batchOf = (job: string): string => derivedId(`batch ${job}`);

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
export const storeComplianceReport = commandsOf(complianceReport)({
  name: 'storeComplianceReport',
  input: Type.Unsafe<StoredReport>({}),
  on: 'any',
  decide: storeReport,
});
