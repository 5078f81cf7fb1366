import type { Members } from '@automation-platform/json';
import { entriesIn } from '../../engine/layeredMap.ts';
import { RequestError } from '../../engine/requestError.ts';
import { reverted } from './advance.ts';
import type { Outcome } from './controlTasks.ts';
import { courseOf } from './course.ts';
import { refuseMove } from './refusals.ts';
import { finishedRun, sealedVariables, type Work } from './taskOutcomes.ts';
import { blockersIn, type FollowingEvent, foldTasks, type TaskStates } from './taskStates.ts';

const placeOf = ({ graph }: Work, id: string): number => {
  const place = graph.places.get(id);
  if (place === undefined) throw new RequestError('not_found', 'There is no such task', { path: '/task' });
  return place;
};

/** True if a retry of a job that has ended in error begins anything. */
export const isRetriable = (work: Work, state: TaskStates): boolean => {
  const course = courseOf(work.graph, state, work.now);
  return [...work.graph.tasks.keys()].some(
    (place) => course.isRetriable(place) || ['open', 'retrying', 'entering'].includes(course.taskAt(place).status),
  );
};

/**
 * Begins new runs of all tasks that block a job that has ended in error; if there are none, of those whose failure ended a
 * branch. Runs that were under way when the job ended go on. Throws `conflict` if nothing of that is there.
 */
export const retryJob = (work: Work, state: TaskStates): readonly FollowingEvent[] => {
  if (state.status !== 'error') return refuseMove(`The job is ${state.status}`);
  const course = courseOf(work.graph, state, work.now);
  const places = [...work.graph.tasks.keys()];
  const retriable = places.filter(course.isRetriable);
  const blocking = retriable.filter(course.blocks);
  const isUnderWay = places.some((place) => ['open', 'retrying', 'entering'].includes(course.taskAt(place).status));
  if (retriable.length === 0 && !isUnderWay) return refuseMove('No task of the job can be retried');
  const ids = blocking.map((place) => work.graph.tasks[place]?.id ?? '');
  // One event stands for all tasks that the job's error names, or for all failures. A job that was ended from outside has an
  // error that names none.
  return ids.length === 0 || blockersIn(state.error)
    ? [{ topic: 'jobRetried', data: {} }]
    : ids.map((from) => ({ topic: 'jobRetried', data: { from } }));
};

/** Begins a new run of one task that blocks the job. `outcome`: the caller answers in its place. */
export const retryTask = (
  work: Work,
  state: TaskStates,
  { task: id, outcome }: { readonly task: string; readonly outcome?: Outcome },
): readonly FollowingEvent[] => {
  const place = placeOf(work, id);
  if (state.status !== 'error' && state.status !== 'running') return refuseMove(`The job is ${state.status}`);
  const course = courseOf(work.graph, state, work.now);
  if (!course.blocks(place) || !course.isRetriable(place)) return refuseMove(`${id} does not block the job`);
  const retried: FollowingEvent = { topic: 'jobRetried', data: { from: id } };
  const task = work.graph.tasks[place];
  if (!outcome || !task) return [retried];
  const run = course.taskAt(place).run + 1;
  const data = finishedRun(work, foldTasks([retried], state), { task, run, outcome });
  return [retried, { topic: 'taskFinished', data }];
};

/** Lets a job that has ended in error go back to a task that has run. The variables are set first. */
export const continueFrom = (
  work: Work,
  state: TaskStates,
  { task: id, variables = {} }: { readonly task: string; readonly variables?: Members },
): readonly FollowingEvent[] => {
  const place = placeOf(work, id);
  if (state.status !== 'error') return refuseMove(`The job is ${state.status}`);
  const course = courseOf(work.graph, state, work.now);
  const loop = work.graph.tasks[work.graph.loopOf[place] ?? -1];
  if (loop) return refuseMove(`${id} is in the body of the loop ${loop.id}: continue from there`, '/fromTask');
  if (course.taskAt(place).run === 0) return refuseMove(`${id} has not run`, '/fromTask');
  const { event } = reverted({ work, course }, null, place);
  const sealed = sealedVariables(work, variables, Object.fromEntries(entriesIn(state.variables)));
  const set: readonly FollowingEvent[] =
    Object.keys(sealed).length > 0 ? [{ topic: 'variablesSet', data: { variables: sealed } }] : [];
  return [...set, { topic: 'jobRetried', data: { from: id } }, event];
};
