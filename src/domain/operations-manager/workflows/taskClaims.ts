import { same } from '../../engine/changes.ts';
import type { Actor } from '../../engine/core.ts';
import { RequestError } from '../../engine/requestError.ts';
import { heldBy, mostLost, refuseOtherReports } from '../claims.ts';
import type { Outcome } from './controlTasks.ts';
import { type OperationKind, operationKind } from './ownOperations.ts';
import { refuseMove } from './refusals.ts';
import { finishedRun, type Work } from './taskOutcomes.ts';
import { type OfferedTo, type TaskEvent, type TaskState, type TaskStates, taskIn } from './taskStates.ts';
import type { Task } from './workflows.ts';

/** One run of a task. */
export type RunOfTask = { readonly task: string; readonly run: number };

type Caller = Pick<Actor, 'id' | 'admin'>;

/** The task with this id. Throws `not_found` if the workflow has none. */
export const taskOf = ({ graph }: Pick<Work, 'graph'>, id: string): Task => {
  const place = graph.places.get(id);
  const task = place === undefined ? undefined : graph.tasks[place];
  if (!task) throw new RequestError('not_found', 'There is no such task', { path: '/task' });
  return task;
};

const isOver = ({ status }: TaskStates): boolean => status !== 'running' && status !== 'paused';

/** True if the run is under way, also in a paused job. */
export const isUnderWay = (state: TaskStates, { task, run }: RunOfTask): boolean => {
  const now = taskIn(state, task);
  return !isOver(state) && now.status === 'open' && now.run === run;
};

/** The run, if it is under way and was offered. Throws `conflict` if it has ended, or the job has. */
const underWay = (state: TaskStates, named: RunOfTask): TaskState & { readonly to: OfferedTo } => {
  if (isOver(state)) return refuseMove(`The job has ended: ${state.status}`);
  if (!isUnderWay(state, named)) return refuseMove(`Run ${named.run} of ${named.task} is not under way any more`);
  const { to, ...task } = taskIn(state, named.task);
  return to ? { ...task, to } : refuseMove(`${named.task} is carried out by the service itself`);
};

/** True if people carry out the task. */
export const isForPeople = (to: OfferedTo | undefined): boolean => to !== undefined && 'groups' in to;

type ClaimInput = RunOfTask & { readonly worker: string; readonly lease: number };

/** Gives a run to a worker or a node. Nothing happens if it does not wait for one, because another was faster. */
export const claimTask = (state: TaskStates, input: ClaimInput, now: number, caller: Caller): readonly TaskEvent[] => {
  const { task, run, worker, lease } = input;
  const { claims, to } = taskIn(state, task);
  if (state.status !== 'running' || !isUnderWay(state, input) || claims.held || !to || isForPeople(to)) return [];
  const until = now + lease * 1000;
  return [
    { topic: 'taskClaimed', data: { task, run, claim: claims.last + 1, worker, account: caller.id, until, lease } },
  ];
};

/** Reserves a run for a person. Throws `conflict` if another person has it. */
export const reserveTask = (
  state: TaskStates,
  named: RunOfTask & { readonly worker: string },
  caller: Caller,
): readonly TaskEvent[] => {
  const { claims, to } = underWay(state, named);
  const { task, run, worker } = named;
  if (!isForPeople(to)) return refuseMove('The task is not for people');
  if (claims.held?.account === caller.id) return [];
  if (claims.held) return refuseMove('Another person has claimed the task');
  const claim = { claim: claims.last + 1, worker, account: caller.id, until: null, lease: null };
  return [{ topic: 'taskClaimed', data: { task, run, ...claim } }];
};

type Claimed = RunOfTask & { readonly claim: number };

/**
 * A claim is extended once half of its lease is over, or if its end is further away than a lease. A claim on a canceled job
 * is heard, so that its worker stops.
 */
export const heartbeatTask = (state: TaskStates, input: Claimed, now: number, caller: Caller): readonly TaskEvent[] => {
  if (state.status === 'canceled') return [];
  const { task, run, claim } = input;
  const { until, lease } = heldBy(underWay(state, input).claims, claim, caller);
  if (until === null || lease === null) return [];
  const rest = until - now;
  const isYoung = rest > (lease * 1000) / 2 && rest <= lease * 1000;
  return isYoung ? [] : [{ topic: 'taskClaimExtended', data: { task, run, claim, until: now + lease * 1000 } }];
};

/** Gives a run back. That is no lost claim. Without a number it is the claim of a person. */
export const releaseTask = (
  state: TaskStates,
  input: RunOfTask & { readonly claim?: number },
  caller: Caller,
): readonly TaskEvent[] => {
  const { claims } = underWay(state, input);
  const { task, run, claim = claims.last } = input;
  heldBy(claims, claim, caller);
  return [{ topic: 'taskReleased', data: { task, run, claim, reason: 'returned' } }];
};

const lostError = (kind: OperationKind | undefined, lost: number): string | undefined => {
  if (kind === 'acts') return 'The outcome is unknown: the node that carried it out was lost. It is not done again';
  return kind !== 'writes' && lost >= mostLost ? `${lost} claims on the task were lost` : undefined;
};

/**
 * Releases a claim whose time is up, unless it has been extended since. After the third lost claim the run ends in error; an
 * operation that acts does so after the first, one that writes never does.
 */
export const lapseTask = (
  work: Work,
  state: TaskStates,
  input: Claimed & { readonly until: number },
): readonly TaskEvent[] => {
  const { task: id, run, claim, until } = input;
  const { claims, to } = taskIn(state, id);
  if (!isUnderWay(state, input) || claims.held?.claim !== claim || claims.held.until !== until) return [];
  const task = taskOf(work, id);
  const kind = to && 'platform' in to ? operationKind(task) : undefined;
  const isReturned = state.status === 'paused' && kind !== 'acts';
  const released: TaskEvent = {
    topic: 'taskReleased',
    data: { task: id, run, claim, reason: isReturned ? 'returned' : 'lapsed' },
  };
  const error = isReturned ? undefined : lostError(kind, claims.lost + 1);
  if (error === undefined) return [released];
  return [
    released,
    { topic: 'taskFinished', data: finishedRun(work, state, { task, run, outcome: { result: 'error', error } }) },
  ];
};

type Report = RunOfTask & { readonly outcome: Outcome; readonly claim?: number };

/** True if the report says what the last run ended with. */
const isSameAgain = (before: TaskState, { run, outcome, claim }: Report): boolean => {
  const { status, result, outgoing, error, claims } = before;
  const isEnded = before.run === run && (status === 'finished' || status === 'retrying');
  const isSame = result === outcome.result && same(outgoing, outcome.outgoing ?? {}) && same(error, outcome.error);
  return isEnded && isSame && (claim === undefined || claim === claims.last);
};

/**
 * Stores the outcome of a run. The same report again is no change. `outcome`: with sealed secrets. Throws `conflict` if the
 * run is not under way, or the claim is not the caller's; `invalid` for a result that the reporter cannot say.
 */
export const finishTask = (work: Work, state: TaskStates, report: Report, caller: Caller): readonly TaskEvent[] => {
  const { task: id, run, outcome, claim } = report;
  const task = taskOf(work, id);
  if (outcome.result === 'error' && (outcome.error === undefined || outcome.error === null || outcome.error === ''))
    throw new RequestError('invalid', 'The result error needs an error', { path: '/error' });
  if (isSameAgain(taskIn(state, id), report)) return [];
  const { claims, to } = underWay(state, report);
  if (isForPeople(to)) {
    if (outcome.result === 'error')
      throw new RequestError('invalid', 'People end tasks with success or failure', { path: '/result' });
    if (claims.held && claims.held.account !== caller.id && !caller.admin)
      return refuseMove('Another person has claimed the task');
  } else refuseOtherReports(claims, claim, caller);
  if ('platform' in to && !claims.held) return refuseMove('A node of the service carries out the task');
  return [{ topic: 'taskFinished', data: finishedRun(work, state, { task, run, outcome }) }];
};
