import { Type } from 'typebox';
import {
  type BatchEnd,
  type BatchRequest,
  type BatchStart,
  beginBatch,
  complianceBatch,
  endBatch,
  type RunStop,
  requestBatch,
  stopBatch,
} from '../../domain/configuration-manager/complianceBatches.ts';
import {
  compareGrades,
  complianceReport,
  followReport,
  gradeIn,
  type StoredReport,
  storeReport,
  subjectOf,
} from '../../domain/configuration-manager/complianceReports.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { complianceReports } from '../../projections/configuration-manager/complianceReports.ts';
import { derivedId } from '../../store/derivedIds.ts';
import type { Recorded } from '../../store/event.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';

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

const stops: Readonly<Record<string, RunStop>> = { canceled: 'canceled', error: 'error', incomplete: 'error' };

/** Follows from what becomes of the job. It looks at the job as it is now. */
export const stopComplianceBatch = command({
  name: 'stopComplianceBatch',
  input: Type.Object({ job: Type.String() }),
  on: 'any',
  prepare: async ({ input }, { state }) => ({ stop: stops[(await state(job, input.job)).status ?? ''] ?? null }),
  decide: stopBatch,
});

const ofReport = commandsOf(complianceReport);

export const storeComplianceReport = ofReport({
  name: 'storeComplianceReport',
  input: Type.Unsafe<StoredReport>({}),
  on: 'any',
  decide: storeReport,
});

/** Follows from the report `after`, which is the one before it on the same subject. */
const compareComplianceGrades = ofReport({
  name: 'compareComplianceGrades',
  input: Type.Object({ after: Type.String() }),
  on: 'any',
  prepare: async ({ input: { after } }, { state }) => (await state(complianceReport, after)).report,
  decide: compareGrades,
});

/** Follows from a newer report on the same subject. */
const followComplianceReport = ofReport({
  name: 'followComplianceReport',
  input: Type.Object({ by: Type.String() }),
  on: 'any',
  decide: followReport,
});

/**
 * The newest reports on the subject of a report. Those of earlier versions do not say an inventory: they count for the first
 * one that has such a device.
 */
const newestOn = async ({ inventory = null, ...report }: StoredReport, tools: Tools): Promise<readonly string[]> => {
  const newest = await tools.idsNamed(complianceReports, subjectOf({ ...report, inventory }));
  if (inventory === null) return newest;
  const others = await tools.idsNamed(complianceReports, subjectOf(report));
  const states = await Promise.all(others.map((id) => tools.state(complianceReport, id)));
  return [...newest, ...states.flatMap(({ report: one }) => (one && one.inventory === undefined ? one.id : []))];
};

/** The position at which a report was stored: that of the first event of its stream. */
const positionOf = async (id: string, { version, events }: Tools): Promise<number> => {
  const { revision, position } = await version(complianceReport, id);
  return revision === 0 ? position : ((await events(complianceReport, id, 0))[0]?.position ?? 0);
};

/**
 * Each report takes the place of the one before it on its subject. The order is that of the log, so that two runs at once
 * agree on it: no other report ever follows that one. The read models show all reports up to this one.
 */
const followFormer = async ({ data, position }: Recorded<StoredReport>, tools: Tools): Promise<readonly Next[]> => {
  const newest = await newestOn(data, tools);
  const others = newest.filter((id) => id !== data.id);
  const placed = await Promise.all(others.map(async (id) => ({ id, at: await positionOf(id, tools) })));
  const [before] = placed.filter(({ at }) => at < position).sort((one, other) => other.at - one.at);
  if (!before) return [];
  const { report: former } = await tools.state(complianceReport, before.id);
  return [
    ...(former && gradeIn(former) === gradeIn(data)
      ? []
      : [{ command: compareComplianceGrades, id: data.id, input: { after: before.id } }]),
    { command: followComplianceReport, id: before.id, input: { by: data.id } },
  ];
};

export const complianceReportReactions: readonly Reaction[] = [
  {
    of: complianceReport,
    background: true,
    when: ({ data: { backupId } }: Recorded<StoredReport>) => backupId === undefined,
    on: { complianceReported: followFormer },
  },
];
