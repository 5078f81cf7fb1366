import type { Logger } from 'pino';
import type { RequestRecorder } from '../commands/authorization/requestRecorder.ts';
import type { Filters } from '../commands/user-schemas/filters.ts';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Config } from '../config.ts';
import { areas } from '../http/areas.ts';
import type { Authenticator } from '../http/authentication/authenticate.ts';
import { addressReader, secrecyReader } from '../http/engine/address.ts';
import { app } from '../http/engine/app.ts';
import type { Metrics } from '../http/engine/metrics.ts';
import { bearerOf } from '../http/engine/metricsToken.ts';
import { listen } from '../http/engine/server.ts';
import type { ParkedRuns, Service } from '../http/engine/service.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import type { EventStream } from '../http/events/eventStream.ts';
import type { JobReaders } from '../http/operations-manager/jobReaders.ts';
import type { JobWork } from '../http/operations-manager/jobs.ts';
import type { Settings } from '../http/profiles/settings.ts';
import { projections } from '../projections/all.ts';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import type { BackInTime } from './backInTime.ts';
import type { Node } from './node.ts';
import type { Rebuilding } from './rebuilding.ts';
import type { Runs } from './runs.ts';
import { blaming } from './startFaults.ts';
import type { WaysOut } from './waysOut.ts';

type Needs = {
  readonly config: Config;
  readonly node: Node;
  readonly auth: Authenticator;
  readonly out: WaysOut;
  readonly runs: Runs;
  readonly parked: ParkedRuns;
  readonly filters: Filters;
  readonly access: EventAccess;
  readonly past: Pick<BackInTime, 'at'>;
  readonly settings: () => Settings;
  readonly recorder: RequestRecorder;
  readonly metrics: Metrics;
  readonly eventStream: EventStream;
  readonly index: Pick<AuditIndex, 'read'>;
  readonly rebuilding: Pick<Rebuilding, 'rebuild'>;
  readonly clock: Pick<GuardedClock, 'confirm' | 'moment' | 'status'>;
  readonly work: JobWork;
  readonly jobReaders: JobReaders;
  readonly health: Pick<Service, 'status' | 'ready'>;
  readonly logger: Logger;
  /** Aborted once the service shuts down: new requests are refused. */
  readonly stopping: AbortSignal;
};

/** Listens for requests. Throws a `StartFault` if host, port or certificate is wrong. */
export const serveHttp = async (needs: Needs) => {
  const { config, node, auth, past, settings, metrics, logger, stopping } = needs;
  const service: Service = {
    ...serviceOf(needs),
    earlier: async (position, actor) => (await past.at(service, { position }, actor)).service,
  };
  const { listener, warmUp } = app({
    areas,
    service,
    settled: node.settled,
    past: (moment, actor) => past.at(service, moment, actor),
    settings,
    authenticator: auth,
    limits: { maxBytes: config.MAX_BODY_BYTES, maxImportBytes: config.MAX_IMPORT_BYTES },
    addressOf: addressReader(config.TRUST_PROXY),
    isSecret: secrecyReader(config.TRUST_PROXY),
    observe: (seen) => {
      metrics.observe(seen);
      logger.info(seen, 'request');
    },
    recorder: needs.recorder,
    logBug: (error, requestId) => logger.error({ err: error, requestId }, 'bug'),
    stopping: () => stopping.aborted,
    cutOff: () => !node.log.connected(),
    mayMeasure: bearerOf(config.METRICS_TOKEN),
  });
  const { HOST: host, PORT: port, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const where = certFile && keyFile ? { host, port, tls: { certFile, keyFile } } : { host, port };
  const server = await blaming(`PORT ${port} on HOST ${host}`, () => listen(where, listener));
  return { ...server, warmUp };
};

/** The parts of the service that routes may use. */
const serviceOf = ({
  node,
  auth,
  out,
  runs,
  parked,
  filters,
  access,
  eventStream,
  index,
  work,
  jobReaders,
  metrics,
  health,
  rebuilding,
  clock,
  logger,
  stopping,
}: Needs): Omit<Service, 'earlier'> => ({
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
  filters,
  events: {
    at: (position) => node.log.at(position),
    head: () => node.log.head(),
    sees: access.sees,
    seesInAudit: access.seesInAudit,
    seesType: access.seesType,
    viewerOf: access.viewerOf,
  },
  eventStream,
  audit: { log: node.log, index },
  preview: node.preview,
  work,
  jobReaders,
  runs,
  parked,
  metrics: metrics.text,
  status: health.status,
  rebuild: rebuilding.rebuild,
  moment: clock.moment,
  confirmClock: ({ id, username }) => {
    const { jumped } = clock.status();
    if (jumped !== null) logger.warn({ jumped, account: id, username }, 'The clock of this node is confirmed');
    clock.confirm();
  },
  ready: async () => !stopping.aborted && (await health.ready()),
});
