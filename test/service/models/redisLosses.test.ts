import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { auditKey } from '../../support/auditKey.ts';
import { freePort } from '../../support/freePort.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { sampled } from '../../support/sample.ts';
import { type Answer, adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const password = 'a long enough password';
const mappings = 40;
const clients = 12;

describeOwnRedis('answers of two nodes while Redis loses what it holds', (redis) => {
  let nodes: TestService[];
  before(async () => {
    const settings = {
      READSTORE_URL: redis().url,
      READ_WAIT_MS: '300',
      SECRET_KEY: 'the same on both',
      AUDIT_KEY: auditKey,
    };
    const port = await freePort();
    const first = await startService({ ...settings, ESDB_PORT: String(port) });
    nodes = [first];
    const log = `esdb://admin:${encodeURIComponent(adminPassword)}@localhost:${port}?tlsCAFile=${join(first.folder, 'esdb-certificate.pem')}`;
    nodes.push(await startService({ ...settings, EVENTSTORE_URL: log }));
    const made = async (method: string, path: string, body: unknown) =>
      assert.equal((await first.ask(method, path, body)).status, 200);
    await made('POST', '/authorization/roles', {
      name: 'lister',
      allowedMethods: [{ provenance: 'operations-manager', name: 'getAutomations' }],
    });
    await made('POST', '/authorization/accounts', { username: 'lister', password, assignedRoles: ['lister'] });
    await made('POST', `${om}/automations`, { name: 'kept' });
    for (let n = 0; n < mappings; n++)
      await made('PATCH', `/group-mappings/redis/${n}`, { updates: { platformGroups: ['0'] } });
  });
  after(async () => {
    for (const node of nodes.reverse()) await node.stop();
  });

  /** Asks both nodes all the time until told to stop: `wrong` is what is neither right nor 503. */
  const load = () => {
    const wrong: string[] = [];
    const count = { right: 0, refused: 0 };
    const acknowledged = Array.from({ length: mappings }, () => ({ value: 0, position: 0 }));
    let stopped = false;
    const judge = (what: string, { status, text }: Answer, right: () => boolean): void => {
      if (status === 200 && right()) count.right++;
      else if (status === 503) count.refused++;
      else wrong.push(`${what}: ${status} ${text.slice(0, 300)}`);
    };
    const asks: readonly ((node: TestService, n: number) => Promise<void>)[] = [
      async ({ ask }, n) => {
        const { value, position } = acknowledged[n]!;
        const answer = await ask('GET', `/group-mappings/redis/${n}`, undefined, {
          'X-Min-Position': String(position),
        });
        judge('one', answer, () => Number(answer.body.platformGroups[0]) >= value);
      },
      async ({ ask }) => {
        const answer = await ask('GET', '/group-mappings?limit=100');
        judge('list', answer, () => answer.body.total === mappings && answer.body.results.length === mappings);
      },
      async ({ ask }) => {
        const answer = await ask('GET', `/group-mappings?limit=100&multiContains[name]=1`);
        judge('filtered', answer, () => answer.body.total === 13);
      },
      async ({ ask }) => {
        const answer = await ask('GET', `${om}/automations/kept`);
        judge('named', answer, () => answer.body.data.name === 'kept');
      },
      async ({ as }) => {
        const answer = await as({ user: 'lister', password })('GET', `${om}/automations`);
        judge('another account', answer, () => answer.body.data.length === 1);
      },
      async ({ ask }, n) => {
        const { value } = acknowledged[n]!;
        const answer = await ask('PATCH', `/group-mappings/redis/${n}`, {
          updates: { platformGroups: [String(value + 1)] },
        });
        judge('change', answer, () => true);
        if (answer.status === 200)
          acknowledged[n] = { value: value + 1, position: Number(answer.headers.get('x-event-position')) };
      },
      async ({ ask }) => {
        const answer = await ask('POST', '/login', { username: 'lister', password }, {}, null);
        judge('login', answer, () => answer.text.length > 20);
      },
    ];
    const running = Array.from({ length: clients }, async (_, client) => {
      // Each changes mappings of its own.
      for (let n = client; !stopped; n += clients)
        await asks[Math.floor(n / clients) % asks.length]!(nodes[client % nodes.length]!, n % mappings);
    });
    return {
      wrong,
      count,
      stop: async (): Promise<void> => {
        stopped = true;
        await Promise.all(running);
      },
    };
  };

  const kinds = ['meta', 'texts', 'index', 'notices', 'lease', 'fence'];
  const anyKey = async (): Promise<string> => {
    const kind = kinds[Math.floor(Math.random() * kinds.length)]!;
    return ((await redis().command('KEYS', `*:${kind}`)) as string[])[0] ?? kind;
  };
  const losses: Readonly<Record<string, readonly [times: number, lose: () => Promise<unknown>]>> = {
    FLUSHALL: [60, () => redis().command('FLUSHALL')],
    'keys deleted': [30, async () => redis().command('DEL', await anyKey())],
    'keys overwritten by somebody': [30, async () => redis().command('SET', await anyKey(), 'mine')],
    "keys that are lists of somebody's": [
      30,
      async () =>
        redis().command(
          'EVAL',
          "redis.call('DEL', KEYS[1]) return redis.call('LPUSH', KEYS[1], 'mine')",
          '1',
          await anyKey(),
        ),
    ],
    'keys evicted': [
      30,
      async () => {
        await redis().command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1');
        await redis().command('CONFIG', 'SET', 'maxmemory', '0');
      },
    ],
    restarts: [
      5,
      async () => {
        await redis().kill();
        await redis().start();
      },
    ],
  };

  for (const [what, [times, lose]] of sampled(Object.entries(losses), 1)) {
    it(`are right or 503 with ${what}`, async function () {
      this.timeout(180_000);
      const { wrong, count, stop } = load();
      const more = async (so: number): Promise<void> => {
        const target = count.right + so;
        await until(() => count.right >= target || wrong.length > 0, 'coming to itself');
      };
      try {
        for (let n = 0; n < (process.env.SOAK_ROUNDS ? times : Math.ceil(times / 3)); n++) {
          await lose();
          // Now and then it comes to itself in between.
          if (n % 5 === 4) await more(20);
          else await pause(10 + Math.random() * 60);
        }
        await more(100);
      } finally {
        await stop();
      }
      assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} of ${count.right + count.refused + wrong.length}`);
    });
  }
});
