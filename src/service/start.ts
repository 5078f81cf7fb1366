import { randomBytes, randomUUID } from 'node:crypto';
import type { Log } from '@automation-platform/concurrency';
import type { Logger } from 'pino';
import { provideAccount } from '../commands/authorization/accounts.ts';
import { provideGroup } from '../commands/authorization/groups.ts';
import { provideLab } from '../commands/configuration-manager/adapters.ts';
import type { AnyCommand } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import type { Config } from '../config.ts';
import { builtInGroups } from '../domain/authorization/groups.ts';
import { labName } from '../domain/configuration-manager/adapters.ts';
import { platform } from '../domain/engine/core.ts';
import { areas } from '../http/areas.ts';
import { missingAt } from '../http/compatibility/notBuilt.ts';
import { app } from '../http/engine/app.ts';
import { addressReader, secrecyReader } from '../http/engine/incoming.ts';
import { bearerOf } from '../http/engine/metrics.ts';
import { listen } from '../http/engine/server.ts';
import type { Service } from '../http/engine/service.ts';
import type { Node } from '../node.ts';
import { projections } from '../projections/all.ts';
import { derivedId } from '../store/derivedIds.ts';
import { isUnusable } from '../store/tampered.ts';
import { clockHealth, eventTriggersHealth, monitor, schedulesHealth, tasksHealth } from './monitor.ts';
import { type Parts, partsOf } from './parts.ts';
import { countedRuns, parkedRunsOf } from './runners.ts';
import type { ServedLog } from './servedLog.ts';
import { blaming, type Clocks, openServiceNode } from './serviceNode.ts';

/** A running service. `stop` ends it in order: new requests, answers in progress, reactions, projections, stores. */
export type Running = {
  readonly url: string;
  /**
   * The URL of the embedded log for clients of EventStoreDB, without user and password; undefined: it is not served.
   */
  readonly logUrl: string | undefined;
  /** Resolves if the log turns out to be damaged while it is read at the start. The service must end then. */
  readonly damaged: Promise<Error>;
  readonly stop: () => Promise<void>;
};

/**
 * Builds everything and listens. `tell` shows the admin password of the first start to the operator. Waits for a log
 * that answers slowly until `leaving` aborts. Its time is that of `clocks`; unless given, that of the machine.
 */
export const startService = async (
  config: Config,
  logger: Logger,
  tell: (line: string) => void,
  {
    leaving = new AbortController().signal,
    clocks,
  }: { readonly leaving?: AbortSignal; readonly clocks?: Clocks | undefined } = {},
): Promise<Running> => {
  const warn: Log = (message, about) => logger.warn(about, message);
  const parts = partsOf(config, logger, await openServiceNode(config, warn, leaving, clocks));
  const { node, triggers, schedules, work, signing, streaming, rebuilding, stopping } = parts;
  await startInOrder(parts, tell);

  // The log is served before HTTP listens, so that whoever finds this process ready finds its log too.
  const served = await serveEmbedded(parts);
  const health = monitor({
    ...parts,
    logListens: served?.listens,
    parts: [
      eventTriggersHealth(node, triggers),
      schedulesHealth(schedules),
      tasksHealth(work),
      clockHealth(node.clock),
      signing,
    ],
    failedLogins: parts.auth.failedLogins,
  });
  parts.metrics.show({
    ...health.measures,
    event_stream_readers: { help: 'Readers of the stream of events', value: streaming.readers },
  });
  const server = await serveHttp(parts, health);
  void rebuilding.afterUpgrade(stopping.signal);

  return {
    url: server.url,
    logUrl: served?.url,
    damaged: node.run.damaged,
    stop: () => stopInOrder(parts, server, served),
  };
};

/** Starts the work of a service, before it takes requests. Each part may use the parts before it. */
const startInOrder = async (parts: Parts, tell: (line: string) => void): Promise<void> => {
  const { config, node, opened, readModels, settings, lead, work, triggers, schedules, patiently } = parts;
  const step = (work: () => Promise<unknown>): Promise<unknown> => orDamaged(node, patiently(work));
  // A log that was never opened has no events yet.
  const isUpgrade = node.stored() > 0;
  const mayLead = 'embedded' in opened || !opened.remote.serverLeads();

  node.start();
  parts.index.moved(node.stored());
  readModels.startSnapshots(node.run);
  await step(settings.refresh);
  await step(() => bootstrap({ handle: node.handle, adminPassword: config.ADMIN_PASSWORD, tell }));
  await step(async () => lead?.start());
  node.startReactions();
  parts.sessions.start();
  work.start();
  // From the first request on, every event counts.
  if (mayLead) await step(() => triggers.prepare(isUpgrade));
  triggers.start();
  if (mayLead) await step(schedules.prepare);
  schedules.start();
  parts.signing.start();
};

/** The work's outcome; rejects if the log is damaged. On a damaged log the work might wait for ever. */
const orDamaged = (node: Node, work: Promise<unknown>): Promise<unknown> => {
  const damage = node.run.damaged.then((error) => {
    throw error;
  });
  return Promise.race([work, damage]);
};

type Health = Pick<Service, 'status' | 'ready'>;

/** Listens for requests. Throws a `StartFault` if host, port or certificate is wrong. */
const serveHttp = async (parts: Parts, health: Health) => {
  const { config, node, auth, past, settings, metrics, logger, recorder, stopping } = parts;
  const service: Service = {
    ...serviceOf(parts, health),
    earlier: async (position, actor) => (await past.at(service, { position }, actor)).service,
  };
  const listener = app({
    areas,
    missingAt,
    service,
    caughtUp: node.settled,
    past: (moment, actor) => past.at(service, moment, actor),
    settings: settings.current,
    authenticator: auth,
    limits: { maxBytes: config.MAX_BODY_BYTES, maxImportBytes: config.MAX_IMPORT_BYTES },
    addressOf: addressReader(config.TRUST_PROXY),
    isSecret: secrecyReader(config.TRUST_PROXY),
    observe: (request) => {
      metrics.observe(request);
      logger.info(request, 'request');
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
  const { config, node, auth, out, filters, access, streaming, index, work, jobReaders, metrics, rebuilding, logger } =
    parts;
  const { clock } = node;
  return {
    handle: node.handle,
    model: node.model,
    tools: node.tools,
    auth,
    devices: out.devices,
    copies: out.copies,
    changes: out.changes,
    confirmations: out.confirmations,
    deviceTexts: out.deviceTexts,
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
    hasConsole: config.CONSOLE,
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
const serveEmbedded = async ({ config, node, opened, auth, places }: Parts): Promise<ServedLog | undefined> => {
  const { ESDB_PORT: port, ESDB_HOST: host } = config;
  if (port === undefined || !('embedded' in opened)) return undefined;
  return blaming(`ESDB_PORT ${port} on ESDB_HOST ${host}`, async () => {
    const { servedLog } = await import('./servedLog.ts');
    return servedLog({ config, port, store: opened.embedded, auth, places, log: node.warn, now: node.clock.now });
  });
};

type Server = { readonly stop: (ms: number) => Promise<void> };

/**
 * Ends a service in this order: new requests, streams of events, answers in progress, sessions, triggers, schedules and
 * reactions, notes of runs, records of requests, signatures, ways out, reads of earlier times, the audit index,
 * the lead, projections, stores. Each part may use the parts after it.
 */
export const stopInOrder = async (parts: Parts, server: Server, served: ServedLog | undefined): Promise<void> => {
  const { stopping, streaming, auth, settings, sessions, work, triggers, schedules, runs, recorder, out } = parts;
  const { signing, readModels, node } = parts;
  stopping.abort();
  streaming.stop();
  parts.jobReaders.stop();
  work.stopWaiting();
  readModels.pauseSnapshots();
  await finishRequests(parts, server, served);
  await out.devices.close();
  auth.stop();
  // The end of a session and the start of a job may cause reactions, so these stop together: none waits for another.
  await Promise.all([sessions.stop(), work.stop(), triggers.stop(), schedules.stop(), node.stopReactions()]);
  await Promise.all([runs.stop(), recorder.stop()]);
  await signing.stop();
  settings.stop();
  await out.renderer.close();
  await out.simulator.close();
  await parts.past.stop();
  await parts.index.stop();
  await parts.rebuilding.stop();
  await readModels.stopSnapshots();
  await parts.lead?.stop();
  await node.close();
};

/**
 * Waits for answers in progress, and for commands of jobs. Calls of devices are ended after half the time, so that their
 * outcome can still be stored and answered.
 */
const finishRequests = async (
  { settings, work, out }: Parts,
  server: Server,
  served: ServedLog | undefined,
): Promise<void> => {
  const { shutdownMs } = settings.current();
  const endCalls = (): void => {
    // First of all: what runs here must not take the end of a call for an answer.
    work.breakOff();
    void out.devices.close();
  };
  const patience = setTimeout(endCalls, shutdownMs / 2);
  await Promise.all([server.stop(shutdownMs), served?.close(), work.leave()]);
  clearTimeout(patience);
};

type Needs = {
  readonly handle: Handle;
  /** Password of the account `admin`; if undefined, a random one is made. */
  readonly adminPassword: string | undefined;
  /**
   * Called with the random password once the account has it, and with a line for each resource that cannot be provided.
   */
  readonly tell: (line: string) => void;
};

const username = 'admin';

/** The id is always the same, so that two processes that start at once use the same stream. */
const idOf = (kind: string, name: string): string => derivedId(`built-in ${kind} ${name}`);

/**
 * Makes sure that the built-in groups exist. At the first start it also creates the account `admin` in `admins`, and
 * the adapter `lab` with three simulated devices.
 */
export const bootstrap = async ({ handle, adminPassword, tell }: Needs): Promise<void> => {
  /** A resource that cannot be used is shown by health; the service starts all the same. */
  const provide = async (command: AnyCommand, id: string, input: unknown): Promise<{ readonly changed: boolean }> => {
    try {
      return await handle(command, { id, input, actor: platform, operation: 'bootstrap', requestId: randomUUID() });
    } catch (error) {
      if (!isUnusable(error)) throw error;
      tell(`Cannot provide ${command.aggregate.category} ${id}: ${error.message}`);
      return { changed: false };
    }
  };
  for (const name of Object.keys(builtInGroups)) await provide(provideGroup, idOf('group', name), { name });
  await provide(provideLab, labName, {});
  const password = adminPassword ?? randomBytes(18).toString('base64url');
  const { changed } = await provide(provideAccount, idOf('account', username), { username, password });
  if (changed && adminPassword === undefined)
    tell(`Account ${username} has the password ${password}; change it with POST /authorization/whoami/password`);
};
