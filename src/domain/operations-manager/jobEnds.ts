import type { Context } from '../engine/core.ts';
import { entriesIn } from '../engine/layeredMap.ts';
import { hasEnded, type JobEvent, type JobState } from './jobs.ts';
import type { TaskStates } from './workflows/taskStates.ts';

/**
 * Ends a job in error because something that it needs is gone. `claim`: the claim at whose step it ends; null: nobody
 * works on it. A worker that has claimed it since comes to a step of its own. Of a job that runs a workflow, a number is that
 * of a claim on any of its tasks.
 */
export const endGone = (
  state: JobState,
  { reason, claim }: { readonly reason: string; readonly claim: number | null },
): readonly JobEvent[] => {
  const holder = state.tasks ? heldTask(state.tasks) : (state.claims.held?.claim ?? null);
  const isOfOther = state.tasks ? claim === null && holder !== null : holder !== claim;
  return hasEnded(state) || isOfOther ? [] : [{ topic: 'jobErrored', data: { error: reason } }];
};

/** The claim of a worker or node on a task that is under way; null if nobody has one. */
const heldTask = (tasks: TaskStates): number | null => {
  for (const { status, to, claims } of entriesIn(tasks.tasks).values())
    if (status === 'open' && to && !('groups' in to) && claims.held) return claims.held.claim;
  return null;
};

/**
 * True if nothing is to be heard of a job for a time, because all that is under way are people, waits, other jobs, and tasks
 * with a time limit.
 */
const isSilentByNature = ({ tasks }: JobState): boolean => {
  const open = tasks ? [...entriesIn(tasks.tasks).values()].filter(({ status }) => status === 'open') : [];
  const retries = tasks ? [...entriesIn(tasks.tasks).values()].some(({ status }) => status === 'retrying') : false;
  const isQuiet = open.every(({ to, until }) => until !== undefined || !to || 'groups' in to);
  return (open.length > 0 || retries) && isQuiet;
};

export const msOfHours = (hours: number): number => hours * 3_600_000;

/**
 * Ends a job in error of which nothing was heard for `hours`, unless something has happened since. `lastEvent`: when
 * its last event happened, as whoever counts the time knows it.
 */
export const timeOut = (
  state: JobState,
  { hours, lastEvent }: { readonly hours: number; readonly lastEvent: string },
  { refs }: Context<{ readonly lastEvent: string | undefined }>,
): readonly JobEvent[] => {
  if (hasEnded(state) || isSilentByNature(state) || refs.lastEvent !== lastEvent) return [];
  return [{ topic: 'jobErrored', data: { error: `Nothing has happened for ${hours} hours (JOB_TIMEOUT)` } }];
};
