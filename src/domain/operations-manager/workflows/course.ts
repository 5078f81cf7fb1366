import { get } from '../../engine/layeredMap.ts';
import { childrenDue } from './children.ts';
import { idleTask, type TaskState, type TaskStates } from './taskStates.ts';
import type { Edge, WorkflowGraph } from './workflowGraph.ts';

/** The consequences of the results of a job's tasks: taken and dead edges, and tasks that can be done now. */
export type Course = {
  /** The task that can be done next, the first by id; undefined if there is none. */
  readonly next: () => number | undefined;
  /** Makes `next` look at a task again. */
  readonly enqueue: (place: number) => void;
  /** Must be called after each event, with the tasks that it changed. */
  readonly follow: (state: TaskStates, changed: Iterable<number>) => void;
  readonly taskAt: (place: number) => TaskState;
  /** True if the task ended with an error that no edge takes up. */
  readonly blocks: (place: number) => boolean;
  /** True if no edge leads on from the result of the task. */
  readonly leadsNowhere: (place: number) => boolean;
  /** True if a retry of the task can begin a new run. */
  readonly isRetriable: (place: number) => boolean;
  readonly isDead: (place: number) => boolean;
  /** The target of the revert edge that the task takes; undefined if it takes none. */
  readonly revertOf: (place: number) => number | undefined;
  /** How many tasks of a loop's body are under way or can be entered; of the whole workflow by its number of tasks. */
  readonly busy: (loop: number) => number;
  /** How many runs wait for a worker, a person or a time, loops not counted. */
  readonly waiting: () => number;
};

const undecided = 0;
const edgeTaken = 1;
const dead = 2;

/** The places that can be done next, each once, the smallest first. A place that is out of date is skipped by the caller. */
const smallestFirst = (count: number) => {
  const isIn = new Uint8Array(count);
  /** No smaller place is in. */
  let first = count;
  return {
    push: (place: number): void => {
      isIn[place] = 1;
      first = Math.min(first, place);
    },
    pop: (): number | undefined => {
      while (first < count && isIn[first] === 0) first++;
      if (first === count) return undefined;
      isIn[first] = 0;
      return first;
    },
  };
};

/** True if something is to happen with the task by itself at this time. */
export const isDue = ({ until }: TaskState, now: number): boolean => until !== undefined && until <= now;

/** The questions about the result of a task. */
const resultsOf = ({ tasks, outOf, reverts }: WorkflowGraph, taskAt: (place: number) => TaskState) => {
  const idAt = (place: number): string => tasks[place]?.id ?? '';

  const revertOf = (place: number): number | undefined => {
    const { status, result, chosen } = taskAt(place);
    if (status !== 'finished' || result === undefined) return undefined;
    const to = reverts[place]?.get(result);
    return to === undefined || (chosen !== undefined && result === 'success' && idAt(to) !== chosen) ? undefined : to;
  };

  const takes = ({ state: when, to }: Edge, { result, chosen }: TaskState): boolean =>
    when === result && (chosen === undefined || result !== 'success' || idAt(to) === chosen);

  const leadsNowhere = (place: number): boolean => {
    const task = taskAt(place);
    if (task.status !== 'finished') return false;
    return !(outOf[place] ?? []).some((edge) => takes(edge, task)) && revertOf(place) === undefined;
  };
  const blocks = (place: number): boolean => taskAt(place).result === 'error' && leadsNowhere(place);
  return { revertOf, takes, leadsNowhere, blocks };
};

/** The states of all tasks by their places. */
const tasksIn = ({ tasks, places }: WorkflowGraph, { tasks: { layers } }: TaskStates): TaskState[] => {
  const found = new Array<TaskState>(tasks.length).fill(idleTask);
  for (const layer of layers)
    for (const [id, task] of layer) {
      const place = places.get(id);
      if (place !== undefined) found[place] = task ?? idleTask;
    }
  return found;
};

/**
 * The course of a job in this state. It costs about as much as to look once at each task, and at the edges out of those
 * that have run.
 */
export const courseOf = (graph: WorkflowGraph, from: TaskStates, now: number): Course => {
  const { tasks, outOf, into, loopOf, reverts, start, order } = graph;
  const count = tasks.length;
  const states = tasksIn(graph, from);
  const value = new Uint8Array(graph.edges.length);
  const open = Int32Array.from(into);
  const takenInto = new Int32Array(count);
  const isDead = new Uint8Array(count);
  const counts = new Uint8Array(count);
  const waits = new Uint8Array(count);
  const busy = new Int32Array(count + 1);
  const queue = smallestFirst(count);
  const going = smallestFirst(count);
  let waiting = 0;

  const taskAt = (place: number): TaskState => states[place] ?? idleTask;
  const { revertOf, takes, leadsNowhere, blocks } = resultsOf(graph, taskAt);

  const edgeValue = (edge: Edge, task: TaskState): number => {
    if (isDead[edge.from] === 1) return dead;
    if (edge.state === 'loop') {
      if (task.turns > 0) return task.status === 'open' ? edgeTaken : undecided;
      return task.status === 'finished' && !blocks(edge.from) ? dead : undecided;
    }
    if (task.status !== 'finished' || blocks(edge.from)) return undecided;
    return takes(edge, task) ? edgeTaken : dead;
  };

  /** True if a retry begins a new run: the result leads nowhere, and it counts, which it does not once its loop has ended. */
  const isRetriable = (place: number): boolean => {
    const loop = loopOf[place] ?? count;
    const counts = loop === count || taskAt(loop).status === 'open';
    return counts && taskAt(place).result !== 'success' && leadsNowhere(place);
  };

  const canRun = (place: number, task: TaskState): boolean => {
    switch (task.status) {
      case 'idle':
        return place === start || (open[place] === 0 && (takenInto[place] ?? 0) > 0);
      case 'entering':
        return true;
      case 'finished':
        return revertOf(place) !== undefined || (task.again === true && isRetriable(place));
      case 'retrying':
        return isDue(task, now);
      case 'open':
        if (isDue(task, now) || (task.children && childrenDue(task.children))) return true;
        return tasks[place]?.kind === 'forEach' && busy[place] === 0;
    }
  };

  /** Brings up to date what the task itself counts for. */
  const judge = (place: number): void => {
    const task = taskAt(place);
    const runs = canRun(place, task);
    const isUnderWay = task.status === 'open' || task.status === 'retrying';
    const counted = runs || isUnderWay ? 1 : 0;
    const loop = loopOf[place] ?? count;
    const change = counted - (counts[place] ?? 0);
    counts[place] = counted;
    busy[loop] = (busy[loop] ?? 0) + change;
    const waitsNow = task.status === 'open' && tasks[place]?.kind !== 'forEach' ? 1 : 0;
    waiting += waitsNow - (waits[place] ?? 0);
    waits[place] = waitsNow;
    // Nothing is entered before a task has gone back: what it puts back may seem to be ready.
    if (runs && revertOf(place) !== undefined) going.push(place);
    else if (runs) queue.push(place);
    if (change < 0 && loop < count && busy[loop] === 0 && taskAt(loop).status === 'open') queue.push(loop);
  };

  const isDeadNow = (place: number): boolean =>
    taskAt(place).status === 'idle' && place !== start && open[place] === 0 && takenInto[place] === 0;

  /** Decides the edges out of a task anew, and what follows from that. */
  const decide = (first: number): void => {
    const stack = [first];
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      isDead[place] = isDeadNow(place) ? 1 : 0;
      const task = taskAt(place);
      for (const edge of outOf[place] ?? []) {
        const { number, to } = edge;
        const [before, after] = [value[number], edgeValue(edge, task)];
        if (before === after) continue;
        value[number] = after;
        open[to] = (open[to] ?? 0) + Number(after === undecided) - Number(before === undecided);
        takenInto[to] = (takenInto[to] ?? 0) + Number(after === edgeTaken) - Number(before === edgeTaken);
        judge(to);
        if (isDeadNow(to) !== (isDead[to] === 1)) stack.push(to);
      }
      judge(place);
    }
  };

  // Each task stands after those that lead to it, so that its own edges are decided once.
  for (const place of order) {
    isDead[place] = isDeadNow(place) ? 1 : 0;
    const task = taskAt(place);
    if (task === idleTask && isDead[place] === 0) continue;
    for (const edge of outOf[place] ?? []) {
      const after = edgeValue(edge, task);
      value[edge.number] = after;
      if (after !== undecided) open[edge.to] = (open[edge.to] ?? 0) - 1;
      if (after === edgeTaken) takenInto[edge.to] = (takenInto[edge.to] ?? 0) + 1;
    }
  }
  for (const place of order) {
    const { status, again } = taskAt(place);
    // Most tasks of a long job are over, and ask for nothing.
    const isOver = status === 'finished' && !again && reverts[place]?.size === 0;
    if (!isOver && (status !== 'idle' || open[place] === 0 || place === start)) judge(place);
  }
  for (const loop of graph.loops) judge(loop);

  return {
    next: () => {
      for (let place = going.pop(); place !== undefined; place = going.pop())
        if (revertOf(place) !== undefined) return place;
      for (let place = queue.pop(); place !== undefined; place = queue.pop())
        if (canRun(place, taskAt(place))) return place;
      return undefined;
    },
    enqueue: queue.push,
    follow: (next, changed) => {
      for (const place of changed) states[place] = get(next.tasks, tasks[place]?.id ?? '') ?? idleTask;
      for (const place of changed) decide(place);
    },
    taskAt,
    blocks,
    leadsNowhere,
    isRetriable,
    isDead: (place) => isDead[place] === 1,
    revertOf,
    busy: (loop) => busy[loop] ?? 0,
    waiting: () => waiting,
  };
};
