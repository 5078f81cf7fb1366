import type { RunOfTask } from './taskClaims.ts';

/** One run of a task of a job. */
export type RunOfJob = RunOfTask & { readonly job: string };

/** The id of a run: it is the worker's idempotency key for what it does outside. */
export const runIdOf = ({ job, task, run }: RunOfJob): string => `${job}.${task}.${run}`;

const form = /^([0-9a-f]{24})\.([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,8})$/;

/** The run that an id names; undefined if it is no such id. */
export const runIn = (id: string): RunOfJob | undefined => {
  const [, job, task, run] = form.exec(id) ?? [];
  return job === undefined || task === undefined ? undefined : { job, task, run: Number(run) };
};
