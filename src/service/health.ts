import type { GuardedClock } from '../concurrency/guardedClock.ts';
import { pageOf } from '../projections/engine/documents.ts';
import { parkedReactions } from '../projections/engine/parkedReactions.ts';
import type { Schedules } from '../runners/schedules/schedules.ts';
import type { EventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { HealthPart } from './monitor.ts';
import type { Node } from './node.ts';

const parkedRuns = { where: { field: 'kind', op: 'equals', value: 'run' }, sort: 'at', order: 1 } as const;

/** What the reader of event triggers tells of itself. */
export const eventTriggersHealth = (
  { log, model }: Pick<Node, 'log' | 'model'>,
  triggers: Pick<EventTriggers, 'status' | 'settled'>,
): HealthPart => {
  // While the read models cannot be read, nobody knows what is parked.
  const parked = async (): Promise<number> =>
    pageOf(model, parkedReactions, { ...parkedRuns, skip: 0, limit: 1 }).then(
      ({ total }) => total,
      () => 0,
    );
  /** Positions that event triggers have not passed; 0 on a node that does not lead, and while the log is away. */
  const lag = async (): Promise<number> => {
    const settled = triggers.settled();
    if (settled === undefined || !log.connected()) return 0;
    const head = await log.head().catch(() => settled);
    return Math.max(0, head - settled);
  };
  return {
    measures: {
      triggers_waiting: {
        help: 'Runs of event triggers that were decided and wait to start, on the node that leads',
        value: () => triggers.status().waiting,
      },
      triggers_lag_events: {
        help: 'Positions of the log between its head and what all event triggers have settled, on the node that leads',
        value: lag,
      },
      trigger_runs_parked: { help: 'Runs of triggers that failed and wait for a decision', value: parked },
    },
    status: async () => ({ triggers: { ...triggers.status(), parked: await parked() } }),
  };
};

/** What schedules tell of themselves. */
export const schedulesHealth = ({ status }: Pick<Schedules, 'status'>): HealthPart => ({
  measures: {
    schedules_set: { help: 'Schedules for which the clock of this node is set', value: () => status().set },
    schedules_faults: {
      help: 'Schedules that an earlier version has stored and that never run',
      value: () => status().faults,
    },
    schedules_starting: {
      help: 'Instants that have fired and have no job yet, on the node that leads',
      value: () => status().starting,
    },
  },
  status: async () => ({ schedules: status() }),
});

/** What the clock of this node tells of itself. */
export const clockHealth = ({ status }: Pick<GuardedClock, 'status'>): HealthPart => ({
  measures: {
    clock_jumped: {
      help: '1 while the clock of this machine is not believed: schedules and retirement wait',
      value: () => (status().jumped === null ? 0 : 1),
    },
  },
  status: async () => ({ clock: status() }),
});
