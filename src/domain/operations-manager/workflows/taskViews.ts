import { childrenIn, shownStatus } from './children.ts';
import { type Course, courseOf } from './course.ts';
import type { TaskState, TaskStates } from './taskStates.ts';
import type { WorkflowGraph } from './workflowGraph.ts';
import type { Result } from './workflows.ts';

/** Where a task is. `running`: the engine holds it. `blocked`: it ended with an error that no edge takes up. */
export type TaskStatus = 'idle' | 'dead' | 'waiting' | 'claimed' | 'running' | 'retrying' | 'done' | 'blocked';

/** A task as answers show it, without its values. */
export type TaskView = {
  readonly status: TaskStatus;
  /** The number of its last run; 0: it has not run. */
  readonly run: number;
  readonly result: Result | null;
  readonly claim: TaskState['claims']['held'];
  readonly until: number | null;
  readonly error: unknown;
  /** The jobs of a child task. `run`: the run that began it; null: it could not begin. */
  readonly children?: readonly { readonly run: number | null; readonly index: number; readonly status: string }[];
};

const childrenOf = ({ children }: TaskState): TaskView['children'] =>
  children &&
  childrenIn(children).map((child) => ({
    run: child.status === 'refused' ? null : child.run,
    index: child.index,
    status: shownStatus(child),
  }));

const statusOf = (task: TaskState, course: Course, place: number): TaskStatus => {
  switch (task.status) {
    case 'idle':
    case 'entering':
      return course.isDead(place) ? 'dead' : 'idle';
    case 'retrying':
      return 'retrying';
    case 'finished':
      return course.blocks(place) ? 'blocked' : 'done';
    case 'open':
      if (!task.to) return 'running';
      return task.claims.held ? 'claimed' : 'waiting';
  }
};

/** All tasks of a job by id, and the share of them that are done or dead. */
export const taskViews = (graph: WorkflowGraph, state: TaskStates) => {
  const course = courseOf(graph, state, Number.NEGATIVE_INFINITY);
  const views = graph.tasks.map(({ id }, place): [string, TaskView] => {
    const task = course.taskAt(place);
    const { run, result = null, until = null, error = null } = task;
    const claim = task.status === 'open' ? task.claims.held : null;
    const view = { status: statusOf(task, course, place), run, result, claim, until, error };
    const children = childrenOf(task);
    return [id, children ? { ...view, children } : view];
  });
  const ended = views.filter(([, { status }]) => status === 'done' || status === 'dead').length;
  return { tasks: Object.fromEntries(views), progress: views.length === 0 ? 0 : ended / views.length };
};
