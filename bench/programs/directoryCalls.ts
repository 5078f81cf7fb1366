import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'ldapts';

// Asks a directory by hand what a login asks it: where is the person, and is the password theirs.

/** As the service does it: searches over connections that stay bound, binds over others. */
export type Directory = {
  readonly url: string;
  readonly ca: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  /** How many logins are under way at once. */
  readonly atOnce: number;
};

/** Logins of these people with one password; `isKept`: over connections that are kept, else each over its own. */
export type Calls = { readonly uids: readonly string[]; readonly password: string; readonly isKept: boolean };

/** `serve`: logins by HTTP Basic, answered with the port; each request is answered with 200. */
export type Order = { readonly directory: Directory } & ({ readonly calls: Calls } | { readonly serve: true });

type Pair = { readonly searching: Client; readonly binding: Client };

const open = async ({ url, ca, bindDn, bindPassword }: Directory): Promise<Pair> => {
  const [searching, binding] = [new Client({ url, tlsOptions: { ca } }), new Client({ url, tlsOptions: { ca } })];
  await searching.bind(bindDn, bindPassword);
  return { searching, binding };
};

const close = ({ searching, binding }: Pair) => Promise.all([searching.unbind(), binding.unbind()]);

const login = async ({ searching, binding }: Pair, uid: string, password: string): Promise<void> => {
  const { searchEntries } = await searching.search('ou=people,dc=example', { filter: `(uid=${uid})`, sizeLimit: 2 });
  await binding.bind(searchEntries[0]!.dn, password);
};

/** One connection for both calls. */
const loginAnew = async ({ url, ca }: Directory, uid: string, password: string): Promise<void> => {
  const client = new Client({ url, tlsOptions: { ca } });
  await login({ searching: client, binding: client }, uid, password);
  await client.unbind();
};

/** Milliseconds that all took, without the time to open connections that are kept. */
const callAll = async (directory: Directory, { uids, password, isKept }: Calls): Promise<number> => {
  const left = uids.values();
  const pairs = await Promise.all(
    Array.from({ length: directory.atOnce }, () => (isKept ? open(directory) : undefined)),
  );
  const began = performance.now();
  const caller = async (pair: Pair | undefined): Promise<void> => {
    for (const uid of left) await (pair ? login(pair, uid, password) : loginAnew(directory, uid, password));
  };
  await Promise.all(pairs.map(caller));
  const took = performance.now() - began;
  await Promise.all(pairs.map((pair) => pair && close(pair)));
  return took;
};

/** Answers requests of people, with nothing around the two calls. */
const serve = async (directory: Directory): Promise<number> => {
  const idle = await Promise.all(Array.from({ length: directory.atOnce }, () => open(directory)));
  const waiting: ((pair: Pair) => void)[] = [];
  const server = createServer(async ({ headers }, response) => {
    const pair = idle.pop() ?? (await new Promise<Pair>((resolve) => waiting.push(resolve)));
    const text = Buffer.from(headers.authorization!.slice('Basic '.length), 'base64').toString();
    const [uid = '', password = ''] = text.split(':');
    await login(pair, uid, password);
    const next = waiting.shift();
    if (next) next(pair);
    else idle.push(pair);
    response.end('{}');
  }).listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
};

process.on('message', (order: Order) => {
  const work = 'calls' in order ? callAll(order.directory, order.calls) : serve(order.directory);
  work.then(
    (figure) => process.send!(figure),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
