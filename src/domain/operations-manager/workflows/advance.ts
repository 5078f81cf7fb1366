import type { Members } from '@automation-platform/json';
import { defined } from '../../engine/defined.ts';
import {
  type ChildOfTask,
  type Children,
  type ChildrenWanted,
  childrenDue,
  childrenUnderWay,
  nextChildren,
} from './children.ts';
import { childrenWanted, endOfChildren } from './childTasks.ts';
import { loopItems, type Outcome, timedTask, type Using } from './controlTasks.ts';
import { type Course, courseOf, isDue } from './course.ts';
import { performed } from './dataTasks.ts';
import { weigh } from './jsonBounds.ts';
import type { Spend } from './operators.ts';
import { refuse } from './refusals.ts';
import { finishedRun, longestMessage, messageOf, orError, type Work } from './taskOutcomes.ts';
import {
  draftOf,
  type FollowingEvent,
  noTasks,
  type OfferedTo,
  type TaskStates,
  take,
  type Variables,
} from './taskStates.ts';
import { inputsOf } from './taskValues.ts';
import { endTask, type Task } from './workflows.ts';

/** The events that follow from a job's state. `more`: this was enough for one decision, and more can be done. */
export type Advance = { readonly events: readonly FollowingEvent[]; readonly more: boolean };

/**
 * How many events a decision makes, about. Few, so that other requests have their turn soon, and read models keep up. Many
 * requests come in one turn of the event loop, but a few decisions of the service by itself.
 */
export const mostOfRequest = 10;
const mostByItself = 50;
const mostBytesAtOnce = 256 * 1024;
const mostRuns = 10_000;
const mostWaiting = 1000;
/** As many as one task may have, so that the largest takes a decision of its own. */
const mostSteps = 1_000_000;
/** How many steps it takes to read a pattern for the first time, at most. */
const stepsOfPattern = 5000;

/** The knowledge of a decision at one moment. `effort`: how many steps its data tasks have taken. */
type Moment = {
  readonly work: Work;
  readonly course: Course;
  readonly state: TaskStates;
  readonly effort: { steps: number };
};

/** An event, and the tasks that it changes. */
type Step = { readonly event: FollowingEvent; readonly changed: readonly number[] };

const taskAt = ({ graph }: Work, place: number): Task => graph.tasks[place] ?? refuse('There is no such task');
const idsOf = (work: Work, places: readonly number[]): readonly string[] => places.map((one) => taskAt(work, one).id);

const usingOf = ({ work, state, effort }: Omit<Moment, 'course'>, variables: Variables): Using => {
  let budget = mostSteps;
  const spend: Spend = (steps) => {
    budget -= steps;
    effort.steps += steps;
    if (budget < 0) refuse('The task has more than a million steps');
  };
  const patterns = new Set<string>();
  return {
    scope: { state, job: work.job, variables },
    now: work.now,
    match: (pattern, text) => {
      if (!patterns.has(pattern)) spend(stepsOfPattern);
      patterns.add(pattern);
      return work.match(pattern, text, spend);
    },
    fits: work.fits,
    spend,
    clean: new WeakSet(),
  };
};

/** Carries out a control or data task beside any job. Throws `RequestError` for what would be its error. */
export const performedAlone = (name: string, inputs: Members, work: Work): Outcome =>
  performed(name, inputs, usingOf({ work, state: noTasks, effort: { steps: 0 } }, noTasks.variables));

/** The value of a function that may refuse, or the outcome of the task that fails by it. */
const orFailed = <V>(run: () => V): { readonly value: V } | { readonly failed: Outcome } => {
  let found: { readonly value: V } | undefined;
  const failed = orError(() => {
    found = { value: run() };
    return { result: 'success' };
  });
  return found ?? { failed };
};

type Ended = { readonly place: number; readonly run: number; readonly outcome: Outcome };

/** The children of these tasks that are broken off, because the tasks end or are put back. */
const brokenOffBy = (
  { work, course }: Pick<Moment, 'work' | 'course'>,
  places: readonly number[],
): readonly ChildOfTask[] =>
  places.flatMap((place) => childrenUnderWay(taskAt(work, place).id, course.taskAt(place).children));

const orNone = <Item>(list: readonly Item[]): readonly Item[] | undefined => (list.length > 0 ? list : undefined);

/** Ends a run. `back`: tasks of a loop's body that are put back. */
const finish = (
  { work, course, state, effort }: Moment,
  { place, run, outcome }: Ended,
  back: readonly number[] = [],
): readonly Step[] => {
  const data = finishedRun(work, state, { task: taskAt(work, place), run, outcome });
  // A result that is too large to be stored took as long to make as all else that a decision may do.
  if (data.result !== outcome.result) effort.steps = mostSteps;
  const tasks = orNone(idsOf(work, back));
  const stops = orNone(brokenOffBy({ work, course }, [place, ...back]));
  const ended: Step = {
    event: { topic: 'taskFinished', data: tasks || stops ? defined({ ...data, tasks, stops }) : data },
    changed: [place, ...back],
  };
  const { description } = outcome;
  if (data.result !== 'success' || description === undefined) return [ended];
  return [ended, { event: { topic: 'jobDescribed', data: { description } }, changed: [] }];
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The worker, groups or platform that a task is offered to. */
const offeredTo = ({ kind, app, name, groups }: Task, inputs: Members): OfferedTo => {
  if (kind === 'people') return { groups };
  return kind === 'platform' ? { platform: true } : { worker: { app, name, adapter: textOrNull(inputs.adapter_id) } };
};

/** When a run that begins now is broken off, epoch milliseconds; undefined if never. */
const limitOf = ({ now }: Work, { timeLimit }: Task): number | undefined => timeLimit && now + timeLimit.seconds * 1000;

/** A run that is about to begin. */
type Beginning = { readonly place: number; readonly run: number; readonly task: Task; readonly using: Using };

type Starting = {
  readonly until?: number | undefined;
  readonly keeps?: number | undefined;
  readonly children?: ChildrenWanted | undefined;
};

const start = ({ place, run, task }: Beginning, { until, keeps, children }: Starting): readonly Step[] => [
  { event: { topic: 'taskStarted', data: defined({ task: task.id, run, until, keeps, children }) }, changed: [place] },
];

const startTimed = (moment: Moment, beginning: Beginning): readonly Step[] => {
  const { place, run, task, using } = beginning;
  const { now, skipsTime } = moment.work;
  const inputs = inputsOf(using.scope, task);
  const waits = orFailed(() => timedTask(task).waits(inputs, using));
  if ('failed' in waits) return finish(moment, { place, run, outcome: waits.failed });
  if (waits.value === 0)
    return finish(moment, { place, run, outcome: orError(() => timedTask(task).ends(inputs, using)) });
  const over = skipsTime ? now : now + waits.value;
  return start(beginning, { until: Math.min(over, limitOf(moment.work, task) ?? over) });
};

const startLoop = (moment: Moment, beginning: Beginning): readonly Step[] => {
  const { place, run, task, using } = beginning;
  const items = orFailed(() => loopItems(using.scope, task));
  if ('failed' in items) return finish(moment, { place, run, outcome: items.failed });
  return items.value.length === 0
    ? finish(moment, { place, run, outcome: { result: 'success' } })
    : start(beginning, { until: limitOf(moment.work, task) });
};

const noChildren: Outcome = { result: 'success', outgoing: { job_details: { loop: [] } } };

const mostLevels = 8;

const startChildren = (moment: Moment, beginning: Beginning): readonly Step[] => {
  const { place, run, task, using } = beginning;
  const children = orFailed(() => {
    const { level = 0 } = moment.work.job;
    if (level >= mostLevels) refuse(`Jobs can be parts of others to ${mostLevels} levels`);
    return childrenWanted(inputsOf(using.scope, task));
  });
  if ('failed' in children) return finish(moment, { place, run, outcome: children.failed });
  if (children.value.count === 0) return finish(moment, { place, run, outcome: noChildren });
  const before = moment.course.taskAt(place);
  const isAgain = before.again === true || before.status === 'retrying';
  const keeps = isAgain ? (before.keeps ?? before.run) : undefined;
  return start(beginning, { until: limitOf(moment.work, task), keeps, children: children.value });
};

/** Begins the children of a task whose turn it is, or ends the task with them. */
const goOnWithChildren = (moment: Moment, place: number, children: Children): readonly Step[] => {
  const { run } = moment.course.taskAt(place);
  if (childrenDue(children) === 'ends') return finish(moment, { place, run, outcome: endOfChildren(children) });
  const data = { task: taskAt(moment.work, place).id, run, ...nextChildren(children) };
  return [{ event: { topic: 'childrenBegun', data }, changed: [place] }];
};

const mayBegin = ({ state }: Moment): boolean => state.runs < mostRuns;
const tooManyRuns: readonly Step[] = [
  { event: { topic: 'jobErrored', data: { error: `A job runs ${mostRuns} tasks at most` } }, changed: [] },
];

/** Begins a run of a task: carries it out, starts it, or offers it. */
const enter = (moment: Moment, place: number): readonly Step[] => {
  if (!mayBegin(moment)) return tooManyRuns;
  const { work, course, state } = moment;
  const task = taskAt(work, place);
  const run = course.taskAt(place).run + 1;
  const using = usingOf(moment, state.variables);
  const beginning = { place, run, task, using };
  switch (task.kind) {
    case 'start':
    case 'end':
      return finish(moment, { place, run, outcome: { result: 'success' } });
    case 'instant': {
      const outcome = orError(() => {
        using.spend(Object.keys(task.incoming).length);
        return performed(task.name, inputsOf(using.scope, task), using);
      });
      return finish(moment, { place, run, outcome });
    }
    case 'timed':
      return startTimed(moment, beginning);
    case 'forEach':
      return startLoop(moment, beginning);
    case 'childJob':
      return startChildren(moment, beginning);
    case 'platform':
    case 'people':
    case 'worker': {
      const to = offeredTo(task, inputsOf(using.scope, task));
      const data = defined({ task: task.id, run, to, until: limitOf(work, task) });
      return [{ event: { topic: 'taskOffered', data }, changed: [place] }];
    }
  }
};

/** The tasks among these that have anything to put back. */
const toPutBack = ({ course }: Moment, places: readonly number[]): readonly number[] =>
  places.filter((place) => course.taskAt(place).status !== 'idle');

/** The body of a loop has come to rest: the next item, or the end of the loop. */
const turn = (moment: Moment, place: number): readonly Step[] => {
  const { work, course, state } = moment;
  const { graph } = work;
  const { run, turns, startedWith = state.variables } = course.taskAt(place);
  const body = graph.bodyOf(place);
  const blocking = body.find((one) => graph.loopOf[one] === place && course.blocks(one));
  if (blocking !== undefined) {
    const message = messageOf(course.taskAt(blocking).error);
    const error = { index: turns - 1, task: taskAt(work, blocking).id, message };
    return finish(moment, { place, run, outcome: { result: 'error', error } });
  }
  const task = taskAt(work, place);
  const items = orFailed(() => loopItems(usingOf(moment, startedWith).scope, task));
  if ('failed' in items) return finish(moment, { place, run, outcome: items.failed });
  if (turns >= items.value.length) return finish(moment, { place, run, outcome: { result: 'success' } });
  if (!mayBegin(moment)) return tooManyRuns;
  const item: Outcome = { result: 'success', outgoing: { current_item: items.value[turns] ?? null } };
  const { retry: _, ...data } = finishedRun(work, state, { task, run, outcome: item });
  if (data.result === 'error') return finish(moment, { place, run, outcome: { result: 'error', error: data.error } });
  const back = toPutBack(moment, body);
  const tasks = back.length > 0 ? idsOf(work, back) : undefined;
  const looped = defined({ ...data, result: 'loop' as const, tasks });
  return [{ event: { topic: 'taskFinished', data: looped }, changed: [place, ...back] }];
};

/** True if the time limit of a task that waits comes before the end of its wait. */
const isBrokenOff = (task: Task, inputs: Members, using: Using): boolean => {
  const waits = orFailed(() => timedTask(task).waits(inputs, using));
  return task.timeLimit !== undefined && 'value' in waits && task.timeLimit.seconds * 1000 < waits.value;
};

/** A time has come: a wait is over, or a time limit. */
const expire = (moment: Moment, place: number): readonly Step[] => {
  const { work, course, state } = moment;
  const task = taskAt(work, place);
  const { run, startedWith = state.variables } = course.taskAt(place);
  const using = usingOf(moment, startedWith);
  const inputs = inputsOf(using.scope, task);
  if (task.kind === 'timed' && !isBrokenOff(task, inputs, using))
    return finish(moment, { place, run, outcome: orError(() => timedTask(task).ends(inputs, using)) });
  const { seconds, result } = task.timeLimit ?? { seconds: 0, result: 'error' as const };
  const outcome: Outcome = { result, error: `The time limit of ${seconds} seconds is over` };
  return finish(moment, { place, run, outcome }, toPutBack(moment, work.graph.bodyOf(place)));
};

/** The event by which a job goes back to a task. `from`: the task that took a revert edge; null: a request asked for it. */
export const reverted = (moment: Pick<Moment, 'work' | 'course'>, from: number | null, target: number): Step => {
  const { work, course } = moment;
  const back = work.graph.withReach([target]).filter((place) => course.taskAt(place).status !== 'idle');
  const data = {
    from: from === null ? null : taskAt(work, from).id,
    to: taskAt(work, target).id,
    tasks: idsOf(work, back),
    run: course.taskAt(target).run + 1,
    stops: orNone(brokenOffBy({ work, course }, back)),
  };
  return { event: { topic: 'tasksReverted', data: defined(data) }, changed: [target, ...back] };
};

/** The next steps of a task that the course has named. */
const carryOn = (moment: Moment, place: number): readonly Step[] => {
  const { course, work } = moment;
  const task = course.taskAt(place);
  const target = course.revertOf(place);
  if (target !== undefined) return [reverted(moment, place, target)];
  if (task.status !== 'open') return enter(moment, place);
  if (isDue(task, work.now)) return expire(moment, place);
  return task.children ? goOnWithChildren(moment, place, task.children) : turn(moment, place);
};

/** The event that ends a job in which nothing is under way and nothing can be entered. */
const end = ({ work, course }: Moment): FollowingEvent => {
  const { tasks, loopOf, places } = work.graph;
  const outside = [...tasks.keys()].filter((place) => loopOf[place] === tasks.length);
  const blocking = outside.filter(course.blocks).map((place) => {
    const { id, title } = taskAt(work, place);
    return { task: id, name: title, message: messageOf(course.taskAt(place).error) };
  });
  const [first] = blocking;
  if (first) {
    const message = `${first.name}: ${first.message}`.slice(0, longestMessage);
    return { topic: 'jobErrored', data: { error: { tasks: blocking, message } } };
  }
  const last = places.get(endTask);
  if (last !== undefined && course.taskAt(last).status === 'finished')
    return { topic: 'jobCompleted', data: { variables: {} } };
  const stopped = outside.filter(course.leadsNowhere);
  const place = stopped.find((one) => course.taskAt(one).result === 'failure') ?? stopped[0];
  const why =
    place === undefined
      ? 'nothing leads on'
      : `${taskAt(work, place).title} ended with ${course.taskAt(place).result}, and no edge leads on`;
  return { topic: 'jobErrored', data: { error: `The end was not reached: ${why}` } };
};

/** True if the run would wait, and as many wait as may at once. */
const mustQueue = ({ work, course }: Moment, place: number): boolean => {
  const { kind } = taskAt(work, place);
  const waits = kind !== 'instant' && kind !== 'start' && kind !== 'end' && kind !== 'forEach';
  const begins = course.taskAt(place).status !== 'open' && course.revertOf(place) === undefined;
  return waits && begins && course.waiting() >= mostWaiting;
};

/** The last event says that more can be done, so that the service goes on whatever stops it in between. */
const goesOn = (events: readonly FollowingEvent[]): Advance => {
  const last = events.at(-1);
  if (!last) return { events, more: true };
  const marked = { ...last, data: { ...last.data, more: true } } as FollowingEvent; // all events that follow may say so
  return { events: [...events.slice(0, -1), marked], more: true };
};

/**
 * The events that follow in a job, until every task waits for a worker, a person or a time. Nothing happens while the job is paused or
 * has ended. `from` is the state after all events that the same append begins with. `most`: after this number of events it stops.
 */
export const advance = (work: Work, from: TaskStates, most = mostByItself): Advance => {
  if (from.status !== 'running') return { events: [], more: false };
  const events: FollowingEvent[] = [];
  const course = courseOf(work.graph, from, work.now);
  const state = draftOf(from);
  const effort = { steps: 0 };
  const moment = { work, course, state, effort };
  let bytes = 0;
  const add = (event: FollowingEvent, changed: readonly number[] = []): void => {
    events.push(event);
    bytes += weigh(event.data);
    take(state, event);
    course.follow(state, changed);
  };
  let queued: number[] = [];
  while (state.status === 'running') {
    const place = course.next();
    if (place === undefined && (queued.length === 0 || course.waiting() >= mostWaiting)) break;
    if (place === undefined) {
      for (const one of queued) course.enqueue(one);
      queued = [];
    } else if (mustQueue(moment, place)) queued.push(place);
    else if (events.length >= most || bytes >= mostBytesAtOnce || effort.steps >= mostSteps) return goesOn(events);
    else for (const { event, changed } of carryOn(moment, place)) add(event, changed);
  }
  const hasEnded = state.status === 'running' && course.busy(work.graph.tasks.length) === 0;
  if (hasEnded) add(end(moment));
  return { events, more: false };
};
