import { randomUUID } from 'node:crypto';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import { type ClaimedTask, lapseTask, wakeTask } from '../../commands/operations-manager/taskReports.ts';
import { platform } from '../../domain/engine/core.ts';
import { runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import { claimableTasks } from './claimables.ts';
import { type Claiming, claiming } from './claiming.ts';
import { jobQueue } from './jobQueue.ts';
import { type LeasesNeeds, leases } from './leases.ts';
import type { Starts } from './starts.ts';
import { type TaskBookNeeds, taskBook } from './taskBook.ts';

type Needs = {
  readonly handle: Handle;
  readonly events: Streams['events'];
  readonly starts: Pick<Starts, 'take' | 'giveBack'>;
  readonly times: Omit<LeasesNeeds, 'lapse' | 'longestMs'>;
  readonly claiming: Omit<Claiming<ClaimedTask>, 'kind' | 'queue' | 'look' | 'isGone' | 'events'>;
  /** The work that this node carries out itself. */
  readonly here: TaskBookNeeds['here'];
  /** Called with each run that is open, when it has changed. */
  readonly onOpen: TaskBookNeeds['onOpen'];
  /** Looks at a job again. */
  readonly look: (job: string) => void;
  /** True if something that a job needs is gone. Then it has ended. */
  readonly isGone: (job: string) => Promise<boolean>;
};

/** The longest time limit. */
const longestTimer = 366 * 86_400_000;

const about = (operation: string) => ({ actor: platform, operation, requestId: randomUUID() });

/** The work on tasks of jobs that run workflows: those that wait for workers, their leases, and times that come by themselves. */
export const taskWork = ({ handle, events, starts, times, here, onOpen, look, isGone, ...needs }: Needs) => {
  const queue = jobQueue(starts);
  const claims = leases({
    ...times,
    lapse: async (id, { claim, until }) => {
      const { job, ...run } = runIn(id) ?? {};
      if (job) await handle(lapseTask, { ...about(lapseTask.name), id: job, input: { ...run, claim, until } });
    },
  });
  const timers = leases({
    ...times,
    longestMs: longestTimer,
    lapse: async (id, { until }) => {
      const { job, ...run } = runIn(id) ?? {};
      if (job) await handle(wakeTask, { ...about(wakeTask.name), id: job, input: { ...run, until } });
    },
  });
  const kind = claimableTasks(handle, events);
  const claim = claiming({
    ...needs.claiming,
    events,
    kind,
    queue,
    look: (id) => look(kind.jobOf(id)),
    isGone: (id) => isGone(kind.jobOf(id)),
  });
  const book = taskBook({ queue, here, leases: claims, timers, onOpen });

  return {
    claim,
    /** A job that runs a workflow, as it is now. */
    look: book.look,
    counts: book.counts,
    /** Gives tasks to workers that wait, once more of them may begin. */
    serve: queue.serve,
    start: (): void => {
      claims.start();
      timers.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all([claims.stop(), timers.stop()]);
    },
  };
};
