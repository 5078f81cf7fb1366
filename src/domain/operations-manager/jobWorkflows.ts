import type { Event } from '../engine/core.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { advance, mostOfRequest } from './workflows/advance.ts';
import type { Work } from './workflows/taskOutcomes.ts';
import { type FollowingEvent, foldTasks, type TaskStates } from './workflows/taskStates.ts';

/**
 * The knowledge of a decision about a job that runs a workflow. `broken`: why the workflow cannot be read any more. The job
 * ends in error by that.
 */
export type JobWork = Work | { readonly broken: string };

/** The tasks of a job, if it runs a workflow. */
type OfJob = { readonly tasks?: TaskStates };

/** The workflow of a job that is about to start. */
export type StartedWorkflow = {
  readonly id: string;
  readonly revision: number;
  /** Faults of the document, with which nothing can start. */
  readonly faults: readonly Fault[];
  /** Faults of the variables under its `inputSchema`. */
  readonly unfit: readonly Fault[];
  readonly work: Work;
};

/** The workflow cannot run with these variables, or at all. */
export class CannotRun extends RequestError {}

/** Throws `CannotRun` if the workflow has faults, or the variables do not fit it. */
export const refuseUnfit = ({ faults, unfit }: Pick<StartedWorkflow, 'faults' | 'unfit'>): void => {
  const [fault, misfit] = [faults[0], unfit[0]];
  if (fault) throw new CannotRun('unprocessable', `The workflow has faults: ${fault.message}`, { faults });
  if (misfit)
    throw new CannotRun('unprocessable', `The variables do not fit the workflow: ${misfit.path} ${misfit.message}`, {
      faults: unfit,
    });
};

/** The events, and all that follows from them in the workflow. */
export const withFollowing = <E extends Event>(
  work: Work,
  before: TaskStates | undefined,
  events: readonly E[],
): readonly (E | FollowingEvent)[] => [...events, ...advance(work, foldTasks(events, before), mostOfRequest).events];

const brokenEnd = ({ broken }: { readonly broken: string }, { status }: TaskStates): readonly FollowingEvent[] =>
  status === 'running' || status === 'paused' ? [{ topic: 'jobErrored', data: { error: broken } }] : [];

/** Decides about the tasks of a job, and what follows. Nothing follows if nothing changes. */
export const decideTasks = (
  { tasks }: OfJob,
  work: JobWork | undefined,
  decide: (work: Work, tasks: TaskStates) => readonly FollowingEvent[],
): readonly FollowingEvent[] => {
  if (!tasks || !work) throw new RequestError('conflict', 'The job runs no workflow');
  if ('broken' in work) return brokenEnd(work, tasks);
  const events = decide(work, tasks);
  return events.length === 0 ? [] : withFollowing(work, tasks, events);
};

/** The service goes on with a job: there was more to do than one decision does, or a time has come. */
export const goOn = ({ tasks }: OfJob, work: JobWork | undefined): readonly FollowingEvent[] => {
  if (!tasks || !work) return [];
  return 'broken' in work ? brokenEnd(work, tasks) : advance(work, tasks).events;
};

/** Throws `conflict` if the job runs a workflow: then its tasks are claimed and reported, not the job. */
export const refuseAsWhole = ({ tasks }: OfJob): void => {
  if (tasks) throw new RequestError('conflict', 'The job runs a workflow: its tasks are claimed and reported');
};
