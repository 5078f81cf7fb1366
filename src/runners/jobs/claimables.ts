import type { CommandResult, Handle } from '../../commands/engine/handle.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import { type ClaimedJob, claimedIn, claimJob, releaseJob } from '../../commands/operations-manager/jobClaims.ts';
import { type ClaimedTask, claimTask, releaseTask } from '../../commands/operations-manager/taskReports.ts';
import type { DataOf } from '../../domain/engine/core.ts';
import { hasEnded, type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { runIdOf, runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import { type TaskEvent, taskIn } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { Recorded } from '../../store/event.ts';
import type { Claimable } from './claiming.ts';

/** Whole jobs, as workers claim them. */
export const claimableJobs = (handle: Handle): Claimable<ClaimedJob> => ({
  jobOf: (id) => id,
  claim: (id, { worker, lease, ...about }) => handle(claimJob, { ...about, id, input: { worker, lease } }),
  claimed: async (result) => claimedIn(result),
  release: ({ id, claim }, about) => handle(releaseJob, { ...about, id, input: { claim } }),
  isHeld: ({ claim }, state) => !hasEnded(state) && state.claims.held?.claim === claim,
});

type TaskClaimed = DataOf<TaskEvent, 'taskClaimed'>;

/** Any run: a request that is sent again is answered by its key. */
const anyRun = { task: '', run: 0 };

/** Tasks of jobs that run workflows, as workers claim them. */
export const claimableTasks = (handle: Handle, events: Streams['events']): Claimable<ClaimedTask> => {
  const claimed = async ({ id, revision, position, state }: CommandResult): Promise<ClaimedTask | undefined> => {
    const [event] = (await events(`${job.category}-${id}`, revision, revision)) as readonly Recorded<TaskClaimed>[];
    if (event?.topic !== 'taskClaimed') return undefined;
    const { task, run, claim } = event.data;
    const after = state as JobState; // the state of the command's own aggregate
    return {
      id: runIdOf({ job: id, task, run }),
      job: id,
      task,
      run,
      claim,
      position,
      lease: event.data,
      state: after,
    };
  };
  return {
    jobOf: (id) => runIn(id)?.job ?? id,
    claim: (id, { worker, lease, ...about }) => {
      const { job: of, task, run } = runIn(id) ?? { job: id, ...anyRun };
      return handle(claimTask, { ...about, id: of, input: { task, run, worker, lease } });
    },
    claimed,
    release: ({ job: id, task, run, claim }, about) =>
      handle(releaseTask, { ...about, id, input: { task, run, claim } }),
    isHeld: ({ task, run, claim }, state) => {
      const now = state.tasks && taskIn(state.tasks, task);
      return !hasEnded(state) && now?.status === 'open' && now.run === run && now.claims.held?.claim === claim;
    },
  };
};
