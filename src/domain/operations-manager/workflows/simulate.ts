import { isObject, type Members, own } from '@automation-platform/json';
import { get } from '../../engine/layeredMap.ts';
import { RequestError } from '../../engine/requestError.ts';
import { advance, mostOfRequest } from './advance.ts';
import type { Outcome } from './controlTasks.ts';
import { runIdOf } from './runIds.ts';
import { finishedRun, orError, sealedVariables, type Work } from './taskOutcomes.ts';
import { foldTasks, type TaskStates, taskIn, type WorkflowJobEvent } from './taskStates.ts';
import { inputsOf, isTransformation } from './taskValues.ts';
import { taskViews } from './taskViews.ts';
import type { Task } from './workflows.ts';

/** How tasks end that the simulation cannot carry out: for each task its results one after the other, the last one again. */
export type Answers = Readonly<Record<string, readonly Outcome[]>>;

/** The outputs of a transformation by the inputs of its task and the id of the run. Throws `RequestError` if it fails. */
export type Transform = (inputs: Members, runId: string) => Members;

/** The first task by id that waits for an answer. */
const openTask = ({ graph }: Work, state: TaskStates): Task | undefined =>
  graph.tasks.find(({ id, kind }) => kind !== 'forEach' && get(state.tasks, id)?.status === 'open');

const success: Outcome = { result: 'success' };

/**
 * Runs a workflow without a job: what waits for a time is due at once, and tasks of workers, people and children take their
 * answers. `isOver`: true when the simulation takes too long; it throws `unprocessable` then.
 */
export const simulate = (
  base: Work,
  { variables, answers = {}, transform }: { variables: Members; answers?: Answers; transform?: Transform },
  isOver: () => boolean = () => false,
) => {
  const work: Work = { ...base, skipsTime: true };
  const events: WorkflowJobEvent[] = [];
  const answered = new Map<string, number>();
  let state = foldTasks([]);
  const add = (more: readonly WorkflowJobEvent[]): void => {
    for (const event of more) events.push(event);
    state = foldTasks(more, state);
  };
  const answerOf = (task: Task): Outcome => {
    if (transform && isTransformation(task)) {
      const { run, startedWith = state.variables } = taskIn(state, task.id);
      const inputs = inputsOf({ state, job: work.job, variables: startedWith }, task);
      const runId = runIdOf({ job: work.job.id, task: task.id, run });
      return orError(() => ({ result: 'success', outgoing: transform(inputs, runId) }));
    }
    const list = own(answers, task.id);
    const count = answered.get(task.id) ?? 0;
    answered.set(task.id, count + 1);
    const answer: unknown = Array.isArray(list) ? (list[Math.min(count, list.length - 1)] as unknown) : undefined;
    return isObject(answer) ? (answer as Outcome) : success;
  };
  add([{ topic: 'jobStarted', data: { variables: sealedVariables(work, variables) } }]);
  // As a job does: what a request began, the service goes on with by itself.
  for (let most: number | undefined = mostOfRequest; ; ) {
    const { events: more, more: goesOn } = advance(work, state, most);
    add(more);
    if (isOver()) throw new RequestError('unprocessable', 'The simulation takes too long');
    most = goesOn ? undefined : mostOfRequest;
    if (goesOn) continue;
    const task = openTask(work, state);
    if (state.status !== 'running' || !task) break;
    const { run } = taskIn(state, task.id);
    add([{ topic: 'taskFinished', data: finishedRun(work, state, { task, run, outcome: answerOf(task) }) }]);
  }
  return { status: state.status, state, events, ...taskViews(work.graph, state) };
};
