import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setPassword as set } from '../commands/accounts.ts';
import { aggregates } from '../commands/all.ts';
import { nameClaims } from '../commands/claims.ts';
import { handler } from '../commands/handle.ts';
import { streams as streamsOf } from '../commands/streams.ts';
import { commandTools } from '../commands/tools.ts';
import type { Config } from '../config.ts';
import { platform } from '../domain/accounts.ts';
import { passwords } from '../passwords.ts';
import { accounts } from '../projections/accounts.ts';
import { project } from '../projections/define.ts';
import { memoryReadStore } from '../projections/memory.ts';
import { secretKey, secrets } from '../secrets.ts';
import { decode, splitStream } from '../store/event.ts';
import { openRemote } from '../store/open.ts';
import type { EventStore } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { LogUrl } from '../store/url.ts';
import { type Input, readPassword } from './password.ts';

/** The log, to which nobody else writes if it is a file; of EventStoreDB the nodes hear what is changed. */
const openLog = async (at: LogUrl): Promise<EventStore> => {
  if ('url' in at) return openRemote(at.url, () => undefined);
  if (!existsSync(at.file)) throw new Error(`There is no event log at ${at.file}; set DATA_DIR or EVENTSTORE_URL as for the service`);
  return openSqliteStore(at).catch((error: Error) => {
    throw new Error(`${error.message}; stop the service first`, { cause: error });
  });
};

/**
 * Sets the password of an account without the service. On a log in a file it must not run: an Error says so; on EventStoreDB
 * it may. The password is typed on a terminal, or is the first line of what is piped in.
 */
export const setPassword = async ({ EVENTSTORE_URL: at, SECRET_KEY, DATA_DIR }: Config, username: string, input: Input = process.stdin, output: NodeJS.WritableStream = process.stderr): Promise<void> => {
  const store = await openLog(at);
  try {
    const id = await accountNamed(store, username);
    if (id === undefined) throw new Error(`There is no account ${JSON.stringify(username)}`);
    const password = await readPassword(input, output);
    if ([...password].length < 8) throw new Error('A password has at least 8 characters');
    const { seal, unseal } = secrets({ key: secretKey({ fromSetting: SECRET_KEY, file: join('file' in at ? dirname(at.file) : DATA_DIR, 'secret.key') }) });
    const streams = streamsOf(store, aggregates, []);
    const tools = commandTools({
      streams, model: memoryReadStore({ collections: [] }), settled: () => undefined, nameSort: () => 'name',
      rest: { ...passwords(), seal, unseal, methods: () => [] },
    });
    const handle = handler({ store, streams, tools, claims: nameClaims(store, streams), now: () => new Date().toISOString(), follow: async () => 0 });
    await handle(set, { id, input: { password }, actor: platform, operation: 'account passwd', requestId: randomUUID() });
    output.write(`The password of ${username} is set\n`);
  } finally {
    await store.close();
  }
};

/** The id of the account of that name, from the log: there are no read models without the service. */
const accountNamed = async (store: EventStore, username: string): Promise<string | undefined> => {
  const found = new Map<string, ReturnType<typeof accounts.on.accountCreated>>();
  for await (const { events } of store.readAll(0, ['@platform/authorization:account'])) {
    for (const event of events) {
      const { id } = splitStream(event.stream);
      found.set(id, project(accounts, found.get(id), decode(event)));
    }
  }
  return [...found].find(([, doc]) => doc?.username === username)?.[0];
};
