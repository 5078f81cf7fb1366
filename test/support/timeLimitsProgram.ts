import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { work } from '@automation-platform/client';
import { platform } from '../../src/domain/engine/core.ts';
import { blockList } from '../../src/southbound/addresses.ts';
import { devicesOf } from '../../src/southbound/devices.ts';
import { outbound } from '../../src/southbound/outbound.ts';

// Calls a server that answers nothing but claims, and collects garbage all the time. It says how many calls of a device
// have ended by themselves, and how often its worker has claimed. To be run with --expose-gc.

const job = { _id: 'a'.repeat(24), name: 'hung' };
let claims = 0;
const server = createServer((req, res) => {
  if (req.url?.endsWith('/claim')) res.end(JSON.stringify({ data: claims++ === 0 ? [{ job, claim: 1 }] : [] }));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const properties = { baseUrl: url, timeout: 500 };
const source = { kind: 'adapter' as const, name: 'hung', id: 'hung' };
const known = { source, type: 'http' as const, properties, device: { name: 'r1' }, created: '' };
const allowed = { hosts: new Set(['127.0.0.1']), addresses: blockList([]) };
const devices = devicesOf({
  sources: {
    find: async () => [known],
    sourcesOf: async () => new Map(),
    list: async () => ({ total: 0, list: [] }),
    credential: async () => undefined,
    pinned: async () => undefined,
  },
  order: () => [],
  unseal: () => '',
  guard: outbound({ allowed, stores: [] }),
  labFolder: '',
});

const calls = Number(process.argv[2]);
const outcomes: string[] = [];
for (let n = 0; n < calls; n++)
  devices
    .seenBy(platform)
    .calls(undefined)
    .run('r1', 'show')
    .catch((error: Error) => outcomes.push(error.message));
const end = new AbortController();
// The report of the only job is not answered. Until it is given up, nothing more is claimed.
const run = async () => ({});
void work({ url, auth: { token: 't' }, components: ['x'], run, lease: 1, signal: end.signal });

const until = performance.now() + 10_000;
while (performance.now() < until && (outcomes.length < calls || claims < 2)) {
  globalThis.gc?.();
  await pause(10);
}
process.stdout.write(JSON.stringify({ outcomes: [...new Set(outcomes)], ended: outcomes.length, claims }));
process.exit();
