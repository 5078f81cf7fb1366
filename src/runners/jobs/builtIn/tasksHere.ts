import { randomUUID } from 'node:crypto';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import type { Streams } from '../../../commands/engine/streams.ts';
import { inputsNow, readJob } from '../../../commands/operations-manager/jobReading.ts';
import { noteJobInventories } from '../../../commands/operations-manager/jobs.ts';
import { inputFaults } from '../../../commands/operations-manager/operationInputs.ts';
import {
  claimTask,
  finishTask,
  heartbeatTask,
  lapseTask,
  releaseTask,
} from '../../../commands/operations-manager/taskReports.ts';
import { platform } from '../../../domain/engine/core.ts';
import { type JobStarted, type JobState, job } from '../../../domain/operations-manager/jobs.ts';
import { filledIn, inputFaultText, operationOf } from '../../../domain/operations-manager/workflows/ownOperations.ts';
import { type RunOfJob, runIn } from '../../../domain/operations-manager/workflows/runIds.ts';
import { isUnderWay, taskOf } from '../../../domain/operations-manager/workflows/taskClaims.ts';
import { taskIn } from '../../../domain/operations-manager/workflows/taskStates.ts';
import type { Recorded } from '../../../store/event.ts';
import type { OperationsHere } from './operations.ts';
import { type Operation, type Run, RunEnded } from './run.ts';
import { lease, type Work, type WorkKind } from './work.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly events: Streams['events'];
  /** The name under which this node claims. */
  readonly worker: string;
  readonly operations: OperationsHere;
};

const cannot =
  (reason: string): Operation =>
  () =>
    Promise.reject(new RunEnded(reason));

const runOf = (id: string): RunOfJob => {
  const run = runIn(id);
  if (!run) throw new Error(`${id} is no run of a task`);
  return run;
};

type Ready = Pick<Run, 'inputs'> & { readonly operation: Operation };

/** Tasks that stand for operations of this service. */
export const tasksHere = ({ handle, tools, events, worker, operations }: Needs): WorkKind => {
  /** The operation and its inputs; undefined if the run is not under way any more. */
  const readyFor = async (id: string): Promise<Ready | undefined> => {
    const { job: of, task, run } = runOf(id);
    const state = await tools.state(job, of);
    if (!state.tasks || taskIn(state.tasks, task).run !== run) return undefined;
    const read = await readJob(of, state, tools);
    // The job ends with the report.
    if (!read) return { inputs: {}, operation: cannot('The workflow cannot be read') };
    const one = taskOf(read, task);
    const operation = operationOf(one);
    if (!operation) return { inputs: {}, operation: cannot(`This service does not carry out ${one.app}.${one.name}`) };
    const inputs = filledIn(inputsNow(read, one));
    const [fault] = inputFaults(operation, inputs);
    if (fault) return { inputs, operation: cannot(inputFaultText(fault)) };
    return { inputs, operation: operations[operation] as Operation }; // its inputs fit
  };

  const asWork = (id: string, claim: number, ready: Ready, started: Recorded<JobStarted>): Work => {
    const { job: of, task, run } = runOf(id);
    const input = { task, run, claim };
    const asPlatform = { actor: platform, requestId: started.metadata.requestId, id: of };
    const about = { ...requestFor(started), id: of };
    const isOver = async (): Promise<boolean> => {
      const { tasks } = await tools.state(job, of);
      return !tasks || !isUnderWay(tasks, { task, run });
    };
    return {
      id,
      job: of,
      claim,
      key: id,
      ...ready,
      started,
      endsAtOnce: true,
      isOver,
      heartbeat: () => handle(heartbeatTask, { ...asPlatform, operation: heartbeatTask.name, input }),
      release: () => handle(releaseTask, { ...asPlatform, operation: releaseTask.name, input }),
      noteInventories: (inventories) => handle(noteJobInventories, { ...about, input: { inventories } }),
      finish: (outgoing) => handle(finishTask, { ...about, input: { ...input, result: 'success', outgoing } }),
      fail: (error) => handle(finishTask, { ...about, input: { ...input, result: 'error', error } }),
    };
  };

  return {
    claim: async (id) => {
      const { job: of, task, run } = runOf(id);
      // All that is needed is read before, so that nothing keeps a task from running once it is claimed.
      const [started] = (await events(`${job.category}-${of}`, 0, 0)) as readonly Recorded<JobStarted>[];
      const ready = await readyFor(id);
      if (!started || !ready) return undefined;
      const about = { actor: platform, operation: claimTask.name, requestId: randomUUID() };
      const result = await handle(claimTask, { ...about, id: of, input: { task, run, worker, lease } });
      // Without a change another node was faster.
      const { tasks } = result.state as JobState; // the state of the command's own aggregate
      const claim = result.changed && tasks ? taskIn(tasks, task).claims.held : null;
      return claim ? asWork(id, claim.claim, ready, started) : undefined;
    },
    releaseFormer: (id, { claim, until }) => {
      const { job: of, task, run } = runOf(id);
      const about = { actor: platform, operation: lapseTask.name, requestId: randomUUID() };
      return handle(lapseTask, { ...about, id: of, input: { task, run, claim, until } });
    },
  };
};
