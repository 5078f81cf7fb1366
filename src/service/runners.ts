import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Filters } from '@automation-platform/bounded-schemas';
import { semaphore } from '@automation-platform/concurrency';
import { typeOf } from '@automation-platform/devices';
import { fingerprintOf, type SigningKeys } from '@automation-platform/log-proof';
import type { Logger } from 'pino';
import { withinToken } from '../commands/authorization/tokens.ts';
import { parserAdder, parsing } from '../commands/configuration-manager/configurationParsers.ts';
import { deviceCopies } from '../commands/configuration-manager/deviceBackups.ts';
import { deviceChanges } from '../commands/configuration-manager/deviceChanges.ts';
import { deviceConfirmations } from '../commands/configuration-manager/deviceConfirmations.ts';
import { deviceSources } from '../commands/configuration-manager/devices.ts';
import { deviceTexts } from '../commands/configuration-manager/deviceTemplates.ts';
import { deviceTurns } from '../commands/configuration-manager/deviceTurns.ts';
import { mayFire } from '../commands/operations-manager/firing.ts';
import { whyGone } from '../commands/operations-manager/jobEnds.ts';
import { runNotes } from '../commands/operations-manager/runNotes.ts';
import { type TriggerRuns, triggerRuns } from '../commands/operations-manager/triggerRuns.ts';
import type { Config } from '../config.ts';
import { parkedReaction } from '../domain/engine/parkedReactions.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { triggerSchedule } from '../domain/operations-manager/triggerSchedules.ts';
import type { Metrics } from '../http/engine/metrics.ts';
import type { ParkedRuns } from '../http/engine/service.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import type { ReaderPlaces } from '../http/events/readerPlaces.ts';
import { jobReaders as readersOf } from '../http/operations-manager/jobReaders.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import type { Node } from '../node.ts';
import { projections } from '../projections/all.ts';
import { type SessionRunner, sessionRunner } from '../runners/agentSessions.ts';
import { backupRun } from '../runners/jobs/builtIn/backupRun.ts';
import { changeRun } from '../runners/jobs/builtIn/changeRun.ts';
import { complianceRuns } from '../runners/jobs/builtIn/complianceRun.ts';
import { jobsHere } from '../runners/jobs/builtIn/jobsHere.ts';
import { operationsHere } from '../runners/jobs/builtIn/operations.ts';
import { readAs } from '../runners/jobs/builtIn/readAs.ts';
import { rightsNow } from '../runners/jobs/builtIn/rights.ts';
import { syncRun } from '../runners/jobs/builtIn/syncRun.ts';
import { tasksHere } from '../runners/jobs/builtIn/tasksHere.ts';
import { jobWork } from '../runners/jobs/jobWork.ts';
import { taskMeasures } from '../runners/jobs/taskMeasures.ts';
import { retirement } from '../runners/retirement.ts';
import { type Schedules, schedules } from '../runners/schedules/schedules.ts';
import { anchoring } from '../runners/signing/anchoring.ts';
import { signer } from '../runners/signing/signer.ts';
import { type EventTriggers, eventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { Retried } from '../runners/triggers/retrying.ts';
import { devicesOf } from '../southbound/devices.ts';
import { ldapDirectory } from '../southbound/directory.ts';
import { engines, simulationLimits } from '../southbound/engines/engines.ts';
import { sourceReader } from '../southbound/inventorySources/sources.ts';
import { openIdIssuers } from '../southbound/openId.ts';
import { outbound } from '../southbound/outbound.ts';
import type { Renderer } from '../southbound/port.ts';
import { restCaller } from '../southbound/restCall.ts';
import { httpWebhook } from '../southbound/webhook.ts';
import { tellAnchor } from '../store/anchor.ts';
import { splitStream } from '../store/event.ts';
import { eventAt } from '../store/eventAt.ts';
import type { OpenedLog } from '../store/open.ts';
import { isUnusable } from '../store/tampered.ts';
import { esdbHosts } from '../store/url.ts';
import type { HealthPart } from './monitor.ts';

/** The runs of triggers: the function that starts their jobs, and the notes of what came of it. */
export const openRuns = ({ handle, tools, clock, warn }: Node, { renderer }: WaysOut, filters: Filters) => ({
  ...triggerRuns({ handle, tools, filters, evaluate: renderer.evaluate, now: clock.now }),
  ...runNotes({ handle, log: warn }),
});

export type Runs = ReturnType<typeof openRuns>;

/** The parts of a service that its runners work with. */
export type Base = {
  readonly config: Config;
  readonly logger: Logger;
  readonly node: Node;
  /** The name of the node. */
  readonly name: string;
  readonly opened: OpenedLog;
  readonly signingKeys: SigningKeys;
  readonly settings: ActiveSettings;
  readonly out: WaysOut;
  readonly filters: Filters;
  readonly runs: Runs;
  readonly access: EventAccess;
  readonly metrics: Metrics;
  readonly places: ReaderPlaces;
};

/** The parts of a node that all its runners work with. */
const common = ({ handle, tools, events, model, leadership, run, clock, warn }: Node) => ({
  handle,
  tools,
  events,
  model,
  leadership,
  ready: run.whenReady,
  clock,
  log: warn,
});

/** The reader of the log that fires event triggers. */
export const eventTriggersOf = (base: Base): EventTriggers => {
  const { config, node, settings, runs, filters, access, metrics, logger } = base;
  return eventTriggers({
    ...common(node),
    store: node.log,
    run: runs.run,
    ran: runs.ran,
    // A filter that an earlier version has taken, and that cannot be compiled, lets nothing pass.
    fits: (schema, payload) => {
      const filter = filters.of(schema);
      return filter.ok && filter.matches(payload).valid;
    },
    mayFire: (event) => mayFire(event) && access.isForSomebody(event),
    viewerOf: access.viewerOf,
    sees: access.sees,
    whenProjected: async (position) => node.settled(position),
    decidedAtOnce: () => settings.current().eventWorkerCount,
    rate: config.TRIGGER_RATE,
    outcome: (outcome) => metrics.ran('eventSystem', outcome),
    info: (message, about) => logger.info(about, message),
  });
};

/** The runs that requests ask for, counted. */
export const countedRuns = ({ runs, metrics: { ran } }: Pick<Base, 'runs' | 'metrics'>): Runs => {
  const run: TriggerRuns['run'] = async (one) => {
    const { type } = one.trigger.content;
    try {
      const result = await runs.run(one);
      ran(type, 'refused' in result ? result.refused.reason : 'job');
      return result;
    } catch (error) {
      ran(type, 'failed');
      throw error;
    }
  };
  return { ...runs, run };
};

/** The schedules of a service. */
export const schedulesOf = ({ node, runs, access, metrics }: Base): Schedules =>
  schedules({
    ...common(node),
    store: node.log,
    run: runs.run,
    ran: runs.ran,
    viewerOf: access.viewerOf,
    outcome: (outcome) => metrics.ran('schedule', outcome),
    guardedClock: node.clock,
    timer: (call, ms) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  });

type Retries = Pick<EventTriggers | Schedules, 'retry'>;

/** The answer where a stream that a run needs cannot be read: another try does not help. */
const unusable = (error: unknown): Retried => {
  if (!isUnusable(error)) throw error;
  return { job: null, refused: { reason: 'unusable', message: error.message } };
};

/** The parked runs and reactions, for routes. */
export const parkedRunsOf = (
  { log, tools, retryReaction }: Node,
  { triggers, schedules }: { readonly triggers: Retries; readonly schedules: Retries },
): ParkedRuns => ({
  eventOf: (stream, revision) => eventAt(log, stream, revision),
  retry: async (id, about) => {
    const { parked, parking } = await tools.state(parkedReaction, id);
    if (!parked || !parking) throw new RequestError('not_found', 'No such parked run');
    if (splitStream(parking.stream).category === triggerSchedule.category)
      return schedules.retry(id, about).catch(unusable);
    if (parking.trigger !== undefined) return triggers.retry(id, about).catch(unusable);
    await retryReaction({ event: id, ...parking });
    return { job: null, refused: null };
  },
});

/** The sessions of agents. */
export const sessionsOf = ({ node, out: { webhook, renderer }, access: { viewerOf } }: Base): SessionRunner =>
  sessionRunner({ ...common(node), viewerOf, webhook, renderer });

/**
 * The work on jobs, with the retirement of all that has ended, and the readers of jobs. All of them hear of the node's
 * events.
 */
export const jobsOf = ({ config, node, name, out, access: { viewerOf }, metrics, places, settings }: Base) => {
  const { handle, tools, events, retries, model, settled, clock, warn } = node;
  const whyGoneOf = whyGone({ model, tools, caughtUp: settled, viewerOf });
  const { operations, listeners } = operationsHere({
    handle,
    tools,
    retries,
    read: readAs({ ...node.reader, catchUp: settled }),
    rest: out.rest,
    renderer: out.renderer,
    devices: out.devices,
    changes: out.changes,
  });
  const work = jobWork({
    ...common(node),
    retries,
    builtIn: {
      worker: name,
      jobs: jobsHere({
        handle,
        tools,
        events,
        worker: name,
        components: {
          template: operations['TemplateBuilder.renderJinjaTemplate'],
          'mop-template': operations['MOP.RunCommandTemplate'],
          agent: operations['AgentSessionManager.runAgent'],
          ...complianceRuns({
            handle,
            tools,
            model,
            devices: out.devices,
            copies: out.copies,
            renderer: out.renderer,
            digest: node.digest,
            now: clock.now,
          }),
          'configuration-backup': backupRun({ tools, model, devices: out.devices, copies: out.copies }),
          'configuration-change': changeRun({
            ...{ handle, tools, model, devices: out.devices, changes: out.changes, texts: out.deviceTexts },
          }),
          'inventory-sync': syncRun({ handle, tools, read: out.readSource }),
        },
      }),
      tasks: tasksHere({ handle, tools, events, worker: name, operations }),
      actorOf: rightsNow({ whyGone: whyGoneOf, viewerOf, withinToken: withinToken(tools) }),
      atOnce: () => settings.current().jobsAtOnce,
    },
    startLimit: () => settings.current().startLimit,
    measures: taskMeasures({ now: clock.now, count: metrics.ranTask }),
    whyGone: whyGoneOf,
    timeoutHours: config.JOB_TIMEOUT,
  });
  settings.onChange(work.limitsChanged);
  const jobReaders = readersOf({ model, viewerOf, progressOf: work.progressOf, places, log: warn });
  work.onProgress(jobReaders.change);
  node.subscribe({ categories: work.categories, onOwn: work.onOwn, onShown: work.onEvent });
  for (const { categories, onEvent } of listeners) node.subscribe({ categories, onShown: onEvent });
  node.subscribe({ categories: jobReaders.categories, onShown: jobReaders.onEvent });
  const retiring = retirement({
    ...common(node),
    kinds: projections.filter(({ retires }) => retires),
    head: node.head,
    caughtUp: settled,
    days: config.RETENTION_DAYS,
  });
  const start = (): void => {
    work.start();
    retiring.start();
  };
  const stop = async (): Promise<void> => {
    await retiring.stop();
    await work.stop();
  };
  return { work: { ...work, start, stop }, jobReaders };
};

/** The signing of the log, and the telling of its anchor. */
type Signing = HealthPart & {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
};

/** Signs the log of a service, and tells its anchor if it has one. */
export const signingOf = ({ config, signingKeys: keys, node, opened }: Base): Signing => {
  // Signatures are over the events as they are stored, so large ones are not put together here.
  const store = 'embedded' in opened ? opened.embedded : opened.remote;
  const { AUDIT_ANCHOR: at } = config;
  const anchor = at && anchoring({ ...common(node), store, at, tell: (line, stop) => tellAnchor(at, line, stop) });
  const signing = signer({
    ...common(node),
    store,
    keys,
    onSigned: () => anchor?.wake(),
    now: node.clock.now,
    newId: randomUUID,
  });
  return {
    start: () => {
      signing.start();
      anchor?.start();
    },
    stop: async () => {
      await Promise.all([signing.stop(), anchor?.stop()]);
    },
    measures: {
      audit_unsigned_events: {
        help: 'Events that no signature covers yet, on the node that leads',
        value: () => signing.status().unsigned ?? 0,
      },
      audit_anchor_lag: {
        help: 'Signatures that the anchor was not told yet, on the node that leads',
        value: () => anchor?.status().lag ?? 0,
      },
    },
    status: async () => ({
      audit: { ...signing.status(), key: fingerprintOf(keys.own.key), anchor: anchor?.status() ?? null },
    }),
  };
};

type WaysNeeds = {
  readonly config: Pick<
    Config,
    'EVENTSTORE_URL' | 'READSTORE_URL' | 'OUTBOUND_ALLOW' | 'DATA_DIR' | 'BACKUPS_PER_DEVICE'
  >;
  readonly node: Pick<
    Node,
    'handle' | 'tools' | 'model' | 'settled' | 'packed' | 'digest' | 'unseal' | 'clock' | 'transformBy'
  >;
  readonly settings: Pick<ActiveSettings, 'current' | 'onChange'>;
};

/** The most changes that wait for one device on a node. */
const mostInLine = 256;

/** Opens the ways out: devices, webhooks of agents, directories, and the engines of templates and expressions. */
export const openWaysOut = ({ config, node, settings }: WaysNeeds) => {
  const guard = outbound({ allowed: config.OUTBOUND_ALLOW, stores: hostsOfStores(config) });
  const engine = engines(() => settings.current().transformationWorkerCount);
  const addParser = parserAdder(node.tools);
  const parsed = parsing(node.tools);
  const renderer: Renderer = {
    ...engine,
    compare: async (runs, evaluation) => engine.compare(await Promise.all(runs.map(addParser)), evaluation),
    specify: parsed(engine.specify),
    generate: parsed(engine.generate),
    translate: parsed(engine.translate),
  };
  settings.onChange(engine.resize);
  node.transformBy(renderer.transform);
  const simulator = engines(() => 1, simulationLimits);
  const copies = deviceCopies({
    ...node,
    catchUp: node.settled,
    follow: renderer.follow,
    most: config.BACKUPS_PER_DEVICE,
  });
  const turns = deviceTurns({ ...node, inLine: semaphore(1, mostInLine) });
  const devices = devicesOf({
    sources: deviceSources(node),
    order: () => settings.current().adapterOrder,
    unseal: node.unseal,
    guard,
    labFolder: join(config.DATA_DIR, 'lab'),
  });
  const changes = deviceChanges({ ...node, now: node.clock.now, copies, turns, renderer });
  return {
    webhook: httpWebhook(guard, node.unseal),
    rest: restCaller(guard),
    readSource: sourceReader(guard),
    directory: ldapDirectory(guard, node.unseal),
    openId: openIdIssuers(guard, node.unseal, node.clock.now),
    renderer,
    simulator,
    copies,
    changes,
    confirmations: deviceConfirmations({ ...node, now: node.clock.now, turns }),
    deviceTexts: deviceTexts({ ...node, devices, renderer, typeNamed: (ostype) => typeOf(ostype).name }),
    devices,
  };
};

export type WaysOut = ReturnType<typeof openWaysOut>;

/** The hosts of the platform's own stores. No request may make the service call them. */
const hostsOfStores = ({ EVENTSTORE_URL: log, READSTORE_URL: readModels }: WaysNeeds['config']): readonly string[] => {
  const hosts = 'url' in log ? [...esdbHosts(log.url)] : [];
  if (readModels !== undefined) hosts.push(new URL(readModels).hostname.replace(/^\[|\]$/g, ''));
  return hosts;
};
