import { filters as compiledFilters } from '@automation-platform/bounded-schemas';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { requestRecorder } from '../commands/authorization/requestRecorder.ts';
import { commandTools } from '../commands/engine/tools.ts';
import type { Config } from '../config.ts';
import { type Actor, seesAll } from '../domain/engine/core.ts';
import type { Moment } from '../domain/engine/moments.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { isOwnEvent, misplacedEvents } from '../events/ownStreams.ts';
import { areas } from '../http/areas.ts';
import { authenticator } from '../http/authentication/authenticate.ts';
import type { Past } from '../http/engine/asOf.ts';
import { metrics as metricsOf } from '../http/engine/metrics.ts';
import type { Service } from '../http/engine/service.ts';
import { eventAccess } from '../http/events/eventAccess.ts';
import { eventStream } from '../http/events/eventStream.ts';
import { readerPlaces } from '../http/events/readerPlaces.ts';
import { activeSettings } from '../http/profiles/settings.ts';
import type { Node } from '../node.ts';
import { pastThread } from '../projections/asOf/pastThread.ts';
import { pastView } from '../projections/asOf/pastView.ts';
import { reader } from '../projections/engine/reader.ts';
import { type AuditIndex, auditIndex } from '../store/auditIndex/auditIndex.ts';
import { positionAt } from '../store/auditIndex/times.ts';
import { rebuildingOf } from './readModels.ts';
import {
  type Base,
  eventTriggersOf,
  jobsOf,
  openRuns,
  openWaysOut,
  schedulesOf,
  sessionsOf,
  signingOf,
} from './runners.ts';
import type { Opening } from './serviceNode.ts';

/** The parts of a service on a node. They hear of its events, and have not started. */
export const partsOf = (config: Config, logger: Logger, opening: Opening) => {
  const { node, lead } = opening;
  const { warn, clock } = node;
  const settings = settingsOf(node, config, logger);
  const secure = config.TLS_CERT_FILE !== undefined;
  const out = openWaysOut({ config, node, settings });
  const { directory, openId } = out;
  const auth = authenticator(node, { settings: settings.current, secure, directory, openId });
  node.rightsBy(async (id) => (await auth.accountNow(id))?.actor);
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
  const streaming = eventStream({ access, log: node.log, after: node.stored(), places, warn });
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

const mostViews = 100;

/** Makes services that show an earlier time. */
const backInTime = (config: Config, node: Node, index: Pick<AuditIndex, 'read'>) => {
  const { log, model: live, tools, guarding, warn } = node;
  const { EVENTSTORE_URL: at, FOREIGN_EVENTS: foreign } = config;
  const { reads, stop } = pastThread({ log: at, memory: config.ASOF_MEMORY * 2 ** 20, foreign, warn });
  // Admins see everything, so they share their services.
  const ofAdmins = new LRUCache<number, Service>({ max: mostViews });

  const positionOf = async (moment: Moment): Promise<number> => {
    // All that this node has stored is surely there.
    if ('position' in moment && moment.position <= node.stored()) return moment.position;
    const head = await log.head();
    if ('time' in moment) return index.read(head, (db) => positionAt(db, log, moment.time));
    if (moment.position > head)
      throw new RequestError('invalid', `asOf is beyond the log, which ends at ${head}`, { path: 'asOf' });
    return moment.position;
  };

  const toolsAt = (position: number, model: Service['model']): Service['tools'] => {
    const { hashPassword, seal, unseal, methods, transform, accountNow } = tools;
    const past = commandTools({
      model,
      streams: node.streamsUpTo(position),
      caughtUp: () => undefined,
      rest: { hashPassword, seal, unseal, methods, transform, accountNow },
    });
    return { ...past, stateForRights: tools.state, gbacAbove: tools.gbacAbove };
  };

  const serviceAt = (service: Service, position: number, actor: Actor): Service => {
    const model = pastView({ reads, live, position, actor });
    // The progress that workers report is about now.
    const work = { ...service.work, progressOf: () => null, taskProgressOf: () => null };
    return { ...service, work, model, tools: toolsAt(position, model), ...reader(model, guarding) };
  };

  const shared = (service: Service, position: number, actor: Actor): Service => {
    const hit = ofAdmins.get(position);
    if (hit) return hit;
    const view = serviceAt(service, position, actor);
    ofAdmins.set(position, view);
    return view;
  };

  return {
    /** The service as of a moment, as the actor may see it now. Throws `invalid` for a position beyond the log. */
    at: async (service: Service, moment: Moment, actor: Actor): Promise<Past> => {
      const position = await positionOf(moment);
      return { position, service: (seesAll(actor) ? shared : serviceAt)(service, position, actor) };
    },
    stop,
  };
};
