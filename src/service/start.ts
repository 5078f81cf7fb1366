import type { Logger } from 'pino';
import { requestRecorder } from '../commands/authorization/requestRecorder.ts';
import { filters } from '../commands/user-schemas/filters.ts';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import { readerPlaces } from '../concurrency/readerPlaces.ts';
import type { Config } from '../config.ts';
import { misplacedEvents } from '../events/misplaced.ts';
import { isOwnEvent } from '../events/ownStreams.ts';
import { areas } from '../http/areas.ts';
import { authenticator } from '../http/authentication/authenticate.ts';
import { metrics } from '../http/engine/metrics.ts';
import { eventAccess } from '../http/events/eventAccess.ts';
import { eventStream } from '../http/events/eventStream.ts';
import { activeSettings, type Settings } from '../http/profiles/settings.ts';
import { sessionRunner } from '../runners/agentSessions.ts';
import { auditIndex } from '../store/auditIndex/auditIndex.ts';
import { backInTime } from './backInTime.ts';
import { countedRuns, eventTriggersOf } from './eventTriggers.ts';
import { clockHealth, eventTriggersHealth, schedulesHealth } from './health.ts';
import { jobsOf } from './jobs.ts';
import { serviceMonitor } from './monitor.ts';
import type { Node } from './node.ts';
import { parkedRunsOf } from './parkedRuns.ts';
import { rebuildingOf } from './rebuilding.ts';
import { openRuns } from './runs.ts';
import { schedulesOf } from './schedules.ts';
import { serveEmbedded } from './serveEmbedded.ts';
import { serveHttp } from './serveHttp.ts';
import { openServiceNode } from './serviceNode.ts';
import { signingOf } from './signing.ts';
import { startInOrder } from './startInOrder.ts';
import { stopInOrder } from './stop.ts';
import { openWaysOut, type WaysOut } from './waysOut.ts';

/**
 * A running service. `stop` ends it in order: new requests, answers in progress, reactions, projections, stores.
 * `warmUp` does work in advance for which the first request of each kind would otherwise wait.
 */
export type Running = {
  readonly url: string;
  /**
   * The URL of the embedded log for clients of EventStoreDB, without user and password; undefined: it is not served.
   */
  readonly logUrl: string | undefined;
  readonly warmUp: () => Promise<void>;
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
  const stopping = new AbortController();

  const opening = await openServiceNode(config, warn, leaving);
  const { node, name, clock, lead, opened, readModels, signingKeys, patiently } = opening;
  const settings = settingsOf(node, config, logger, warn);
  const auth = authenticatorOf({ node, clock, config, settings: settings.current });
  const out = openWaysOut({ config, node, settings });
  const sessions = sessionsOf(node, out, clock, warn);
  const isOn = (): boolean => settings.current().audit;
  const recorder = requestRecorder({ handle: node.handle, isOn, now: clock.now, log: warn });
  const compiled = filters(config.TRIGGER_FILTERS);
  const runs = openRuns(node, out, compiled, warn);
  const measured = metrics({ areas, isOwnEvent });
  const misplaced = misplacedEvents(warn);
  const index = auditIndex({ folder: config.DATA_DIR, log: config.EVENTSTORE_URL, warn });
  const past = backInTime({ config, node, index, warn });
  const access = eventAccess({ ...node, areas, accountNow: auth.accountNow, foreign: config.FOREIGN_EVENTS });
  const firing = { node, runs, access, metrics: measured, logger };
  const triggers = eventTriggersOf({ ...firing, config, settings: settings.current, filters: compiled });
  const schedules = schedulesOf({ ...firing, clock });
  const signing = signingOf({ config, keys: signingKeys, node, clock, opened, warn });
  const places = readerPlaces({ perNode: config.STREAM_READERS });
  const streaming = eventStream({ access, log: node.log, after: node.acknowledged(), places, warn });

  // Authentication gets events first: from then on, an account that an event locks out cannot get in.
  node.subscribe({ categories: auth.categories, onStored: auth.onStored, onShown: auth.onEvent });
  node.subscribe({ categories: settings.categories, onStored: settings.onStored });
  node.subscribe({ categories: sessions.categories, onShown: sessions.onEvent });
  const { work, jobReaders } = jobsOf({ config, node, name, clock, out, access, places, settings, log: warn });
  endWithRights(node, new Set([...auth.categories, ...settings.categories]), [streaming, jobReaders]);
  node.subscribe({ categories: schedules.categories, onShown: schedules.onEvent });
  for (const told of [schedules.onStored, measured.stored, misplaced.met, streaming.stored]) node.subscribeToAll(told);
  node.subscribeToAll(({ position }) => index.moved(position));
  if (lead) node.subscribeToAll(lead.onStored);

  await startInOrder({
    config,
    node,
    opened,
    readModels,
    settings,
    index,
    lead,
    sessions,
    work,
    triggers,
    schedules,
    signing,
    patiently,
    tell,
  });

  // The log is served before HTTP listens, so that whoever finds this process ready finds its log too.
  const served = await serveEmbedded({ config, opened, auth, places, warn });
  const health = serviceMonitor({
    node,
    opened,
    readModels,
    misplaced,
    logListens: served?.listens,
    parts: [eventTriggersHealth(node, triggers), schedulesHealth(schedules), clockHealth(clock), signing],
    failedLogins: auth.failedLogins,
  });
  measured.show({
    ...health.measures,
    event_stream_readers: { help: 'Readers of the stream of events', value: streaming.readers },
  });
  const rebuilding = rebuildingOf({ config, node, readModels, logger });
  const server = await serveHttp({
    config,
    node,
    auth,
    out,
    runs: countedRuns(runs, measured),
    parked: parkedRunsOf(node, { triggers, schedules }),
    filters: compiled,
    access,
    past,
    settings: settings.current,
    recorder,
    eventStream: streaming,
    index,
    work,
    jobReaders,
    metrics: measured,
    health,
    rebuilding,
    clock,
    logger,
    stopping: stopping.signal,
  });
  void rebuilding.afterUpgrade(stopping.signal);

  return {
    url: server.url,
    logUrl: served?.url,
    warmUp: server.warmUp,
    damaged: node.run.damaged,
    stop: () =>
      stopInOrder({
        stopping,
        streaming,
        server,
        served,
        auth,
        settings,
        sessions,
        work,
        jobReaders,
        triggers,
        schedules,
        signing,
        runs,
        recorder,
        out,
        past,
        index,
        readModels,
        rebuilding,
        lead,
        node,
      }),
  };
};

/** Lets streams look at the rights of their readers when events of these categories may have changed them. */
const endWithRights = (
  node: Pick<Node, 'subscribe'>,
  categories: ReadonlySet<string>,
  streams: readonly { readonly rightsChanged: () => void }[],
): void =>
  node.subscribe({
    categories,
    onShown: () => {
      for (const { rightsChanged } of streams) rightsChanged();
    },
  });

/** The settings in force. They also set the level of the logger, unless LOG_LEVEL is set. */
const settingsOf = ({ tools }: Node, { LOG_LEVEL: fixed }: Config, logger: Logger, warn: Log) => {
  const atFirst = logger.level;
  return activeSettings({
    state: tools.state,
    log: warn,
    onChange: ({ logLevel }) => {
      logger.level = fixed ?? logLevel ?? atFirst;
    },
  });
};

type Authenticating = {
  readonly node: Node;
  readonly clock: GuardedClock;
  readonly config: Config;
  readonly settings: () => Settings;
};

const authenticatorOf = ({ node, clock, config, settings }: Authenticating) =>
  authenticator({
    model: node.model,
    settled: node.settled,
    head: node.head,
    handle: node.handle,
    settings,
    hashing: node.hashing,
    unseal: node.unseal,
    digest: node.digest,
    secure: config.TLS_CERT_FILE !== undefined,
    clock,
  });

const sessionsOf = (node: Node, { webhook, renderer }: WaysOut, clock: GuardedClock, warn: Log) =>
  sessionRunner({
    handle: node.handle,
    tools: node.tools,
    events: node.events,
    webhook,
    renderer,
    leadership: node.leadership,
    clock,
    log: warn,
  });
