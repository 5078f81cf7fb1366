import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import ssh2, { type ClientChannel } from 'ssh2';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

// Changes devices by hand: the sessions that a change has, with nothing around them but two durable copies.

export type Calls = {
  readonly file: string;
  readonly ports: readonly number[];
  readonly atOnce: number;
  readonly lines: readonly string[];
};

/** Sends a line, and returns all that comes up to the next prompt. */
const runIn = (channel: ClientChannel) => {
  let text = '';
  let resolve: ((text: string) => void) | undefined;
  channel.on('data', (data: Buffer) => {
    text += data;
    if (!/^core(?:\(config\))?#$/m.test(text.slice(text.lastIndexOf('\n') + 1))) return;
    resolve?.(text);
    text = '';
  });
  return (line?: string): Promise<string> =>
    new Promise((done) => {
      resolve = done;
      if (line !== undefined) channel.write(`${line}\n`);
    });
};

const connected = (port: number): Promise<ssh2.Client> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    client
      .on('ready', () => resolve(client))
      .on('error', reject)
      .connect({
        host: '127.0.0.1',
        port,
        username: 'ops',
        password: 'a long enough password',
        hostVerifier: () => true,
        algorithms: { compress: ['none'] },
      });
  });

const shellOf = (client: ssh2.Client): Promise<ClientChannel> =>
  new Promise((resolve, reject) => {
    client.shell({ term: 'dumb', cols: 511 }, (error, channel) => (error ? reject(error) : resolve(channel)));
  });

type Store = Awaited<ReturnType<typeof openSqliteStore>>;

const keep = async (store: Store, text: string): Promise<void> => {
  const id = randomUUID();
  const event = { id, type: 'copy', data: JSON.stringify({ text: gzipSync(text).toString('base64') }), metadata: '{}' };
  await store.append(`copy-${id}`, -1, [event]);
};

const change = async (store: Store, port: number, lines: readonly string[]): Promise<void> => {
  const client = await connected(port);
  client.setNoDelay(true);
  const run = runIn(await shellOf(client));
  await run();
  for (const line of ['terminal length 0', 'terminal width 511']) await run(line);
  await keep(store, await run('show running-config'));
  for (const line of ['configure terminal', ...lines, 'end']) await run(line);
  const after = await run('show running-config');
  if (!lines.every((line) => after.includes(line.trim()))) throw new Error('The change is not there');
  await keep(store, after);
  client.end();
};

let store: Store | undefined;

const changeAll = async ({ file, ports, atOnce, lines }: Calls): Promise<void> => {
  store ??= await openSqliteStore({ file });
  const all = store;
  const left = ports.values();
  const caller = async (): Promise<void> => {
    for (const port of left) await change(all, port, lines);
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
};

process.on('message', (calls: Calls) => {
  changeAll(calls).then(
    () => process.send!('done'),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
