import type { Gauges } from './http/monitoring.ts';
import type { Page, ReadStore } from './projections/port.ts';
import type { Projections } from './projections/run.ts';
import type { EventStore } from './store/port.ts';
import { version } from './version.ts';

type Needs = {
  readonly log: EventStore;
  readonly logKind: 'sqlite' | 'eventstoredb';
  /** What that kind of log can tell besides. */
  readonly logGauges: Gauges;
  readonly run: Projections;
  readonly model: ReadStore;
  readonly modelKind: 'memory' | 'redis';
  /** Highest position that this node has acknowledged. */
  readonly acknowledged: () => number;
  /** Position of the last snapshot; 0 when there is none. */
  readonly snapshot: () => number;
};

const unknown: Page = { entries: [], total: 0 };

/** How the service is: for gauges, for /health/ready, for /health/status. */
export const monitor = ({ log, logKind, logGauges, run, model, modelKind, acknowledged, snapshot }: Needs) => {
  const started = Date.now();
  // What is parked cannot be known while the read models cannot be read.
  const list = (collection: string, sort: string): Promise<Page> => model.list(collection, { sort, order: 1, skip: 0, limit: 100 }).catch(() => unknown);
  const parkedReactions = () => list('parkedReactions', 'at');
  const parkedDocuments = () => list('parked', 'name');
  const lag = () => Math.max(0, acknowledged() - run.position());
  const ready = () => run.ready() && run.fault() === undefined && log.fault() === undefined && log.connected();

  const gauges: Gauges = {
    projection_position: { help: 'Position of the read models in the log', value: run.position },
    projection_lag: { help: 'Acknowledged positions that the read models do not show yet', value: lag },
    projection_leads: { help: '1 while this process writes the read models', value: () => (run.lead.held() ? 1 : 0) },
    projections_parked: { help: 'Documents whose projection threw', value: async () => (await parkedDocuments()).total },
    reactions_parked: { help: 'Events whose consequences failed', value: async () => (await parkedReactions()).total },
    store_stopped: { help: '1 once the log has stopped taking appends', value: () => (log.fault() === undefined ? 0 : 1) },
    store_connected: { help: '0 while the log cannot be reached', value: () => (log.connected() ? 1 : 0) },
    ...logGauges,
  };

  const status = async (): Promise<Record<string, unknown>> => {
    const [documents, parked, head] = await Promise.all([parkedDocuments(), parkedReactions(), log.head().catch(() => null)]);
    return {
      status: ready() && documents.total + parked.total === 0 ? 'up' : 'degraded',
      version,
      uptimeSeconds: Math.round((Date.now() - started) / 1000),
      eventStore: { kind: logKind, position: head, connected: log.connected(), fault: log.fault() ?? null },
      readStore: { kind: modelKind, leads: run.lead.held(), position: run.position(), lag: lag(), fault: run.fault() ?? null, snapshot: snapshot() },
      parked: {
        documents: Object.fromEntries(documents.entries.map(({ id, text }) => [id, (JSON.parse(text) as { reason: string }).reason])),
        reactions: parked.entries.map(({ text }) => JSON.parse(text)),
      },
    };
  };

  return { gauges, ready, status };
};
