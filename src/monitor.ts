import type { Gauges } from './http/monitoring.ts';
import type { ReadStore } from './projections/port.ts';
import type { Projections } from './projections/run.ts';
import type { SqliteStore } from './store/sqlite.ts';
import { version } from './version.ts';

type Needs = {
  readonly log: SqliteStore;
  readonly run: Projections;
  readonly model: ReadStore;
  readonly kind: 'memory' | 'redis';
  /** Highest position that this node has acknowledged. */
  readonly acknowledged: () => number;
  /** Position of the last snapshot; 0 when there is none. */
  readonly snapshot: () => number;
};

/** How the service is: for gauges, for /health/ready, for /health/status. */
export const monitor = ({ log, run, model, kind, acknowledged, snapshot }: Needs) => {
  const started = Date.now();
  const parkedReactions = () => model.list('parkedReactions', { sort: 'at', order: 1, skip: 0, limit: 100 });
  const parkedDocuments = () => model.list('parked', { sort: 'name', order: 1, skip: 0, limit: 100 });
  const lag = () => Math.max(0, acknowledged() - run.position());
  const ready = () => run.ready() && run.fault() === undefined && log.fault() === undefined && log.connected();

  const gauges: Gauges = {
    projection_position: { help: 'Position of the read models in the log', value: run.position },
    projection_lag: { help: 'Acknowledged positions that the read models do not show yet', value: lag },
    projection_leads: { help: '1 while this process writes the read models', value: () => (run.lead.held() ? 1 : 0) },
    projections_parked: { help: 'Documents whose projection threw', value: async () => (await parkedDocuments()).total },
    reactions_parked: { help: 'Events whose consequences failed', value: async () => (await parkedReactions()).total },
    store_stopped: { help: '1 once the log has stopped taking appends', value: () => (log.fault() === undefined ? 0 : 1) },
    store_commits_total: { help: 'Transactions committed, each one fsync', value: () => log.stats().commits },
    store_events_total: { help: 'Events appended by this process', value: () => log.stats().events },
  };

  const status = async (): Promise<Record<string, unknown>> => {
    const [documents, parked] = [await parkedDocuments(), await parkedReactions()];
    return {
      status: ready() && documents.total + parked.total === 0 ? 'up' : 'degraded',
      version,
      uptimeSeconds: Math.round((Date.now() - started) / 1000),
      eventStore: { kind: 'sqlite', position: await log.head(), fault: log.fault() ?? null },
      readStore: { kind, leads: run.lead.held(), position: run.position(), lag: lag(), fault: run.fault() ?? null, snapshot: snapshot() },
      parked: { documents: Object.fromEntries(documents.entries.map(({ id, text }) => [id, (JSON.parse(text) as { reason: string }).reason])), reactions: parked.entries.map(({ text }) => JSON.parse(text)) },
    };
  };

  return { gauges, ready, status };
};
