import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setPassword } from '../commands/authorization/accounts.ts';
import { type Config, secretKeyFile } from '../config.ts';
import { platform } from '../domain/engine/core.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { mayHaveParts } from '../events/ownStreams.ts';
import { openNode } from '../node.ts';
import { accounts } from '../projections/authorization/accounts.ts';
import { project } from '../projections/engine/define.ts';
import { keyOfLog, replaceKey } from '../secrets/keyCheck.ts';
import { passwords } from '../secrets/passwords.ts';
import { secrets } from '../secrets/secrets.ts';
import { decode, splitStream } from '../store/event.ts';
import { openRemote } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { LogUrl } from '../store/url.ts';

/**
 * Opens the log. A log in a file is locked against other writers. With EventStoreDB, running nodes get the change from
 * the log.
 */
const openLog = async (at: LogUrl): Promise<EventStore> => {
  if ('url' in at) return openRemote(at.url, () => undefined);
  if (!existsSync(at.file))
    throw new Error(`There is no event log at ${at.file}; set DATA_DIR or EVENTSTORE_URL as for the service`);
  return openSqliteStore(at).catch((error: Error) => {
    if (!(error instanceof RequestError)) throw error;
    throw new Error(`${error.message}; stop the service first`, { cause: error });
  });
};

type Options = {
  /** Use the given key, or make one, even if the log's secrets are sealed with another key. */
  readonly newKey: boolean;
  readonly ask: () => Promise<string>;
};

/**
 * Sets the password of an account without the service, and asks for it when the account is found. If the log is a file,
 * the service must be stopped, else an Error is thrown; with EventStoreDB it may run.
 */
export const setPasswordIn = async (config: Config, username: string, { newKey, ask }: Options): Promise<void> => {
  const log = withPayloads(await openLog(config.EVENTSTORE_URL), mayHaveParts);
  try {
    const id = await accountNamed(log, username);
    if (id === undefined) throw new Error(`There is no account ${JSON.stringify(username)}`);
    const password = await ask();
    if ([...password].length < 8) throw new Error('A password has at least 8 characters');
    const keySource = { log, fromSetting: config.SECRET_KEY, file: secretKeyFile(config) };
    const key = newKey ? await replaceKey(keySource) : await keyOfLog(keySource);
    await store(log, key, id, password);
  } finally {
    await log.close();
  }
};

/** Stores the password through a node that only takes commands. */
const store = async (log: EventStore, key: Uint8Array, id: string, password: string): Promise<void> => {
  const node = await openNode({
    log,
    // The command needs only the account's stream, so nothing is projected.
    projections: [],
    readWaitMs: 0,
    hashing: passwords(),
    secrets: secrets({ key }),
    methods: () => [],
    warn: () => undefined,
  });
  const about = { actor: platform, operation: 'account passwd', requestId: randomUUID() };
  try {
    await node.handle(setPassword, { ...about, id, input: { password } });
  } finally {
    await node.close();
  }
};

/**
 * The id of the account with this name. It is read from the log, because without the service there are no read models.
 */
const accountNamed = async (store: EventStore, username: string): Promise<string | undefined> => {
  const found = new Map<string, ReturnType<typeof accounts.on.accountCreated>>();
  const unreadable = new Set<string>();
  for await (const { events } of store.readAll(0, ['@platform/authorization:account'])) {
    for (const event of events) {
      const { category, id } = splitStream(event.stream);
      if (category !== accounts.of.category) continue;
      try {
        found.set(id, project(accounts, found.get(id), decode(event)));
      } catch {
        unreadable.add(id);
      }
    }
  }
  const id = [...found].find(([, doc]) => doc?.username === username)?.[0];
  if (id !== undefined && unreadable.has(id))
    throw new Error(`The account ${JSON.stringify(username)} has an event that cannot be read`);
  return id;
};
