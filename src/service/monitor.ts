import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { GuardedClock } from '@automation-platform/concurrency';
import type { MisplacedEvents } from '../events/ownStreams.ts';
import type { Measures } from '../http/engine/metrics.ts';
import type { Node } from '../node.ts';
import { documentIn, pageOf } from '../projections/engine/documents.ts';
import { parkedIn, parkedSpec } from '../projections/engine/parked.ts';
import { parkedReactions } from '../projections/engine/parkedReactions.ts';
import type { Page } from '../projections/engine/port.ts';
import type { JobWork } from '../runners/jobs/jobWork.ts';
import type { Schedules } from '../runners/schedules/schedules.ts';
import type { EventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { EventStoreDb } from '../store/eventstoredb/store.ts';
import type { OpenedLog } from '../store/open.ts';
import type { Scrubbed } from '../store/sqlite/scrub.ts';
import type { SqliteStore } from '../store/sqlite/store.ts';
import { version } from '../version.ts';
import type { ReadModels } from './readModels.ts';

/** The metrics and the status of a part of the service. */
export type HealthPart = {
  readonly measures: Measures;
  /** Members of /health/status. */
  readonly status: () => Promise<Record<string, unknown>>;
};

/** The state of a kind of log. */
type OfLog = {
  readonly logKind: 'sqlite' | 'eventstoredb';
  /** The reason why the note of the log's newest event cannot be written beside the log. */
  readonly noteFault: () => string | undefined;
  /** Results of the background check of an embedded log's events. */
  readonly scrubbed: (() => Scrubbed) | undefined;
  /** Positions of the log that this process had not heard of at the last look; 0 if it writes all of them itself. */
  readonly untold: () => number;
  /** Further metrics of this kind of log. */
  readonly logMeasures: Measures;
};

type Needs = {
  readonly node: Node;
  readonly opened: OpenedLog;
  readonly readModels: Pick<ReadModels, 'kind' | 'snapshotPosition'>;
  /** Events with types of the platform's from other writers, as far as this process has seen them. */
  readonly misplaced: MisplacedEvents;
  /** Set if the log is served to other programs: resolves to true if its port accepts connections. */
  readonly logListens: (() => Promise<boolean>) | undefined;
  /** The parts of the service that tell of themselves. */
  readonly parts: readonly HealthPart[];
  /** How many wrong user names or passwords were sent to this process. */
  readonly failedLogins: () => number;
};

/** Health names at most this many of each kind. */
const mostNamed = 100;

const reactionsOnly = { field: 'kind', op: 'equals', value: 'reaction' } as const;

const unknown: Page = { entries: [], total: 0 };

/** The state of the service, for metrics, /health/ready and /health/status. */
export const monitor = ({ node, opened, readModels, misplaced, logListens, parts, failedLogins }: Needs) => {
  const { log, run, leadership, model, stored, touched } = node;
  const { logKind, noteFault, scrubbed, untold, logMeasures } = measuresOf(opened);
  const started = performance.now();
  const serverId = randomUUID();
  // While the read models cannot be read, nobody knows what is parked.
  const first = { order: 1, skip: 0, limit: mostNamed } as const;
  const reactionsParked = (): Promise<Page> =>
    pageOf(model, parkedReactions, { ...first, sort: 'at', where: reactionsOnly }).catch(() => unknown);
  const documentsParked = (): Promise<Page> =>
    model.list(parkedSpec.name, { ...first, sort: 'name' }).catch(() => unknown);
  // A request must not wait until the log is back.
  const logHead = (): Promise<number | null> =>
    log.connected() ? log.head().catch(() => null) : Promise.resolve(null);
  const lag = () => Math.max(0, stored() - run.position(), untold());
  const works = () => run.ready() && run.fault() === undefined && log.fault() === undefined && log.connected();
  // Anybody may ask, so all callers share one connection at a time.
  let underWay: Promise<boolean> | undefined;
  const served = (): Promise<boolean> | undefined =>
    (underWay ??= logListens?.().finally(() => {
      underWay = undefined;
    }));
  const ready = async () => works() && (await served()) !== false;

  const measures: Measures = {
    projection_position: { help: 'Position of the read models in the log', value: run.position },
    projection_lag: {
      help: 'Positions that this node has stored and does not show yet, or that it was not told of yet',
      value: lag,
    },
    store_lag: { help: 'The same figure as projection_lag', value: lag },
    projection_leads: {
      help: '1 while this process writes the read models',
      value: () => (run.leadership.held() ? 1 : 0),
    },
    leads: {
      help: '1 while this process does what one process alone should do',
      value: () => (leadership.held() ? 1 : 0),
    },
    projections_parked: {
      help: 'Documents that cannot be shown, because an event of theirs cannot be read',
      value: async () => (await documentsParked()).total,
    },
    reactions_parked: { help: 'Events whose consequences failed', value: async () => (await reactionsParked()).total },
    store_stopped: { help: '1 while the log takes no changes', value: () => (log.fault() === undefined ? 0 : 1) },
    streams_touched: {
      help: 'Streams that another program has touched, as far as this process knows',
      value: () => touched.reasons().size,
    },
    misplaced_events_total: {
      help: 'Events under @platform/ that somebody else wrote since this process started',
      value: misplaced.count,
    },
    store_connected: { help: '0 while the log cannot be reached', value: () => (log.connected() ? 1 : 0) },
    failed_logins_total: { help: 'Wrong user names and passwords sent to this process', value: failedLogins },
    ...logMeasures,
    ...Object.assign({}, ...parts.map((part) => part.measures)),
  };

  /** Progress and last result of the checks, as JSON. */
  const checks = () => {
    if (!scrubbed) return null;
    const { damaged, ...progress } = scrubbed();
    return { ...progress, damaged: Object.fromEntries(damaged) };
  };
  const isDamaged = () => (scrubbed?.().damaged.size ?? 0) > 0;
  const isSound = () => noteFault() === undefined && !isDamaged() && touched.reasons().size === 0;

  const status = async (): Promise<Record<string, unknown>> => {
    const [isReady, isServed, documents, parked, head, ...told] = await Promise.all([
      ready(),
      served(),
      documentsParked(),
      reactionsParked(),
      logHead(),
      ...parts.map((part) => part.status()),
    ]);
    const running = isReady ? 'running' : 'degraded';
    return {
      status: isReady && isSound() && documents.total + parked.total === 0 ? 'up' : 'degraded',
      version,
      uptimeSeconds: Math.round((performance.now() - started) / 1000),
      host: hostname(),
      serverId,
      serverName: null,
      services: [
        { service: logKind, status: log.connected() && log.fault() === undefined ? 'running' : 'stopped' },
        { service: readModels.kind, status: run.ready() && run.fault() === undefined ? 'running' : 'stopped' },
      ],
      timestamp: Math.round(node.clock.now()),
      apps: running,
      adapters: running,
      leads: leadership.held(),
      eventStore: {
        kind: logKind,
        position: head,
        connected: log.connected(),
        served: isServed ?? null,
        fault: log.fault() ?? null,
        noteFault: noteFault() ?? null,
        checks: checks(),
        misplaced: { events: misplaced.count(), streams: misplaced.streams().slice(0, mostNamed) },
        touched: Object.fromEntries([...touched.reasons()].slice(0, mostNamed)),
      },
      readStore: {
        kind: readModels.kind,
        leads: run.leadership.held(),
        position: run.position(),
        lag: lag(),
        fault: run.fault() ?? null,
        snapshot: readModels.snapshotPosition(),
      },
      ...Object.assign({}, ...told),
      parked: {
        documents: Object.fromEntries(documents.entries.map((entry) => [entry.id, parkedIn(entry).reason])),
        reactions: parked.entries.map((entry) => documentIn(parkedReactions, entry)),
      },
    };
  };

  return { measures, ready, status };
};

const measuresOf = (opened: OpenedLog): OfLog =>
  'embedded' in opened ? embeddedLog(opened.embedded) : remoteLog(opened.remote);

const embeddedLog = ({ stats, scrubbed, noteFault }: SqliteStore): OfLog => ({
  logKind: 'sqlite',
  noteFault,
  scrubbed,
  untold: () => 0,
  logMeasures: {
    store_commits_total: {
      help: 'Transactions committed, each one fsync',
      value: () => stats().commits,
    },
    store_events_total: {
      help: 'Events appended by this process',
      value: () => stats().events,
    },
    store_checked_position: {
      help: 'Position up to which this pass of the background check has come',
      value: () => scrubbed().position,
    },
    store_checks_total: {
      help: 'Whole passes of the background check over the log',
      value: () => scrubbed().passes,
    },
    store_damaged_events: {
      help: 'Stored events that are not what was written',
      value: () => scrubbed().damaged.size,
    },
  },
});

const remoteLog = ({ lag }: EventStoreDb): OfLog => ({
  logKind: 'eventstoredb',
  noteFault: () => undefined,
  scrubbed: undefined,
  untold: lag,
  logMeasures: {},
});

const parkedRuns = { where: { field: 'kind', op: 'equals', value: 'run' }, sort: 'at', order: 1 } as const;

/** The metrics and the status of the reader of event triggers. */
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
    const triggersCaughtUp = triggers.settled();
    if (triggersCaughtUp === undefined || !log.connected()) return 0;
    const head = await log.head().catch(() => triggersCaughtUp);
    return Math.max(0, head - triggersCaughtUp);
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

/** The metrics and the status of tasks of jobs that run workflows. Every node knows all of them. */
export const tasksHealth = ({ taskCounts }: Pick<JobWork, 'taskCounts'>): HealthPart => ({
  measures: {
    tasks_open: {
      help: 'Tasks of workflows that wait for workers or nodes, that they have claimed, and that wait for people',
      label: 'kind',
      value: taskCounts,
    },
  },
  status: async () => ({ tasks: taskCounts() }),
});

/** The metrics and the status of schedules. */
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

/** The metrics and the status of the clock of this node. */
export const clockHealth = ({ status }: Pick<GuardedClock, 'status'>): HealthPart => ({
  measures: {
    clock_jumped: {
      help: '1 while the clock of this machine is not believed: schedules and retirement wait',
      value: () => (status().jumped === null ? 0 : 1),
    },
  },
  status: async () => ({ clock: status() }),
});
