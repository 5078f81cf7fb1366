import { areas } from '../http/areas.ts';
import { addressReader, secrecyReader } from '../http/engine/address.ts';
import { app } from '../http/engine/app.ts';
import { bearerOf } from '../http/engine/metricsToken.ts';
import { listen } from '../http/engine/server.ts';
import type { Service } from '../http/engine/service.ts';
import { projections } from '../projections/all.ts';
import type { Parts } from './parts.ts';
import { countedRuns, parkedRunsOf } from './runners.ts';
import type { ServedLog } from './servedLog.ts';
import { blaming } from './serviceNode.ts';

type Health = Pick<Service, 'status' | 'ready'>;

/** Listens for requests. Throws a `StartFault` if host, port or certificate is wrong. */
export const serveHttp = async (parts: Parts, health: Health) => {
  const { config, node, auth, past, settings, metrics, logger, recorder, stopping } = parts;
  const service: Service = {
    ...serviceOf(parts, health),
    earlier: async (position, actor) => (await past.at(service, { position }, actor)).service,
  };
  const listener = app({
    areas,
    service,
    settled: node.settled,
    past: (moment, actor) => past.at(service, moment, actor),
    settings: settings.current,
    authenticator: auth,
    limits: { maxBytes: config.MAX_BODY_BYTES, maxImportBytes: config.MAX_IMPORT_BYTES },
    addressOf: addressReader(config.TRUST_PROXY),
    isSecret: secrecyReader(config.TRUST_PROXY),
    observe: (seen) => {
      metrics.observe(seen);
      logger.info(seen, 'request');
    },
    recorder,
    logBug: (error, requestId) => logger.error({ err: error, requestId }, 'bug'),
    stopping: () => stopping.signal.aborted,
    cutOff: () => !node.log.connected(),
    mayMeasure: bearerOf(config.METRICS_TOKEN),
  });
  const { HOST: host, PORT: port, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const where = certFile && keyFile ? { host, port, tls: { certFile, keyFile } } : { host, port };
  return blaming(`PORT ${port} on HOST ${host}`, () => listen(where, listener));
};

/** The parts of the service that routes may use. */
const serviceOf = (parts: Parts, health: Health): Omit<Service, 'earlier'> => {
  const { node, auth, out, filters, access, streaming, index, work, jobReaders, metrics, rebuilding, logger } = parts;
  const { clock } = node;
  return {
    handle: node.handle,
    model: node.model,
    tools: node.tools,
    auth,
    devices: out.devices,
    retries: node.retries,
    ...node.reader,
    tampered: node.guarding,
    collectionOf: (aggregate) => projections.find(({ of }) => of === aggregate),
    digest: node.digest,
    renderer: out.renderer,
    simulator: out.simulator,
    filters,
    events: {
      at: (position) => node.log.at(position),
      head: () => node.log.head(),
      sees: access.sees,
      seesInAudit: access.seesInAudit,
      seesType: access.seesType,
      viewerOf: access.viewerOf,
    },
    eventStream: streaming,
    audit: { log: node.log, index },
    preview: node.preview,
    work,
    jobReaders,
    runs: countedRuns(parts),
    parked: parkedRunsOf(node, parts),
    metrics: metrics.text,
    status: health.status,
    rebuild: rebuilding.rebuild,
    moment: clock.moment,
    confirmClock: ({ id, username }) => {
      const { jumped } = clock.status();
      if (jumped !== null) logger.warn({ jumped, account: id, username }, 'The clock of this node is confirmed');
      clock.confirm();
    },
    ready: async () => !parts.stopping.signal.aborted && (await health.ready()),
  };
};

/**
 * Serves the log to clients of EventStoreDB if the log is embedded and ESDB_PORT is set. gRPC takes long to load, so it
 * is loaded only then.
 */
export const serveEmbedded = async ({ config, node, opened, auth, places }: Parts): Promise<ServedLog | undefined> => {
  const { ESDB_PORT: port, ESDB_HOST: host } = config;
  if (port === undefined || !('embedded' in opened)) return undefined;
  return blaming(`ESDB_PORT ${port} on ESDB_HOST ${host}`, async () => {
    const { servedLog } = await import('./servedLog.ts');
    return servedLog({ config, port, store: opened.embedded, auth, places, log: node.warn });
  });
};
