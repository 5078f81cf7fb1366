import { agentSession } from '../../domain/agent-session-manager/agentSessions.ts';
import { actionExecution, hasEnded as hasEndedExecution } from '../../domain/lifecycle-manager/actionExecutions.ts';
import type { Claims } from '../../domain/operations-manager/claims.ts';
import { hasEnded, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { type OperationId, operationOf } from '../../domain/operations-manager/workflows/ownOperations.ts';
import { foldTasks, taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { WorkflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import { derivedId, derivedUuid } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { endSession } from '../agent-session-manager/agentSessions.ts';
import type { Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { cancelExecution } from '../lifecycle-manager/actionExecutions.ts';
import { runningOf } from './jobWorkflows.ts';
import { wakeTask } from './taskReports.ts';

/** The name of a job's run: the same for all its claims. A job that is retried has another one. */
export const runKeyOf = (id: string, { last, attempts }: Pick<Claims, 'last' | 'attempts'>): string =>
  `${id} ${last - attempts + 1}`;

/**
 * The id of the session of a run. It follows from the run, so that no second session is started, whatever stops in between.
 */
export const sessionOf = (run: string): string => derivedUuid(`session ${run}`);

/** The id of the execution of a run, likewise. */
export const executionOf = (run: string): string => derivedId(`execution ${run}`);

const cancelSession = async (run: string, { state }: Tools): Promise<readonly Next[]> => {
  const id = sessionOf(run);
  if ((await state(agentSession, id)).status !== 'RUNNING') return [];
  return [{ command: endSession, id, input: { status: 'CANCELED', lastMessage: 'The job has ended' } }];
};

const cancelOfExecution = async (run: string, { state }: Tools): Promise<readonly Next[]> => {
  const id = executionOf(run);
  const { status } = await state(actionExecution, id);
  return status === undefined || hasEndedExecution(status) ? [] : [{ command: cancelExecution, id, input: {} }];
};

/** The commands that cancel the work that a run has begun elsewhere, by the operation of its task. */
const cancels: Partial<Record<OperationId, typeof cancelSession>> = {
  'AgentSessionManager.runAgent': cancelSession,
  'LifecycleManager.runAction': cancelOfExecution,
};

/** Cancels the session of a job of an agent that has ended before it. */
const cancelOfJob = async (id: string, now: JobState, tools: Tools): Promise<readonly Next[]> => {
  // A job that was retried meanwhile has another session.
  if (now.started?.component.type !== 'agent' || !hasEnded(now)) return [];
  return cancelSession(runKeyOf(id, now.claims), tools);
};

type Starter = { readonly task: string; readonly cancel: typeof cancelSession };

/** The tasks among these that begin work elsewhere; `named` undefined: among all of the workflow. */
const startersIn = ({ tasks, places }: WorkflowGraph, named: readonly string[] | undefined): readonly Starter[] => {
  const some = named ? named.flatMap((id) => tasks[places.get(id) ?? -1] ?? []) : tasks;
  return some.flatMap((task) => {
    const operation = task.kind === 'platform' ? operationOf(task) : undefined;
    const cancel = operation && cancels[operation];
    return cancel ? [{ task: task.id, cancel }] : [];
  });
};

/** Cancels the work of runs that were under way before the event. `named`: of these tasks; undefined: of all. */
const cancelRuns = async (
  { stream, revision }: Recorded,
  named: readonly string[] | undefined,
  tools: Tools,
): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const read = await runningOf(id, await tools.state(job, id), tools);
  const starters = read ? startersIn(read.graph, named) : [];
  if (starters.length === 0) return [];
  const { state } = await tools.version(job, id, revision - 1);
  const next: Next[] = [];
  for (const { task, cancel } of starters) {
    const { run, status } = taskIn(state.tasks ?? foldTasks([]), task);
    if (status === 'open') next.push(...(await cancel(`${id}.${task}.${run}`, tools)));
  }
  return next;
};

const cancelAll = async (event: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(event.stream);
  const now = await tools.state(job, id);
  return now.tasks ? cancelRuns(event, undefined, tools) : cancelOfJob(id, now, tools);
};

type Ended = Recorded<{ readonly task: string; readonly tasks?: readonly string[] }>;

/** Only a time that has come ends a run before the work that it has begun: its own limit, or that of the loop around it. */
const cancelLate = (event: Ended, tools: Tools): Promise<readonly Next[]> => {
  const { task, tasks = [] } = event.data;
  return cancelRuns(event, [task, ...tasks], tools);
};

const cancelReverted = (event: Recorded<{ readonly tasks: readonly string[] }>, tools: Tools) =>
  cancelRuns(event, event.data.tasks, tools);

export const jobSessionReactions: readonly Reaction[] = [
  { of: job, on: { jobCanceled: cancelAll, jobErrored: cancelAll } },
  {
    of: job,
    background: true,
    when: ({ metadata }: Recorded) => metadata.operation === wakeTask.name,
    on: { taskFinished: cancelLate },
  },
  { of: job, background: true, on: { tasksReverted: cancelReverted } },
];
