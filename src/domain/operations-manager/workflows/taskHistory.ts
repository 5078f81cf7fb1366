import type { Event } from '../../engine/core.ts';
import type { Result, Task } from './workflows.ts';

/** An event of a job's stream with its time. */
export type TimedEvent = Event & { readonly at: string };

/** One run of a task. */
export type RunTimes = {
  readonly run: number;
  readonly result: Result | null;
  readonly from: string;
  readonly to: string | null;
  /** The place of the event by which it began, among all events. */
  readonly first: number;
};

type OfRun = { readonly task: string; readonly run: number; readonly result?: Result };

/**
 * Calls `visit` for each event that begins or ends a run, with the task and its run after it. The service carries out some
 * in one moment: such a run begins as it ends. `lastOf`: the last run of a task before. `from`: the place of the first event.
 */
const eachRun = (
  events: readonly TimedEvent[],
  from: number,
  lastOf: (task: string) => RunTimes | undefined,
  visit: (task: string, run: RunTimes) => void,
): void => {
  for (const [i, { topic, data, at }] of events.entries()) {
    if (topic !== 'taskStarted' && topic !== 'taskOffered' && topic !== 'taskFinished') continue;
    const { task, run, result } = data as OfRun; // the topics have these members
    if (result === 'loop') continue;
    const last = lastOf(task);
    const beginning = last?.run === run ? last : { run, from: at, first: from + i };
    visit(task, { ...beginning, result: result ?? null, to: result === undefined ? null : at });
  }
};

/** The runs of a job's tasks, in their order. */
export const taskHistory = (events: readonly TimedEvent[]): ReadonlyMap<Task['id'], readonly RunTimes[]> => {
  const found = new Map<string, RunTimes[]>();
  const lastOf = (task: string): RunTimes | undefined => found.get(task)?.at(-1);
  eachRun(events, 0, lastOf, (task, run) => {
    const runs = found.get(task) ?? [];
    found.set(task, runs);
    if (lastOf(task)?.run === run.run) runs.pop();
    runs.push(run);
  });
  return found;
};

/** The last run of each task, up to a revision of the job's stream. */
export type LastRuns = { readonly revision: number; readonly runs: ReadonlyMap<Task['id'], RunTimes> };

/** Before the first event. */
export const noRuns: LastRuns = { revision: -1, runs: new Map() };

/** The last runs after the events that follow. */
export const lastRuns = ({ revision, runs }: LastRuns, events: readonly TimedEvent[]): LastRuns => {
  const next = new Map(runs);
  eachRun(
    events,
    revision + 1,
    (task) => next.get(task),
    (task, run) => void next.set(task, run),
  );
  return { revision: revision + events.length, runs: next };
};
