import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { bootstrap } from './bootstrap.ts';
import { storedAdapters } from './commands/configuration-manager/adapters.ts';
import { aggregates, reactions } from './commands/all.ts';
import { nameClaims } from './commands/engine/claims.ts';
import { handler } from './commands/engine/handle.ts';
import { reactor } from './commands/engine/reactions.ts';
import { retries } from './commands/engine/retries.ts';
import { streams as streamsOf } from './commands/engine/streams.ts';
import { commandTools } from './commands/engine/tools.ts';
import { touchedGuard } from './commands/engine/touched.ts';
import { type Config, secretKeyFile } from './config.ts';
import { addressReader } from './http/engine/address.ts';
import { app, type Seen } from './http/engine/app.ts';
import { areas } from './http/areas.ts';
import { authenticator } from './http/authentication/authenticate.ts';
import { methodsOf } from './http/authorization/methods.ts';
import { metrics } from './http/engine/metrics.ts';
import { bearerOf } from './http/engine/metricsToken.ts';
import { reader } from './http/engine/reader.ts';
import { listen } from './http/engine/server.ts';
import type { Service } from './http/engine/service.ts';
import { activeSettings } from './http/profiles/settings.ts';
import { keyOfLog } from './keyCheck.ts';
import { misplacedEvents } from './misplaced.ts';
import { monitor } from './monitor.ts';
import { isOwnEvent, mayHaveParts } from './ownStreams.ts';
import { passwords } from './passwords.ts';
import { projections } from './projections/all.ts';
import { memoryReadStore } from './projections/index/memory.ts';
import { collectionsOf } from './projections/engine/projector.ts';
import { redisReadStore } from './projections/redis/redis.ts';
import { runProjections } from './projections/engine/run.ts';
import { tellEvents } from './projections/engine/tellEvents.ts';
import { readSnapshot } from './projections/snapshots/snapshot.ts';
import { seenBySnapshot, snapshotName } from './projections/snapshots/snapshotSeen.ts';
import { snapshots } from './projections/snapshots/snapshots.ts';
import { projectionVersion } from './projections/engine/version.ts';
import { secrets } from './secrets.ts';
import { sessionRunner } from './sessions.ts';
import { devicesOf } from './southbound/devices.ts';
import { jinjaRenderer } from './southbound/jinja/renderer.ts';
import { outbound } from './southbound/outbound.ts';
import { httpWebhook } from './southbound/webhook.ts';
import { blaming } from './startFaults.ts';
import type { Recorded } from './store/event.ts';
import { makeFolder } from './store/folders.ts';
import type { EventStore } from './store/port.ts';
import { openLog } from './store/open.ts';
import type { SqliteStore } from './store/sqlite.ts';
import { withPayloads } from './store/payloads.ts';
import { noticingTouched, touchedStreams } from './store/touched.ts';
import { esdbHosts } from './store/url.ts';
import { withoutLogins } from './withoutLogins.ts';

const snapshotEvery = 20_000;

/**
 * A running service. `stop` ends it in order: no new requests, answers under way, reactions, projections, stores.
 * `warmUp` does ahead what else the first request of each kind would wait for.
 */
export type Running = {
  readonly url: string;
  /** Where clients of EventStoreDB find the embedded log, without user and password. */
  readonly logUrl?: string;
  readonly warmUp: () => Promise<void>;
  /** Resolves when the log turns out to be damaged where it is read at the start: the service must not go on. */
  readonly damaged: Promise<Error>;
  readonly stop: () => Promise<void>;
};

/** Builds everything and listens. `tell` shows the first start's admin password to whoever started it. */
export const startService = async (config: Config, logger: Logger, tell: (line: string) => void): Promise<Running> => {
  const warn = (message: string, about: Record<string, unknown>) => logger.warn(about, message);
  const { EVENTSTORE_URL: logUrl, READSTORE_URL: readUrl, DATA_DIR: folder } = config;
  await blaming(`DATA_DIR ${folder}`, () => {
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  });
  const snapshotFile = join(folder, snapshotName);
  const seen = await seenBySnapshot(snapshotFile);
  const opened = await blaming(
    `EVENTSTORE_URL ${'url' in logUrl ? withoutLogins(logUrl.url) : `sqlite:${logUrl.file}`}`,
    () => openLog(logUrl, warn, seen),
  );
  const log = withPayloads<EventStore>('embedded' in opened ? opened.embedded : opened.remote, mayHaveParts);
  const key = await keyOfLog({ log, fromSetting: config.SECRET_KEY, file: secretKeyFile(config) }).catch(
    async (error: unknown) => {
      await log.close();
      throw error;
    },
  );
  const sealing = secrets({ key });

  // Reads wait for everything that was acknowledged: by this process, or by an earlier one on this log.
  const headAtStart = await log.head();
  let acknowledged = headAtStart;
  const touched = touchedStreams(warn);
  const sound = noticingTouched(log, touched);
  const store: EventStore = {
    ...sound,
    append: async (...args) => {
      const appended = await sound.append(...args);
      acknowledged = Math.max(acknowledged, appended.position);
      return appended;
    },
  };
  const settled = (least = 0): Promise<void> | undefined => {
    const target = Math.max(acknowledged, least);
    return run.position() >= target ? undefined : run.reached(target, config.READ_WAIT_MS);
  };

  const origin = { log: log.id, version: projectionVersion() };
  const inMemory = readUrl === undefined;
  const keeping = snapshots({ work: { log: logUrl, file: snapshotFile, origin }, every: snapshotEvery, log: warn });
  const snapshotFound = async () => {
    const snapshot = await readSnapshot(snapshotFile, origin);
    if (snapshot) keeping.found(snapshot.checkpoint.position);
    return snapshot;
  };
  const model = inMemory
    ? memoryReadStore({ collections: collectionsOf(projections), load: snapshotFound })
    : redisReadStore({
        url: readUrl,
        prefix: `ap:${origin.log}:${origin.version}`,
        collections: collectionsOf(projections),
      });
  const run = runProjections({
    store,
    model,
    projections,
    onTouched: touched.note,
    // A replay into memory puts each document into words once; one step of Redis must not block it for long.
    catchUp: inMemory ? Infinity : 5_000,
    log: warn,
  });
  const snapshotTimer = setInterval(() => {
    if (inMemory && run.ready()) keeping.moved(run.position(), run.taken());
  }, 1000).unref();

  const streams = streamsOf(store, aggregates, projections, touched);
  const guarding = touchedGuard(streams, touched);
  const hashing = passwords();
  const tools = commandTools({
    model,
    streams,
    settled,
    nameSort: (collection) => Object.keys(projections.find((p) => p.collection === collection)!.sorts)[0]!,
    rest: { ...hashing, seal: sealing.seal, unseal: sealing.unseal, methods: () => methodsOf(areas) },
  });
  const loggedAtFirst = logger.level;
  const settings = activeSettings({
    state: tools.state,
    log: warn,
    onChange: ({ logLevel }) => {
      logger.level = config.LOG_LEVEL ?? logLevel ?? loggedAtFirst;
    },
  });
  const now = () => new Date().toISOString();
  const consequences = reactor({
    store,
    tools,
    events: streams.events,
    reactions,
    reached: (position) => settled(position) ?? Promise.resolve(),
    lead: run.lead,
    ready: run.whenReady,
    log: warn,
  });
  const follow = async (events: readonly Recorded[], wholly: boolean): Promise<number> => {
    auth.onStored(events);
    await settings.told(events);
    return consequences.follow(events, wholly);
  };
  const handle = handler({ store, streams, claims: nameClaims(store, streams), tools, now, follow });
  const measured = metrics({ areas, isOwnEvent });
  const auth = authenticator({
    model,
    settled,
    head: log.head,
    handle,
    settings: settings.current,
    hashing,
    unseal: sealing.unseal,
    digest: sealing.digest,
    secure: config.TLS_CERT_FILE !== undefined,
  });

  const stores = [
    ...('url' in logUrl ? esdbHosts(logUrl.url) : []),
    ...(readUrl === undefined ? [] : [new URL(readUrl).hostname.replace(/^\[|\]$/g, '')]),
  ];
  const guard = outbound({ allowed: config.OUTBOUND_ALLOW, stores });
  const renderer = jinjaRenderer();
  const sessions = sessionRunner({
    handle,
    tools,
    events: streams.events,
    webhook: httpWebhook(guard, sealing.unseal),
    renderer,
    lead: run.lead,
    log: warn,
  });
  const misplaced = misplacedEvents(warn);
  const telling = tellEvents({
    store,
    run,
    after: headAtStart,
    categories: new Set([...auth.categories, ...settings.categories, ...sessions.categories]),
    onStored: (events) => {
      auth.onStored(events);
      void settings.told(events);
    },
    onEvent: (event) => {
      auth.onEvent(event);
      sessions.onEvent(event);
    },
    onAny: (event) => {
      measured.stored(event);
      misplaced.met(event);
    },
    log: warn,
  });

  // What reads wait for may never come: then the reason is the damage.
  const orDamaged = (work: Promise<unknown>) =>
    Promise.race([
      work,
      run.damaged.then((error) => {
        throw error;
      }),
    ]);
  await orDamaged(settings.refresh());
  await orDamaged(bootstrap({ handle, adminPassword: config.ADMIN_PASSWORD, tell }));
  consequences.start(handle);
  sessions.start();

  const devices = devicesOf({
    adapters: (device) => storedAdapters(tools, device),
    order: () => settings.current().adapterOrder,
    unseal: sealing.unseal,
    guard,
    labFolder: join(folder, 'lab'),
  });

  // Before HTTP listens: who finds this process ready finds its log too.
  const esdbPort = config.ESDB_PORT;
  const serveLog = async (store: SqliteStore, port: number) =>
    (await import('./servedLog.ts')).servedLog({ config, port, store, auth, log: warn });
  const served =
    'embedded' in opened && esdbPort !== undefined
      ? await blaming(`ESDB_PORT ${esdbPort} on ESDB_HOST ${config.ESDB_HOST}`, () =>
          serveLog(opened.embedded, esdbPort),
        )
      : undefined;
  const health = monitor({
    log,
    logListens: served?.listens,
    run,
    model,
    misplaced,
    touched: touched.reasons,
    acknowledged: () => acknowledged,
    snapshot: keeping.position,
    modelKind: inMemory ? 'memory' : 'redis',
    logKind: 'embedded' in opened ? 'sqlite' : 'eventstoredb',
    noteFault: 'embedded' in opened ? opened.embedded.noteFault : () => undefined,
    scrubbed: 'embedded' in opened ? opened.embedded.scrubbed : undefined,
    logMeasures:
      'embedded' in opened
        ? {
            store_commits_total: {
              help: 'Transactions committed, each one fsync',
              value: () => opened.embedded.stats().commits,
            },
            store_events_total: {
              help: 'Events appended by this process',
              value: () => opened.embedded.stats().events,
            },
            store_checked_position: {
              help: 'Position up to which this pass of the background check has come',
              value: () => opened.embedded.scrubbed().position,
            },
            store_checks_total: {
              help: 'Whole passes of the background check over the log',
              value: () => opened.embedded.scrubbed().passes,
            },
            store_damaged_events: {
              help: 'Stored events that are not what was written',
              value: () => opened.embedded.scrubbed().damaged.size,
            },
          }
        : {
            store_lag: {
              help: 'Positions of the log that this process has not been told of yet',
              value: opened.remote.lag,
            },
          },
  });
  measured.show({
    ...health.measures,
    failed_logins_total: { help: 'Wrong user names and passwords sent to this process', value: auth.failedLogins },
  });
  let stopping = false;
  const service: Service = {
    handle,
    model,
    tools,
    auth,
    devices,
    retries: retries(streams),
    ...reader(model, guarding),
    touched: guarding,
    collectionOf: (aggregate) => projections.find(({ of }) => of === aggregate)?.collection,
    digest: sealing.digest,
    renderer,
    metrics: measured.text,
    status: health.status,
    ready: async () => !stopping && (await health.ready()),
  };

  const { listener, warmUp } = app({
    areas,
    service,
    settled,
    settings: settings.current,
    authenticator: auth,
    limits: { maxBytes: config.MAX_BODY_BYTES, maxImportBytes: config.MAX_IMPORT_BYTES },
    addressOf: addressReader(config.TRUST_PROXY),
    observe: (seen: Seen) => {
      measured.observe(seen);
      logger.info(seen, 'request');
    },
    logBug: (error, requestId) => logger.error({ err: error, requestId }, 'bug'),
    stopping: () => stopping,
    cutOff: () => !log.connected(),
    mayMeasure: bearerOf(config.METRICS_TOKEN),
  });
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const server = await blaming(`PORT ${config.PORT} on HOST ${config.HOST}`, () =>
    listen(
      { host: config.HOST, port: config.PORT, ...(certFile && keyFile && { tls: { certFile, keyFile } }) },
      listener,
    ),
  );

  return {
    url: server.url,
    ...(served && { logUrl: served.url }),
    warmUp,
    damaged: run.damaged,
    stop: async () => {
      stopping = true;
      clearInterval(snapshotTimer);
      // Calls of devices are broken off while their outcome can still be stored and answered.
      const { shutdownMs } = settings.current();
      const patience = setTimeout(() => void devices.close(), shutdownMs / 2);
      await Promise.all([server.stop(shutdownMs), served?.close()]);
      clearTimeout(patience);
      await devices.close();
      auth.stop();
      // What ends with a session may follow from it: neither waits for the other.
      await Promise.all([sessions.stop(), consequences.stop()]);
      settings.stop();
      await renderer.close();
      await run.stop();
      await telling.stop();
      await keeping.stop();
      await model.close();
      await log.close();
    },
  };
};
