import { filters as compiledFilters } from '@automation-platform/bounded-schemas';
import type { Logger } from 'pino';
import { requestRecorder } from '../commands/authorization/requestRecorder.ts';
import { readerPlaces } from '../concurrency/readerPlaces.ts';
import type { Config } from '../config.ts';
import { misplacedEvents } from '../events/misplaced.ts';
import { isOwnEvent } from '../events/ownStreams.ts';
import { areas } from '../http/areas.ts';
import { authenticator } from '../http/authentication/authenticate.ts';
import { metrics as metricsOf } from '../http/engine/metrics.ts';
import { eventAccess } from '../http/events/eventAccess.ts';
import { eventStream } from '../http/events/eventStream.ts';
import { activeSettings } from '../http/profiles/settings.ts';
import type { Node } from '../node.ts';
import { auditIndex } from '../store/auditIndex/auditIndex.ts';
import { backInTime } from './backInTime.ts';
import { rebuildingOf } from './readModels.ts';
import { type Base, eventTriggersOf, jobsOf, openRuns, schedulesOf, sessionsOf, signingOf } from './runners.ts';
import type { Opening } from './serviceNode.ts';
import { openWaysOut } from './waysOut.ts';

/** The parts of a service on a node. They hear of its events, and have not started. */
export const partsOf = (config: Config, logger: Logger, opening: Opening) => {
  const { node, lead } = opening;
  const { warn, clock } = node;
  const settings = settingsOf(node, config, logger);
  const secure = config.TLS_CERT_FILE !== undefined;
  const auth = authenticator(node, { settings: settings.current, secure });
  const out = openWaysOut({ config, node, settings });
  const filters = compiledFilters(config.TRIGGER_FILTERS);
  const runs = openRuns(node, out, filters);
  const metrics = metricsOf({ areas, isOwnEvent });
  const access = eventAccess(node, { areas, accountNow: auth.accountNow, foreign: config.FOREIGN_EVENTS });
  const places = readerPlaces({ perNode: config.STREAM_READERS });
  const base: Base = { ...opening, config, logger, settings, out, filters, runs, metrics, access, places };

  const isOn = (): boolean => settings.current().audit;
  const recorder = requestRecorder({ handle: node.handle, isOn, now: clock.now, log: warn });
  const misplaced = misplacedEvents(warn);
  const index = auditIndex({ folder: config.DATA_DIR, log: config.EVENTSTORE_URL, warn });
  const past = backInTime(config, node, index);
  const sessions = sessionsOf(base);
  const triggers = eventTriggersOf(base);
  const schedules = schedulesOf(base);
  const signing = signingOf(base);
  const streaming = eventStream({ access, log: node.log, after: node.acknowledged(), places, warn });
  const rebuilding = rebuildingOf(config, node, opening.readModels, logger);

  // Authentication gets events first: from then on, an account that an event locks out cannot get in.
  node.subscribe({ categories: auth.categories, onStored: auth.onStored, onShown: auth.onEvent });
  node.subscribe({ categories: settings.categories, onStored: settings.onStored });
  node.subscribe({ categories: sessions.categories, onShown: sessions.onEvent });
  const { work, jobReaders } = jobsOf(base);
  // Streams look at the rights of their readers when these events may have changed them.
  const ofRights = new Set([...auth.categories, ...settings.categories]);
  for (const { rightsChanged } of [streaming, jobReaders])
    node.subscribe({ categories: ofRights, onShown: () => rightsChanged() });
  node.subscribe({ categories: schedules.categories, onShown: schedules.onEvent });
  for (const onStored of [schedules.onStored, metrics.stored, misplaced.met, streaming.stored])
    node.subscribeToAll(onStored);
  node.subscribeToAll(({ position }) => index.moved(position));
  if (lead) node.subscribeToAll(lead.onStored);

  return {
    ...base,
    ...opening,
    auth,
    recorder,
    misplaced,
    index,
    past,
    sessions,
    triggers,
    schedules,
    signing,
    streaming,
    rebuilding,
    work,
    jobReaders,
    /** Aborts once the service shuts down. */
    stopping: new AbortController(),
  };
};

/** The parts of a running service. */
export type Parts = ReturnType<typeof partsOf>;

/** The settings in force. They also set the level of the logger, unless LOG_LEVEL is set. */
const settingsOf = ({ tools, warn }: Node, { LOG_LEVEL: fixed }: Config, logger: Logger) => {
  const atFirst = logger.level;
  return activeSettings({
    state: tools.state,
    log: warn,
    onChange: ({ logLevel }) => {
      logger.level = fixed ?? logLevel ?? atFirst;
    },
  });
};
