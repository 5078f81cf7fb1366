import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap } from '../src/bootstrap.ts';
import { createAccount } from '../src/commands/authorization/accounts.ts';
import { aggregates, reactions } from '../src/commands/all.ts';
import { nameClaims } from '../src/commands/engine/claims.ts';
import type { AnyCommand } from '../src/commands/engine/define.ts';
import { createGroup } from '../src/commands/authorization/groups.ts';
import { handler, type Request } from '../src/commands/engine/handle.ts';
import { reactor } from '../src/commands/engine/reactions.ts';
import { streams as streamsOf } from '../src/commands/engine/streams.ts';
import { commandTools } from '../src/commands/engine/tools.ts';
import { touchedGuard } from '../src/commands/engine/touched.ts';
import { authenticator, type LoginSettings } from '../src/http/authentication/authenticate.ts';
import { reader } from '../src/http/engine/reader.ts';
import { projections } from '../src/projections/all.ts';
import { memoryReadStore } from '../src/projections/index/memory.ts';
import { collectionsOf } from '../src/projections/engine/projector.ts';
import { runProjections } from '../src/projections/engine/run.ts';
import { tellEvents } from '../src/projections/engine/tellEvents.ts';
import { secrets } from '../src/secrets.ts';
import type { Told } from '../src/store/event.ts';
import type { EventStore } from '../src/store/port.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { noticingTouched, touchedStreams } from '../src/store/touched.ts';
import { context } from './given.ts';

export const defaults: LoginSettings = {
  admins: [],
  logoutTime: 30,
  principalTimeout: 1,
  cookieName: 'token',
  uniqueSession: false,
};

/** An embedded log in a folder of its own. */
export const openLog = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  return {
    store,
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Milliseconds that only pass when told to. */
export const fixedClock = (start = Date.parse('2026-01-01T00:00:00.000Z')) => {
  let now = start;
  return {
    now: () => now,
    pass: (ms: number) => {
      now += ms;
    },
  };
};

/** Passwords that cost nothing; `checked` counts. */
export const cheapHashing = () => {
  const hashing = {
    checked: 0,
    hashPassword: async (password: string) => `hash of ${password}`,
    verifyPassword: async (password: string, hashed: string | undefined) => {
      hashing.checked++;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return hashed === `hash of ${password}`;
    },
  };
  return hashing;
};

type Options = {
  readonly settings?: () => LoginSettings;
  readonly now?: () => number;
  readonly reacting?: boolean;
  readonly onEvent?: (event: Told) => void;
};

/**
 * What one node consists of below HTTP, over a log that others may use as well; `reacting`: with what follows from
 * events. `command` acts as an admin.
 */
export const startNode = async (
  log: EventStore,
  { settings = () => defaults, now = Date.now, reacting = false, onEvent = () => undefined }: Options = {},
) => {
  let acknowledged = await log.head();
  const touched = touchedStreams(() => undefined);
  const sound = noticingTouched(log, touched);
  const store: EventStore = {
    ...sound,
    append: async (...args) => {
      const appended = await sound.append(...args);
      acknowledged = Math.max(acknowledged, appended.position);
      return appended;
    },
  };
  const model = memoryReadStore({ collections: collectionsOf(projections) });
  const run = runProjections({
    store,
    model,
    projections,
    catchUp: 1000,
    onTouched: touched.note,
    log: () => undefined,
  });
  const settled = (least = 0) =>
    run.position() >= Math.max(acknowledged, least) ? undefined : run.reached(Math.max(acknowledged, least), 5000);
  const sealing = secrets({ key: new Uint8Array(32) });
  const hashing = cheapHashing();
  const streams = streamsOf(store, aggregates, projections, touched);
  const guarding = touchedGuard(streams, touched);
  const tools = commandTools({
    model,
    streams,
    settled,
    nameSort: (collection) => Object.keys(projections.find((one) => one.collection === collection)!.sorts)[0]!,
    rest: {
      ...hashing,
      seal: sealing.seal,
      unseal: sealing.unseal,
      methods: () => [{ provenance: 'mop', name: 'exportTemplate' }],
    },
  });
  const following = reactor({
    store,
    tools,
    events: streams.events,
    reactions,
    reached: (position) => run.reached(position, 5000),
    lead: run.lead,
    ready: run.whenReady,
    log: () => undefined,
  });
  const handle = handler({
    store,
    streams,
    tools,
    claims: nameClaims(store, streams),
    now: () => new Date(now()).toISOString(),
    follow: async (events, wholly) => {
      auth.onStored(events);
      return reacting ? following.follow(events, wholly) : 0;
    },
  });
  const auth = authenticator({
    model,
    settled,
    head: log.head,
    handle,
    settings,
    hashing,
    unseal: sealing.unseal,
    digest: sealing.digest,
    secure: false,
    now,
  });

  const telling = tellEvents({
    store,
    run,
    after: acknowledged,
    categories: new Set(aggregates.map(({ category }) => category)),
    log: () => undefined,
    onStored: auth.onStored,
    onAny: () => undefined,
    onEvent: (event) => {
      auth.onEvent(event);
      onEvent(event);
    },
  });
  if (reacting) following.start(handle);

  const command = (what: AnyCommand, id: string, input: unknown = {}, more: Partial<Request> = {}) =>
    handle(what, { id, input, actor: context.actor, operation: 'test', requestId: 'r', ...more });
  return {
    handle,
    tools,
    model,
    run,
    auth,
    touched,
    guarding,
    hashing,
    settled,
    command,
    reader: reader(model, guarding),
    bootstrap: () => bootstrap({ handle, adminPassword: 'password of admin', tell: () => undefined }),
    /** A new account whose id is its name. */
    account: (username: string, more: object = {}) =>
      command(createAccount, username, { username, password: `password of ${username}`, ...more }),
    group: (name: string, more: object = {}) => command(createGroup, name, { name, ...more }),
    /** Waits until this node's read models show all that is in the log. */
    catchUp: async () => run.reached(await log.head(), 5000),
    stop: async () => {
      auth.stop();
      if (reacting) await following.stop();
      await run.stop();
      await telling.stop();
      await model.close();
    },
  };
};

export type TestNode = Awaited<ReturnType<typeof startNode>>;

/**
 * For the tests of the `describe` that calls it: each has a new log, and `node` starts nodes on it that have caught up.
 * All is stopped afterwards; `whileStopping` lets go of what a node may wait for.
 */
export const nodesOnLog = (options: Options = {}, whileStopping: () => void = () => undefined) => {
  let log: Awaited<ReturnType<typeof openLog>>;
  const nodes: TestNode[] = [];
  const open = async (): Promise<void> => {
    log = await openLog();
  };
  const close = async (): Promise<void> => {
    const stopped = nodes.splice(0).map((each) => each.stop());
    whileStopping();
    await Promise.all(stopped);
    await log.close();
  };
  beforeEach(open);
  afterEach(close);
  return {
    /** Begins anew within a test. */
    anew: async (): Promise<void> => {
      await close();
      await open();
    },
    log: {
      get store() {
        return log.store;
      },
    },
    node: async (store: EventStore = log.store, more: Options = {}): Promise<TestNode> => {
      const started = await startNode(store, { ...options, ...more });
      nodes.push(started);
      await started.catchUp();
      return started;
    },
  };
};
