import type { Members } from '@automation-platform/json';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import {
  type LastRuns,
  lastRuns,
  noRuns,
  type RunTimes,
  runFinder,
  type TimedEvent,
} from '../../domain/operations-manager/workflows/taskHistory.ts';
import { foldTasks, noTasks, type TaskStates, taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import { inputsOf, type JobSelf } from '../../domain/operations-manager/workflows/taskValues.ts';
import type { WorkflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import type { Task } from '../../domain/operations-manager/workflows/workflows.ts';
import { openTasks } from '../../projections/operations-manager/openTasks.ts';
import type { Tools } from '../engine/define.ts';
import { perTools } from '../engine/perTools.ts';
import { runningOf } from './jobWorkflows.ts';

/** A job that runs a workflow, as its stream says. */
export type JobRead = {
  readonly graph: WorkflowGraph;
  readonly self: JobSelf;
  readonly tasks: TaskStates;
};

/** The job with its workflow; undefined if it runs none, or its workflow cannot be read any more. */
export const readJob = async (id: string, state: JobState, tools: Tools): Promise<JobRead | undefined> => {
  const found = await runningOf(id, state, tools);
  return found && state.tasks && { ...found, tasks: state.tasks };
};

/** The inputs of a run that is under way, with the values of its references and sealed secrets. */
export const inputsNow = ({ self, tasks }: JobRead, task: Task): Members => {
  const { startedWith = tasks.variables } = taskIn(tasks, task.id);
  return inputsOf({ state: tasks, job: self, variables: startedWith }, task);
};

/** When a run that is under way began to wait, epoch milliseconds. Throws `conflict` if it is not under way any more. */
export const beginningOf = async (runId: string, tools: Pick<Tools, 'shown'>): Promise<number> => {
  const { job: id, task, run } = runIn(runId) ?? {};
  const open = id !== undefined && task !== undefined && (await tools.shown(openTasks, id))?.open[task];
  if (!open || open.run !== run) throw new RequestError('conflict', 'The run is not under way any more');
  return Date.parse(open.since);
};

const eventsOf = async (id: string, last: number, tools: Pick<Tools, 'events'>, from = 0) =>
  (await tools.events(job, id, last, from)).map(
    ({ topic, data, metadata: { at } }): TimedEvent => ({ topic, data, at }),
  );

const pageSize = 64;

/** The events of a job up to a revision, page by page: each may have outputs of megabytes, and a job thousands of them. */
const pagesOf = async function* (id: string, last: number, tools: Pick<Tools, 'events'>, from = 0) {
  for (let at = from; at <= last; at += pageSize)
    yield await eventsOf(id, Math.min(last, at + pageSize - 1), tools, at);
};

const mostKept = 200_000;
const keptBy = perTools(
  () => new LRUCache<string, LastRuns>({ maxSize: mostKept, sizeCalculation: ({ runs }) => runs.size + 1 }),
);

/** The last run of each task of a job, up to a revision of its stream. A job that was read before is read on from there. */
export const lastRunsOf = async (id: string, last: number, tools: Pick<Tools, 'events'>): Promise<LastRuns['runs']> => {
  const all = keptBy(tools);
  const former = all.get(id) ?? noRuns;
  const before = former.revision <= last ? former : noRuns;
  if (before.revision === last) return before.runs;
  let now = before;
  for await (const events of pagesOf(id, last, tools, before.revision + 1)) now = lastRuns(now, events);
  if (now.revision > former.revision) all.set(id, now);
  return now.runs;
};

/** One run of a task with its values as they were when it began. */
export type RunRead = {
  readonly runs: readonly RunTimes[];
  readonly run: RunTimes;
  readonly inputs: Members;
  readonly outgoing: Members;
  readonly error: unknown;
};

/** Reads a run of a task from the stream. `run`: without it, the last one. Throws `not_found` if it never was. */
export const readRun = async (
  { self }: JobRead,
  {
    id,
    task,
    run,
    last,
  }: { readonly id: string; readonly task: Task; readonly run?: number | undefined; readonly last: number },
  tools: Tools,
): Promise<RunRead> => {
  const finder = runFinder(task.id, run, noTasks);
  let state = noTasks;
  for await (const events of pagesOf(id, last, tools))
    for (const event of events) {
      finder.take(event, state);
      state = foldTasks([event], state);
    }
  const { runs, run: found, before, outcome } = finder.found();
  if (!found) throw new RequestError('not_found', 'There is no such run', { path: 'run' });
  const inputs = inputsOf({ state: before, job: self, variables: before.variables }, task);
  return { runs, run: found, inputs, outgoing: outcome?.outgoing ?? {}, error: outcome?.error ?? null };
};
