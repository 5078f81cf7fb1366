import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trustedClock } from '@automation-platform/concurrency';
import { createAccount } from '../../src/commands/authorization/accounts.ts';
import { createGroup } from '../../src/commands/authorization/groups.ts';
import type { AnyCommand } from '../../src/commands/engine/define.ts';
import type { Request } from '../../src/commands/engine/requests.ts';
import { aggregates } from '../../src/domain/all.ts';
import { authenticator } from '../../src/http/authentication/authenticate.ts';
import type { LoginSettings } from '../../src/http/authentication/principal.ts';
import { openNode } from '../../src/node.ts';
import { secrets } from '../../src/secrets/secrets.ts';
import { bootstrap } from '../../src/service/start.ts';
import { IssuerSilent } from '../../src/southbound/issuerFetch.ts';
import type { Directory, OpenId } from '../../src/southbound/port.ts';
import type { EventNotice } from '../../src/store/event.ts';
import type { EventStore } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { context } from './given.ts';
import { openMemoryLog } from './memoryLog.ts';

export const defaults: LoginSettings = {
  admins: [],
  logoutTime: 30,
  principalTimeout: 1,
  cookieName: 'token',
  uniqueSession: false,
  brokerPrincipal: true,
  relayStateTimeout: 300,
};

/** A log in memory. */
export const openLog = async () => {
  const store = openMemoryLog();
  return { store, close: store.close };
};

/** An embedded log in a folder of its own. */
export const openFileLog = async () => {
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
    ...trustedClock(() => now),
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

/** Knows nobody. */
const nobody: Directory = async () => undefined;

const silent = () => Promise.reject(new IssuerSilent('There is no issuer'));
const noIssuer: OpenId = { probe: silent, loginUrl: silent, redeem: silent, verify: silent };

type Options = {
  readonly settings?: () => LoginSettings;
  readonly now?: () => number;
  readonly reacting?: boolean;
  readonly directory?: Directory;
  readonly openId?: OpenId;
  readonly onEvent?: (event: EventNotice) => void;
};

/**
 * What one node consists of below HTTP, over a log that others may use as well; `reacting`: with what follows from
 * events. `command` acts as an admin.
 */
export const startNode = async (
  log: EventStore,
  {
    settings = () => defaults,
    now = Date.now,
    reacting = false,
    directory = nobody,
    openId = noIssuer,
    onEvent = () => undefined,
  }: Options = {},
) => {
  const hashing = cheapHashing();
  const node = await openNode({
    log: { ...log, close: async () => undefined },
    catchUp: 1000,
    // A slow machine is no fault of a node.
    readWaitMs: 30_000,
    hashing,
    secrets: secrets({ key: new Uint8Array(32) }),
    methods: () => [{ provenance: 'mop', name: 'exportTemplate' }],
    clock: trustedClock(now),
    warn: () => undefined,
  });
  const { handle, run } = node;
  const auth = authenticator(node, { settings, secure: false, directory, openId });
  node.rightsBy(async (id) => (await auth.accountNow(id))?.actor);
  node.subscribe({ categories: auth.categories, onStored: auth.onStored, onShown: auth.onEvent });
  node.subscribe({ categories: new Set(aggregates.map(({ category }) => category)), onShown: onEvent });
  node.start();
  if (reacting) node.startReactions();

  const command = (what: AnyCommand, id: string, input: unknown = {}, more: Partial<Request> = {}) =>
    handle(what, { id, input, actor: context.actor, operation: 'test', requestId: 'r', ...more });
  return {
    ...node,
    auth,
    hashing,
    command,
    bootstrap: () => bootstrap({ handle, adminPassword: 'password of admin', tell: () => undefined }),
    /** A new account whose id is its name. */
    account: (username: string, more: object = {}) =>
      command(createAccount, username, { username, password: `password of ${username}`, ...more }),
    group: (name: string, more: object = {}) => command(createGroup, name, { name, ...more }),
    /** Waits until this node's read models show all that is in the log. */
    catchUp: async () => run.reached(await log.head(), 30_000),
    stop: async () => {
      auth.stop();
      await node.close();
    },
  };
};

export type TestNode = Awaited<ReturnType<typeof startNode>>;

/**
 * For the tests of the `describe` that calls it: each has a new log in memory, and `node` starts nodes on it that have caught up.
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
