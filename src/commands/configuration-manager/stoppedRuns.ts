import { hasEnded, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { batchOf, stopComplianceBatch } from './complianceBatches.ts';
import { endConfigurationChange } from './configurationChanges.ts';

type Following = (id: string, job: JobState) => readonly Next[];

/** The batch of a job that checks devices carries out what becomes of the job. */
const stopBatch: Following = (id) => [{ command: stopComplianceBatch, id: batchOf(id), input: { job: id } }];

/** Devices that wait for a job which has ended are left out. */
const endChange: Following = (id, state) =>
  hasEnded(state) ? [{ command: endConfigurationChange, id, input: {} }] : [];

/** The commands that follow from the end of a job or its retry, by the type of its component. */
const followings: { readonly [type: string]: Following | undefined } = {
  ucm_compliance_plans: stopBatch,
  'compliance-run': stopBatch,
  'configuration-change': endChange,
};

const follow = async ({ stream }: Recorded, { state }: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const now = await state(job, id);
  return followings[now.started?.component.type ?? '']?.(id, now) ?? [];
};

export const stoppedRunReactions: readonly Reaction[] = [
  {
    of: job,
    background: true,
    on: { jobCanceled: follow, jobErrored: follow, jobGivenUp: follow, jobRetried: follow },
  },
];
