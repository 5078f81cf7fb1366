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

/** The runs of a job's tasks, in their order. The service carries out some in one moment: such a run begins as it ends. */
export const taskHistory = (events: readonly TimedEvent[]): ReadonlyMap<Task['id'], readonly RunTimes[]> => {
  const found = new Map<string, RunTimes[]>();
  for (const [place, { topic, data, at }] of events.entries()) {
    if (topic !== 'taskStarted' && topic !== 'taskOffered' && topic !== 'taskFinished') continue;
    const { task, run, result } = data as { readonly task: string; readonly run: number; readonly result?: Result };
    const runs = found.get(task) ?? [];
    found.set(task, runs);
    const last = runs.at(-1);
    const isKnown = last?.run === run;
    if (result === undefined) runs.push({ run, result: null, from: at, to: null, first: place });
    else if (result === 'loop') continue;
    else if (isKnown) runs[runs.length - 1] = { ...last, result, to: at };
    else runs.push({ run, result, from: at, to: at, first: place });
  }
  return found;
};
