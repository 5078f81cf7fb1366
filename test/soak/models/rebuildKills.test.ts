import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { snapshotName } from '../../../src/projections/snapshots/snapshot.ts';
import { cluster } from '../../support/cluster.ts';
import { cannotKill } from '../../support/killing.ts';
import { fsyncs, sweepServiceKills } from '../../support/kills/sweep.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { spoilSnapshot } from '../../support/spoiltModels.ts';
import { until } from '../../support/until.ts';

const soak = process.env.SOAK_ROUNDS !== undefined;
const mappings = '/group-mappings?limit=100';

/** The version of the program that made the snapshot in a folder. */
const versionIn = (folder: string): string =>
  JSON.parse(readFileSync(join(folder, snapshotName), 'utf8').split('\n', 1)[0] ?? '').version;

type Asked = { readonly ask: Server['ask'] };

const change = async ({ ask }: Asked, n: number): Promise<void> => {
  const { status, text } = await ask('PATCH', `/group-mappings/ldap/m${n}`, { updates: { platformGroups: [`m${n}`] } });
  assert.equal(status, 200, text);
};

/** Says if all documents are spoilt, or all as the log says. Fails where it is neither. */
const stateOf = async ({ ask }: Asked): Promise<'spoilt' | 'right'> => {
  const { status, body, text } = await ask('GET', mappings);
  assert.equal(status, 200, text);
  const groups: readonly string[] = body.results.map((one: any) => `${one.externalGroup}:${one.platformGroups}`);
  const isRight = groups.includes('m3:m3') && groups.includes('m5:m5') && groups.length === 10;
  const isSpoilt = groups.includes('m3:other') && !groups.includes('m5:m5') && groups.length === 10;
  assert.ok(isRight || isSpoilt, groups.join());
  return isRight ? 'right' : 'spoilt';
};

/** A snapshot that differed is removed. */
const removals = 'unlink,unlinkat';
/** A snapshot gets its name once it is whole. */
const renames = 'rename,renameat,renameat2';

(cannotKill ? describe.skip : describe)(`a rebuild of read models: kill -9${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  before(async () => {
    folder = temporaryFolder();
    const base = join(folder, 'base');
    const server = await startServer(base);
    for (let n = 0; n < 10; n++) await change(server, n);
    await server.stop();
    // After an upgrade, a service makes a snapshot at once.
    const earlier = 'an earlier one';
    await spoilSnapshot(base, { version: earlier });
    const upgraded = await startServer(base);
    await until(() => versionIn(base) !== earlier, 'a snapshot');
    await upgraded.stop();
    for (const [name, version] of [
      ['same', versionIn(base)],
      ['earlier', earlier],
    ] as const) {
      cpSync(base, join(folder, name), { recursive: true });
      await spoilSnapshot(join(folder, name), { version });
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const about = (calls: string, base: string) => ({
    folder,
    base,
    calls,
    settings: { READ_WAIT_MS: '100000' },
    apart: (n: number) => n,
  });

  for (const calls of [fsyncs, removals])
    it(`at ${calls} leaves the old documents or the right ones, and the right ones if it was answered`, async () => {
      await sweepServiceKills({
        ...about(calls, 'same'),
        use: async ({ ask }) => (await ask('POST', '/health/rebuild')).status === 200,
        look: async (next, isDone) => {
          const state = await stateOf(next);
          if (isDone) assert.equal(state, 'right');
          assert.equal((await next.ask('POST', '/health/rebuild')).status, 200);
          assert.equal(await stateOf(next), 'right');
        },
      });
    });

  for (const calls of [fsyncs, renames])
    it(`after an upgrade, at ${calls}, leaves documents that become right`, async () => {
      await sweepServiceKills({
        ...about(calls, 'earlier'),
        use: async ({ child }) => {
          const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
          const isNew = (): boolean => versionIn(join(folder, 'data')) === versionIn(join(folder, 'base'));
          await until(() => ended() || isNew(), 'a snapshot or an end');
          return !ended();
        },
        look: (next) => until(async () => (await stateOf(next)) === 'right', 'the right documents'),
      });
    });
});

describeOwnRedis('a rebuild of read models in Redis: kill -9 of the node that leads', (redis) => {
  it('leaves the old documents or the right ones; the next leader makes them right', async function () {
    this.timeout(3_600_000);
    const nodes = await cluster(redis());
    const spoil = async (): Promise<void> => {
      for (const key of (await redis().command('KEYS', '*:texts')) as readonly string[]) {
        const text = await redis().command('HGET', key, 'groupMappings/ldap m3');
        if (text === null) continue;
        await redis().command('HSET', key, 'groupMappings/ldap m3', String(text).replace('["m3"]', '["other"]'));
      }
    };
    const groupsOf = async (node: Asked): Promise<string> => {
      const { status, body } = await node.ask('GET', '/group-mappings/ldap/m3');
      return status === 200 ? body.platformGroups.join() : '';
    };
    try {
      await nodes.start();
      for (let n = 0; n < 10; n++) await change((await nodes.roles()).leader, n);
      const began = performance.now();
      assert.equal((await (await nodes.roles()).leader.ask('POST', '/health/rebuild')).status, 200);
      const whole = performance.now() - began;
      const rounds = soak ? 12 : 3;
      for (let round = 0; round < rounds; round++) {
        const { leader, other } = await nodes.roles();
        await spoil();
        const rebuilding = leader.ask('POST', '/health/rebuild');
        await pause((whole * (round + 1)) / rounds);
        await leader.kill();
        const isDone = (await rebuilding).status === 200;
        await until(async () => ['m3', 'other'].includes(await groupsOf(other)), 'an answer');
        const left = await groupsOf(other);
        if (isDone) assert.equal(left, 'm3');
        await until(() => other.leads(), 'another node leads');
        await until(async () => (await other.ask('POST', '/health/rebuild')).status === 200, 'a rebuild');
        assert.equal(await groupsOf(other), 'm3');
        await change(other, 3);
        await leader.start();
        await until(async () => (await groupsOf(leader)) === 'm3', 'the node that was killed shows it');
      }
    } finally {
      await nodes.remove();
    }
  });
});
