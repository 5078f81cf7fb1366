import { entriesIn } from '../../src/domain/engine/layeredMap.ts';
import { advance, mostOfRequest } from '../../src/domain/operations-manager/workflows/advance.ts';
import { isInstant } from '../../src/domain/operations-manager/workflows/dataTasks.ts';
import type { Work } from '../../src/domain/operations-manager/workflows/taskOutcomes.ts';
import {
  foldTasks,
  type TaskStates,
  type WorkflowJobEvent,
} from '../../src/domain/operations-manager/workflows/taskStates.ts';
import { workflowGraph } from '../../src/domain/operations-manager/workflows/workflowGraph.ts';
import { readWorkflow } from '../../src/domain/operations-manager/workflows/workflows.ts';

type Json = any; // documents are any JSON

/** Edges in short: `a -> b` on success, `a -failure-> b`, `b <-failure- a` for a way back. */
const edge = (said: string): readonly [string, string, { readonly type: string; readonly state: string }] => {
  const [, a = '', back, state = 'success', b = ''] =
    /^(\w+) (?:(<)?-(\w*)->?|->) (\w+)$/.exec(said.replace('->', '-success->').replace(/-(\w+)-success->/, '-$1->')) ??
    [];
  return back ? [b, a, { type: 'revert', state }] : [a, b, { type: 'standard', state }];
};

/** A workflow of these tasks and edges, with start and end. */
export const workflow = (tasks: Json, edges: readonly string[], more: Json = {}): Json => {
  const transitions: Json = { workflow_start: {}, workflow_end: {} };
  for (const said of edges) {
    const [from, to, one] = edge(said.replaceAll('start', 'workflow_start').replaceAll('end', 'workflow_end'));
    transitions[from] ??= {};
    transitions[from][to] = one;
  }
  return { name: 'w', tasks: { workflow_start: {}, workflow_end: {}, ...tasks }, transitions, ...more };
};

/** A task of the engine or of this service. */
export const ours = (name: string, incoming: Json = {}, more: Json = {}): Json => ({
  name,
  app: name === 'reattempt' ? 'MOP' : 'WorkFlowEngine',
  location: 'Application',
  type: 'operation',
  ...more,
  variables: { incoming, outgoing: {}, ...more.variables },
});

/** A task that a worker does. */
export const worker = (incoming: Json = {}, more: Json = {}): Json => ({
  name: 'work',
  app: 'Lab',
  location: 'Adapter',
  type: 'automatic',
  ...more,
  variables: { incoming, outgoing: {}, ...more.variables },
});

export const person = (more: Json = {}): Json => ({ ...ours('ViewData'), type: 'manual', groups: [], ...more });

/** The tools that decisions need, made for tests: a pattern is matched as JavaScript does, a secret is sealed in the open. */
export const workOn = (document: Json, more: Partial<Work> = {}): Work => ({
  graph: workflowGraph(readWorkflow(document), isInstant),
  job: { id: 'job1', initiator: 'ann' },
  now: 1_000_000,
  match: (pattern, text) => new RegExp(pattern).test(text),
  fits: () => true,
  seal: (secret) => ({ $sealed: `sealed ${secret}`, tag: secret }),
  ...more,
});

/** All that follows, in as many decisions as it takes. */
export const advanceAll = (work: Work, from: TaskStates): readonly WorkflowJobEvent[] => {
  const events: WorkflowJobEvent[] = [];
  let state = from;
  for (let next = advance(work, state, mostOfRequest); ; next = advance(work, state)) {
    events.push(...next.events);
    if (!next.more) return events;
    state = foldTasks(next.events, state);
  }
};

/** A job in a test: it takes events and what follows from them. */
export const jobOf = (document: Json, variables: Json = {}, more: Partial<Work> = {}) => {
  let work = workOn(document, more);
  const events: WorkflowJobEvent[] = [];
  let state = foldTasks([]);
  const take = (added: readonly WorkflowJobEvent[]): readonly WorkflowJobEvent[] => {
    const kept = JSON.parse(JSON.stringify(added)) as WorkflowJobEvent[];
    events.push(...kept);
    state = foldTasks(kept, state);
    return kept;
  };
  /** Stores the events and all that follows. Gives what follows. */
  const act = (added: readonly WorkflowJobEvent[]): readonly WorkflowJobEvent[] => {
    take(added);
    return take(advanceAll(work, state));
  };
  act([{ topic: 'jobStarted', data: { variables } }]);
  return {
    act,
    state: () => state,
    work: () => work,
    events: () => events,
    at: (now: number) => {
      work = { ...work, now };
      return act([]);
    },
    /** The job goes on from what is stored. */
    restart: () => {
      state = foldTasks(JSON.parse(JSON.stringify(events)) as WorkflowJobEvent[]);
    },
    /** `task run result` of each end of a run, and each way back. */
    happened: () =>
      events.flatMap((event): string[] => {
        if (event.topic === 'taskFinished') return [`${event.data.task} ${event.data.run} ${event.data.result}`];
        return event.topic === 'tasksReverted' && event.data.from
          ? [`${event.data.from} back to ${event.data.to}`]
          : [];
      }),
  };
};

/** A state as plain JSON, whatever its maps share. */
export const plainState = ({ tasks, variables, ...rest }: TaskStates): Json => {
  const sorted = (map: ReadonlyMap<string, unknown>) =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  const ofTasks = [...entriesIn(tasks)].map(([id, { startedWith, ...task }]): [string, unknown] => [
    id,
    startedWith ? { ...task, startedWith: sorted(entriesIn(startedWith)) } : task,
  ]);
  return { ...rest, tasks: sorted(new Map(ofTasks)), variables: sorted(entriesIn(variables)) };
};
