import type { Members } from '@automation-platform/json';
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
};

type OfRun = {
  readonly task: string;
  readonly run: number;
  readonly result?: Result;
  readonly outgoing?: Members;
  readonly error?: unknown;
};

/**
 * Calls `visit` for each event that begins or ends a run, with the task and its run after it. The service carries out some
 * in one moment: such a run begins as it ends. `lastOf`: the last run of a task before.
 */
const eachRun = (
  events: readonly TimedEvent[],
  lastOf: (task: string) => RunTimes | undefined,
  visit: (task: string, run: RunTimes) => void,
): void => {
  for (const { topic, data, at } of events) {
    if (topic !== 'taskStarted' && topic !== 'taskOffered' && topic !== 'taskFinished') continue;
    const { task, run, result } = data as OfRun; // the topics have these members
    if (result === 'loop') continue;
    const last = lastOf(task);
    const beginning = last?.run === run ? last : { run, from: at };
    visit(task, { ...beginning, result: result ?? null, to: result === undefined ? null : at });
  }
};

/** One run of a task, all its runs that were read, and the last outcome of it. */
export type FoundRun<State> = {
  readonly runs: readonly RunTimes[];
  /** Undefined: there is no such run. */
  readonly run: RunTimes | undefined;
  /** The state before the run began. */
  readonly before: State;
  readonly outcome: OfRun | undefined;
};

/**
 * Finds a run of a task while the events of a job are read one after the other: of the states, it keeps only that before the
 * run. `number`: undefined for the last run.
 */
export const runFinder = <State>(task: Task['id'], number: number | undefined, initial: State) => {
  const runs: RunTimes[] = [];
  let found: Omit<FoundRun<State>, 'runs'> = { run: undefined, before: initial, outcome: undefined };
  return {
    /** Takes an event with the state before it. */
    take: (event: TimedEvent, state: State): void => {
      const lastOf = (one: string): RunTimes | undefined => (one === task ? runs.at(-1) : undefined);
      eachRun([event], lastOf, (one, run) => {
        if (one !== task) return;
        if (runs.at(-1)?.run === run.run) runs.pop();
        runs.push(run);
        if (number !== undefined && run.run !== number) return;
        const isNew = found.run?.run !== run.run;
        found = isNew ? { run, before: state, outcome: undefined } : { ...found, run };
      });
      const data = event.data as OfRun; // of this topic
      if (event.topic === 'taskFinished' && data.task === task && data.run === found.run?.run)
        found = { ...found, outcome: data };
    },
    found: (): FoundRun<State> => ({ runs, ...found }),
  };
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
    (task) => next.get(task),
    (task, run) => void next.set(task, run),
  );
  return { revision: revision + events.length, runs: next };
};
