import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setPassword as set } from '../commands/authorization/accounts.ts';
import { type Config, secretKeyFile } from '../config.ts';
import { platform } from '../domain/engine/core.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { keyOfLog, replaceKey } from '../keyCheck.ts';
import { openNode } from '../node.ts';
import { mayHaveParts } from '../ownStreams.ts';
import { passwords } from '../passwords.ts';
import { accounts } from '../projections/authorization/accounts.ts';
import { project } from '../projections/engine/define.ts';
import { secrets } from '../secrets.ts';
import { decode, splitStream } from '../store/event.ts';
import { openRemote } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { LogUrl } from '../store/url.ts';
import { type Input, readPassword } from './password.ts';

/** The log, to which nobody else writes if it is a file; of EventStoreDB the nodes hear what is changed. */
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
  /** Take the key that is given, or make one, although the log's secrets are sealed with another one. */
  readonly newKey?: boolean | undefined;
  readonly input?: Input;
  readonly output?: NodeJS.WritableStream;
};

/**
 * Sets the password of an account without the service. On a log in a file it must not run: an Error says so; on
 * EventStoreDB it may. The password is typed on a terminal, or is the first line of what is piped in.
 */
export const setPassword = async (config: Config, username: string, options: Options = {}): Promise<void> => {
  const { newKey = false, input = process.stdin, output = process.stderr } = options;
  const log = withPayloads(await openLog(config.EVENTSTORE_URL), mayHaveParts);
  try {
    const id = await accountNamed(log, username);
    if (id === undefined) throw new Error(`There is no account ${JSON.stringify(username)}`);
    const password = await readPassword(input, output);
    if ([...password].length < 8) throw new Error('A password has at least 8 characters');
    const given = { log, fromSetting: config.SECRET_KEY, file: secretKeyFile(config) };
    const key = newKey ? await replaceKey(given) : await keyOfLog(given);
    await store(log, key, id, password);
    output.write(`The password of ${username} is set\n`);
  } finally {
    await log.close();
  }
};

/** Stores the password by way of a node that only takes commands. */
const store = async (log: EventStore, key: Uint8Array, id: string, password: string): Promise<void> => {
  const node = await openNode({
    log,
    // The account's stream says all that the command asks for: nothing is projected.
    projections: [],
    readWaitMs: 0,
    hashing: passwords(),
    secrets: secrets({ key }),
    methods: () => [],
    warn: () => undefined,
  });
  const about = { actor: platform, operation: 'account passwd', requestId: randomUUID() };
  try {
    await node.handle(set, { ...about, id, input: { password } });
  } finally {
    await node.close();
  }
};

/** The id of the account of that name, from the log: there are no read models without the service. */
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
