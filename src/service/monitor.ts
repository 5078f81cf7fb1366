import type { Leadership } from '../concurrency/leadership.ts';
import type { MisplacedEvents } from '../events/misplaced.ts';
import type { Measures } from '../http/engine/metrics.ts';
import { documentIn, pageOf } from '../projections/engine/documents.ts';
import { parkedIn, parkedSpec } from '../projections/engine/parked.ts';
import { parkedReactions } from '../projections/engine/parkedReactions.ts';
import type { Page, ReadStore } from '../projections/engine/port.ts';
import type { Projections } from '../projections/engine/run.ts';
import type { EventStoreDb } from '../store/eventstoredb/store.ts';
import type { OpenedLog } from '../store/open.ts';
import type { EventStore } from '../store/port.ts';
import type { Scrubbed } from '../store/sqlite/scrub.ts';
import type { SqliteStore } from '../store/sqlite/store.ts';
import { version } from '../version.ts';
import type { Node } from './node.ts';
import type { ReadModels } from './readModels.ts';

/** What a part of the service tells of itself. */
export type HealthPart = {
  readonly measures: Measures;
  /** Members of /health/status. */
  readonly status: () => Promise<Record<string, unknown>>;
};

type Needs = {
  readonly log: EventStore;
  readonly logKind: 'sqlite' | 'eventstoredb';
  /** The reason why the note of the log's newest event cannot be written beside the log. */
  readonly noteFault: () => string | undefined;
  /** Results of the background check of an embedded log's events. */
  readonly scrubbed: (() => Scrubbed) | undefined;
  /** Positions of the log that this process had not been told of at the last look; 0 if it writes all of them itself. */
  readonly untold: () => number;
  /** Further metrics of this kind of log. */
  readonly logMeasures: Measures;
  /** Set if the log is served to others: resolves to true if its port accepts connections. */
  readonly logListens: (() => Promise<boolean>) | undefined;
  /** Events with types of the platform's that somebody else wrote, as far as this process has seen them. */
  readonly misplaced: MisplacedEvents;
  /** Streams of the platform that somebody else has touched, and how, as far as this node has noticed. */
  readonly touched: () => ReadonlyMap<string, string>;
  readonly run: Projections;
  /** Who does what one process alone should do. */
  readonly leadership: Leadership;
  readonly model: ReadStore;
  readonly modelKind: 'memory' | 'redis';
  /** Highest position that this node has acknowledged. */
  readonly acknowledged: () => number;
  /** The parts of the service that tell of themselves. */
  readonly parts: readonly HealthPart[];
  /** Position of the last snapshot; 0 if there is none. */
  readonly snapshot: () => number;
};

/** Health names at most this many of each kind. */
const mostNamed = 100;

const reactionsOnly = { field: 'kind', op: 'equals', value: 'reaction' } as const;

const unknown: Page = { entries: [], total: 0 };

/** The state of the service, for metrics, /health/ready and /health/status. */
export const monitor = (needs: Needs) => {
  const {
    log,
    logKind,
    noteFault,
    scrubbed,
    untold,
    logMeasures,
    logListens,
    misplaced,
    touched,
    run,
    leadership,
    model,
    modelKind,
    acknowledged,
    parts,
    snapshot,
  } = needs;
  const started = performance.now();
  // While the read models cannot be read, nobody knows what is parked.
  const first = { order: 1, skip: 0, limit: mostNamed } as const;
  const reactionsParked = (): Promise<Page> =>
    pageOf(model, parkedReactions, { ...first, sort: 'at', where: reactionsOnly }).catch(() => unknown);
  const documentsParked = (): Promise<Page> =>
    model.list(parkedSpec.name, { ...first, sort: 'name' }).catch(() => unknown);
  // A request must not wait until the log is back.
  const logHead = (): Promise<number | null> =>
    log.connected() ? log.head().catch(() => null) : Promise.resolve(null);
  const lag = () => Math.max(0, acknowledged() - run.position(), untold());
  const works = () => run.ready() && run.fault() === undefined && log.fault() === undefined && log.connected();
  // Anybody may ask, so all callers share one connection at a time.
  let asked: Promise<boolean> | undefined;
  const served = (): Promise<boolean> | undefined =>
    (asked ??= logListens?.().finally(() => {
      asked = undefined;
    }));
  const ready = async () => works() && (await served()) !== false;

  const measures: Measures = {
    projection_position: { help: 'Position of the read models in the log', value: run.position },
    projection_lag: {
      help: 'Positions that this node has acknowledged and does not show yet, or that it was not told of yet',
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
      help: 'Streams that somebody else has touched, as far as this process knows',
      value: () => touched().size,
    },
    misplaced_events_total: {
      help: 'Events under @platform/ that somebody else wrote since this process started',
      value: misplaced.count,
    },
    store_connected: { help: '0 while the log cannot be reached', value: () => (log.connected() ? 1 : 0) },
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
  const isSound = () => noteFault() === undefined && !isDamaged() && touched().size === 0;

  const status = async (): Promise<Record<string, unknown>> => {
    const [isReady, isServed, documents, parked, head, ...told] = await Promise.all([
      ready(),
      served(),
      documentsParked(),
      reactionsParked(),
      logHead(),
      ...parts.map((part) => part.status()),
    ]);
    return {
      status: isReady && isSound() && documents.total + parked.total === 0 ? 'up' : 'degraded',
      version,
      uptimeSeconds: Math.round((performance.now() - started) / 1000),
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
        touched: Object.fromEntries([...touched()].slice(0, mostNamed)),
      },
      readStore: {
        kind: modelKind,
        leads: run.leadership.held(),
        position: run.position(),
        lag: lag(),
        fault: run.fault() ?? null,
        snapshot: snapshot(),
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

type ServiceNeeds = {
  readonly node: Node;
  readonly opened: OpenedLog;
  readonly readModels: ReadModels;
  readonly misplaced: MisplacedEvents;
  readonly logListens: Needs['logListens'];
  readonly parts: Needs['parts'];
  /** How many wrong user names or passwords were sent to this process. */
  readonly failedLogins: () => number;
};

/** The monitor of a service, with the measures of its kind of log. */
export const serviceMonitor = ({
  node,
  opened,
  readModels,
  failedLogins,
  misplaced,
  logListens,
  parts,
}: ServiceNeeds) => {
  const ofLog = 'embedded' in opened ? embeddedLog(opened.embedded) : remoteLog(opened.remote);
  const { measures, ...health } = monitor({
    log: node.log,
    run: node.run,
    leadership: node.leadership,
    model: node.model,
    touched: node.touched.reasons,
    acknowledged: node.acknowledged,
    misplaced,
    logListens,
    parts,
    snapshot: readModels.snapshotPosition,
    modelKind: readModels.kind,
    ...ofLog,
  });
  return {
    ...health,
    measures: {
      ...measures,
      failed_logins_total: { help: 'Wrong user names and passwords sent to this process', value: failedLogins },
    } satisfies Measures,
  };
};

type OfLog = Pick<Needs, 'logKind' | 'noteFault' | 'scrubbed' | 'untold' | 'logMeasures'>;

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
