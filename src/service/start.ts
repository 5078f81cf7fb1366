import type { Logger } from 'pino';
import type { Log } from '../concurrency/log.ts';
import type { Config } from '../config.ts';
import type { Node } from '../node.ts';
import { bootstrap } from './bootstrap.ts';
import { clockHealth, eventTriggersHealth, monitor, schedulesHealth, tasksHealth } from './monitor.ts';
import { type Parts, partsOf } from './parts.ts';
import { serveEmbedded, serveHttp } from './serve.ts';
import { openServiceNode } from './serviceNode.ts';
import { stopInOrder } from './stop.ts';

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
 * that answers slowly until `leaving` aborts.
 */
export const startService = async (
  config: Config,
  logger: Logger,
  tell: (line: string) => void,
  leaving: AbortSignal = new AbortController().signal,
): Promise<Running> => {
  const warn: Log = (message, about) => logger.warn(about, message);
  const parts = partsOf(config, logger, await openServiceNode(config, warn, leaving));
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
  const isUpgrade = node.acknowledged() > 0;
  const mayLead = 'embedded' in opened || !opened.remote.serverLeads();

  node.start();
  parts.index.moved(node.acknowledged());
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
