import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { type Change, leaseMs, type ReadStore } from '../../../src/projections/engine/port.ts';
import { redisReadStore } from '../../../src/projections/redis/redis.ts';
import { openProxy } from '../../support/proxy.ts';
import {
  child,
  contractCollections,
  listed,
  listedIn,
  partRemoved,
  put,
  readStoreContract,
  removed,
  thing,
} from '../../support/readStore.contract.ts';
import { describeOwnRedis, describeRedis, freshPrefix } from '../../support/redisServer.ts';

type More = { readonly prefix?: string; readonly readWaitMs?: number; readonly notices?: number };
const openAt = (url: string, more: More = {}): ReadStore =>
  redisReadStore({ url, prefix: freshPrefix(), collections: contractCollections, ...more });

const unavailable = (error: unknown): boolean => error instanceof RequestError && error.code === 'unavailable';

/** The first outcome that is not a refusal for unavailability. */
const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!unavailable(error)) throw error;
      await pause(5);
    }
  }
};

describeRedis('redis', (redis) => readStoreContract('redis', () => openAt(redis().url)));
describeOwnRedis(
  'a redis read store on a node of a cluster',
  (redis) => {
    it('uses keys of one slot only, and declares them', async () => {
      await redis().command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      while (!String(await redis().command('CLUSTER', 'INFO')).includes('cluster_state:ok')) await pause(20);
      const store = openAt(redis().url);
      try {
        await store.resume();
        assert.equal(await store.takeLeadership(), true);
        assert.equal(await store.apply([put(thing('1')), put(thing('2'))], 0, { position: 1, event: 'e1' }), true);
        assert.equal(await store.apply([removed('1')], 1, { position: 2, event: 'e2' }), true);
        assert.deepEqual(await listed(store), { ids: ['2'], total: 1 });
        assert.deepEqual([await store.get('things', '1'), await store.get('things', '2')], [undefined, thing('2')]);
        assert.deepEqual(await store.resume(), { position: 2, event: 'e2' });
        await store.clear();
        assert.deepEqual(await listed(store), { ids: [], total: 0 });
        await store.resign();
      } finally {
        await store.close();
      }
    });
  },
  ['--cluster-enabled', 'yes'],
);

describeRedis('redis read stores of one prefix', (redis) => {
  let stores: ReadStore[];
  let prefix: string;
  beforeEach(() => {
    stores = [];
    prefix = freshPrefix();
  });
  afterEach(() => Promise.all(stores.map((store) => store.close())));
  const open = async (more: More = {}): Promise<ReadStore> => {
    const store = openAt(redis().url, { prefix, ...more });
    stores.push(store);
    await store.resume();
    // The first, in most tests.
    await store.takeLeadership();
    return store;
  };
  const leaseExpires = () => redis().command('DEL', `{${prefix}}:lease`);
  const hundreds = (text: string): Change[] =>
    Array.from({ length: 300 }, (_, n) => put(thing(String(n).padStart(3, '0'), { text })));

  it('share what one of them writes', async () => {
    const [one, two] = [await open(), await open()];
    await one.apply([put(thing('1')), put(thing('2'))], 0, { position: 5, event: 'e5' });
    assert.deepEqual(await listed(two), { ids: ['1', '2'], total: 2 });
    await one.apply([removed('1'), put(thing('3'))], 5, { position: 9, event: 'e9' });
    assert.equal(await two.get('things', '1'), undefined);
    assert.deepEqual(await two.idsNamed('things', '3'), ['3']);
    assert.deepEqual(await two.resume(), { position: 9, event: 'e9' });
    assert.deepEqual(await listed(await open()), { ids: ['2', '3'], total: 2 });
  });
  it('share the removal of a part that is far larger than what they remember', async () => {
    const [one, two] = [await open({ notices: 10 }), await open()];
    await one.apply([...Array.from({ length: 4000 }, (_, n) => child(`p/${n}`)), child('q/1')], 0, {
      position: 1,
      event: 'e1',
    });
    await two.resume();
    await one.apply([partRemoved('p'), child('p/new')], 1, { position: 2, event: 'e2' });
    assert.deepEqual(await listedIn(two, 'p'), { ids: ['p/new'], total: 1 });
    assert.deepEqual(
      [await listedIn(await open(), 'p'), await listedIn(two, 'q')],
      [
        { ids: ['p/new'], total: 1 },
        { ids: ['q/1'], total: 1 },
      ],
    );
  });
  it('let one of them lead, and only that one write', async () => {
    const [one, two] = [await open(), await open()];
    assert.deepEqual(
      [await two.takeLeadership(), await one.takeLeadership(), await two.takeLeadership()],
      [false, true, false],
    );
    assert.equal(await two.apply([put(thing('2'))], 0, { position: 1, event: 'e1' }), false);
    assert.equal(await one.apply([put(thing('1'))], 0, { position: 1, event: 'e1' }), true);
    assert.deepEqual(await two.catchUp(), { position: 1, event: 'e1' });
    assert.deepEqual(await listed(two), { ids: ['1'], total: 1 });
    assert.deepEqual(await listed(one), await listed(two));
  });
  it('let another lead when the lead is not renewed, and fence off the one who had it', async () => {
    const [one, two] = [await open(), await open()];
    const left = Number(await redis().command('PTTL', `{${prefix}}:lease`));
    assert.ok(left > 0 && left <= leaseMs);
    await leaseExpires();
    assert.equal(await two.takeLeadership(), true);
    // Asleep all the while: it neither knows that its time was up nor sees another state.
    assert.equal(await one.apply([put(thing('1'))], 0, { position: 1, event: 'e1' }), false);
    assert.equal(await one.takeLeadership(), false);
    assert.equal(await two.apply([put(thing('2'))], 0, { position: 1, event: 'e1' }), true);
    await leaseExpires();
    assert.equal(await one.takeLeadership(), true);
    assert.equal(await two.apply([], 1, { position: 2, event: 'e2' }), false);
    await one.catchUp();
    assert.equal(await one.apply([], 1, { position: 2, event: 'e2' }), true);
  });
  it('let whoever took the lead again keep nothing of the time before', async () => {
    const one = await open();
    const [before] = [await redis().command('GET', `{${prefix}}:fence`)];
    await leaseExpires();
    assert.equal(await one.takeLeadership(), true);
    assert.notEqual(await redis().command('GET', `{${prefix}}:fence`), before);
  });
  it('tell each other of what was written, and of a lead that is given up', async () => {
    const [one, two] = [await open(), await open()];
    let told = (): void => undefined;
    const next = (): Promise<void> =>
      new Promise((resolve) => {
        told = resolve;
      });
    const listening = next();
    two.onMoved(() => told());
    // Once it listens.
    await listening;
    let again = next();
    await one.apply([], 0, { position: 1, event: 'e1' });
    await again;
    again = next();
    await one.resign();
    await again;
    assert.equal(await two.takeLeadership(), true);
    await one.resign();
    assert.equal(await one.takeLeadership(), false, 'who does not lead has nothing to give up');
  });
  it('load everything when they have fallen too far behind', async () => {
    const [one, two] = [await open({ notices: 100 }), await open()];
    let lost = 0;
    two.onLost(() => lost++);
    await one.apply(hundreds('"a"'), 0, { position: 1, event: 'e1' });
    await one.apply(hundreds('"b"'), 1, { position: 2, event: 'e2' });
    await assert.rejects(listed(two), unavailable);
    await assert.rejects(listed(two), unavailable);
    assert.equal(lost, 1);
    assert.deepEqual(await two.resume(), { position: 2, event: 'e2' });
    assert.equal((await listed(two)).total, 300);
  });
  it('load a state that is written to meanwhile as it is in the end', async () => {
    const [one, two] = [await open(), openAt(redis().url, { prefix })];
    stores.push(two);
    await one.apply([...hundreds('"a"'), ...Array.from({ length: 5000 }, (_, n) => put(thing(`x${n}`)))], 0, {
      position: 1,
      event: 'e1',
    });
    let done = false;
    const loading = two.resume().finally(() => {
      done = true;
    });
    let position = 1;
    while (!done) {
      await one.apply([removed(`x${position}`), put(thing(`y${position}`))], position, {
        position: position + 1,
        event: '',
      });
      position++;
    }
    const resumed = await loading;
    assert.ok(resumed.position <= position);
    assert.deepEqual(await listed(two), await listed(one));
    assert.equal((await listed(two)).total, 5300);
  });
  it('let reads through while step follows step', async () => {
    const store = await open();
    let writing = true;
    const writer = (async () => {
      for (let position = 0; position < 60; position++)
        await store.apply(hundreds(String(position)), position, { position: position + 1, event: '' });
      writing = false;
    })();
    let reads = 0;
    for (; writing; reads++)
      assert.equal(
        new Set(
          (await store.list('things', { sort: 'name', order: 1, skip: 0, limit: 300 })).entries.map(({ text }) => text),
        ).size <= 1,
        true,
      );
    await writer;
    assert.ok(reads > 20, `${reads} reads during 60 steps`);
  });
  it('leave other prefixes alone', async () => {
    const [mine, other] = [await open(), openAt(redis().url)];
    stores.push(other);
    await other.resume();
    assert.equal(await other.takeLeadership(), true);
    await other.apply([put(thing('1'))], 0, { position: 1, event: 'e1' });
    await mine.clear();
    assert.deepEqual(await listed(other), { ids: ['1'], total: 1 });
    await other.clear();
  });
  it('keep all keys in one slot', async () => {
    await (await open()).apply([put(thing('1'))], 0, { position: 1, event: 'e1' });
    const keys = (await redis().command('KEYS', `*${prefix}*`)) as string[];
    assert.equal(keys.length, 6);
    assert.deepEqual([...new Set(keys.map((key) => key.slice(0, key.indexOf(':'))))], [`{${prefix}}`]);
  });
});

describeOwnRedis('a redis read store in trouble', (redis) => {
  let store: ReadStore;
  let lost: number;
  const prefix = 'p';
  const write = async (changes: readonly Change[], from: number) => {
    await store.takeLeadership();
    return store.apply(changes, from, { position: from + 1, event: `e${from + 1}` });
  };
  beforeEach(async () => {
    await redis().command('FLUSHALL');
    lost = 0;
    store = openAt(redis().url, { prefix, readWaitMs: 300 });
    store.onLost(() => lost++);
    await store.resume();
    await write([put(thing('1')), put(thing('2', { guard: 'g' }))], 0);
  });
  afterEach(() => store.close());

  const readsAreRefused = async (): Promise<void> => {
    for (const read of [
      () => listed(store),
      () => listed(store, { where: { field: 'name', op: 'contains', value: '?' } }),
      () => store.get('things', '1'),
      () => store.getMany('things', ['9']),
      () => store.idsNamed('things', '1'),
    ]) {
      await assert.rejects(read(), unavailable);
    }
    assert.equal(lost, 1);
  };
  const healsFromTheLog = async (): Promise<void> => {
    assert.deepEqual(await store.resume(), { position: 0, event: '' });
    assert.equal(await write([put(thing('1')), put(thing('3'))], 0), true);
    assert.deepEqual(await listed(store), { ids: ['1', '3'], total: 2 });
    assert.equal(store.guard('things', '2'), undefined);
  };

  it('refuses to answer from an emptied Redis until it is filled again', async () => {
    await redis().command('FLUSHALL');
    await readsAreRefused();
    assert.equal(await write([], 1), false);
    await healsFromTheLog();
  });
  it('says again that the state is lost when it is lost again', async () => {
    for (let times = 1; times <= 2; times++) {
      await redis().command('FLUSHALL');
      await assert.rejects(listed(store), unavailable);
      assert.equal(lost, times);
      await store.resume();
    }
  });
  for (const key of ['meta', 'texts', 'index']) {
    it(`counts as lost when Redis has evicted its ${key}`, async () => {
      await redis().command('DEL', `{${prefix}}:${key}`);
      await readsAreRefused();
      await healsFromTheLog();
    });
  }
  it('counts as lost when one document was replaced by another', async () => {
    await redis().command('HDEL', `{${prefix}}:texts`, 'things/1');
    await redis().command('HSET', `{${prefix}}:texts`, 'things/8', '{}');
    await assert.rejects(listed(store), unavailable);
    await assert.rejects(store.get('things', '1'), unavailable);
    assert.equal(lost, 1);
    await healsFromTheLog();
  });
  it('never answers from before what was shown, except to the runner', async () => {
    store.onProjected(1);
    await redis().command('FLUSHALL');
    await assert.rejects(listed(store), unavailable);
    assert.deepEqual(await store.resume(), { position: 0, event: '' });
    for (const read of [
      () => listed(store),
      () => store.get('things', '1'),
      () => store.getMany('things', ['1']),
      () => store.idsNamed('things', '1'),
      async () => store.guard('things', '1'),
    ]) {
      await assert.rejects(read(), unavailable);
    }
    assert.deepEqual([await store.forRunner.get('things', '1'), lost], [undefined, 1]);
    assert.equal(await write([put(thing('1'))], 0), true);
    assert.deepEqual(await listed(store), { ids: ['1'], total: 1 });
  });
  it('heals when somebody has put values of other types under its keys, and a lease without an end', async () => {
    for (const key of ['meta', 'texts', 'index', 'notices', 'lease', 'fence']) {
      await redis().command('SET', `{${prefix}}:${key}`, 'mine');
      const { position } = await store.resume();
      assert.equal(await write([put(thing('1'))], position), true, key);
      assert.deepEqual((await listed(store, { limit: 1 })).ids, ['1'], key);
    }
  });
  it('counts as lost when a step broke off midway', async () => {
    await redis().command('HDEL', `{${prefix}}:meta`, 'epoch');
    await readsAreRefused();
    await healsFromTheLog();
  });
  it('refuses to answer for another epoch', async () => {
    const other = openAt(redis().url, { prefix });
    await other.resume();
    await store.resign();
    await other.takeLeadership();
    await other.clear();
    await other.apply([put(thing('9'))], 0, { position: 1, event: 'e1' });
    await other.resign();
    await other.close();
    await readsAreRefused();
    assert.equal(await write([put(thing('3'))], 1), false);
    assert.deepEqual(await store.resume(), { position: 1, event: 'e1' });
    assert.deepEqual(await listed(store), { ids: ['9'], total: 1 });
    assert.equal(store.guard('things', '2'), undefined);
  });
  it('starts afresh when the collections have other fields than before', async () => {
    await store.close();
    store = redisReadStore({
      url: redis().url,
      prefix,
      collections: contractCollections.map((spec) => ({ ...spec, filters: ['colour'] })),
    });
    assert.deepEqual(await store.resume(), { position: 0, event: '' });
    assert.deepEqual(await listed(store), { ids: [], total: 0 });
  });
  it('goes back to where a restored backup is', async () => {
    await redis().command('SAVE');
    await write([removed('1'), put(thing('3'))], 1);
    assert.deepEqual(await listed(store), { ids: ['2', '3'], total: 2 });
    await redis().kill();
    await redis().start();
    assert.deepEqual(await eventually(() => store.resume()), { position: 1, event: 'e1' });
    assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
    assert.equal(await write([removed('1'), put(thing('3'))], 1), true);
    assert.deepEqual(await listed(store), { ids: ['2', '3'], total: 2 });
  });
  it('refuses to answer from an older backup than it has seen', async () => {
    await redis().command('SAVE');
    await write([removed('1')], 1);
    await redis().kill();
    await redis().start();
    while ((await listed(store).catch((error: Error) => error.message)) !== 'The read models are behind')
      await pause(5);
    await readsAreRefused();
  });
  it('survives killed connections without a wrong answer', async () => {
    const answers = new Set<string>();
    let refused = 0;
    for (let kills = 0; kills < 5; kills++) {
      const reads = Array.from({ length: 50 }, () =>
        listed(store).then(
          ({ ids }) => answers.add(ids.join()),
          (error) => {
            assert.ok(unavailable(error));
            refused++;
          },
        ),
      );
      await redis().command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await Promise.all(reads);
      await eventually(() => listed(store));
    }
    assert.deepEqual(
      [...answers].filter((ids) => ids !== '1,2'),
      [],
    );
    assert.ok(refused <= 250);
    assert.equal(await eventually(() => write([put(thing('3'))], 1)), true);
    assert.deepEqual(await listed(store), { ids: ['1', '2', '3'], total: 3 });
  });
  it('does not care that Redis forgot its scripts', async () => {
    await redis().command('SCRIPT', 'FLUSH');
    assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
    await redis().command('SCRIPT', 'FLUSH');
    assert.equal(await write([put(thing('3'))], 1), true);
    assert.equal((await store.get('things', '3'))?.id, '3');
  });
  it('refuses when Redis hangs, and goes on when it goes on', async () => {
    redis().process().kill('SIGSTOP');
    try {
      await assert.rejects(listed(store), unavailable);
      assert.equal(lost, 1);
    } finally {
      redis().process().kill('SIGCONT');
    }
    assert.deepEqual(await eventually(() => listed(store)), { ids: ['1', '2'], total: 2 });
  });
  it('connects anew when a connection has gone silent', async () => {
    const proxy = await openProxy(Number(new URL(redis().url).port));
    const behind = openAt(`redis://127.0.0.1:${proxy.port}`, { prefix, readWaitMs: 100 });
    try {
      await behind.resume();
      proxy.silence();
      for (const outcome of await Promise.allSettled(Array.from({ length: 20 }, () => listed(behind))))
        assert.ok(outcome.status === 'rejected' && unavailable(outcome.reason));
      assert.deepEqual(await eventually(() => listed(behind)), { ids: ['1', '2'], total: 2 });
      assert.equal(proxy.connections(), 2);
    } finally {
      await behind.close();
      await proxy.close();
    }
  });
  it('refuses at once when Redis is down, and comes back with it', async () => {
    await redis().command('SAVE');
    await redis().kill();
    await readsAreRefused();
    await assert.rejects(store.resume(), unavailable);
    await assert.rejects(write([], 1), unavailable);
    await redis().start();
    assert.deepEqual(await eventually(() => store.resume()), { position: 1, event: 'e1' });
    assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
  });
  it('writes nothing when Redis has no memory left', async () => {
    await redis().command('CONFIG', 'SET', 'maxmemory', '1');
    await assert.rejects(write([put(thing('3'))], 1), unavailable);
    await redis().command('CONFIG', 'SET', 'maxmemory', '0');
    assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
    assert.equal(await write([put(thing('3'))], 1), true);
  });
  it('does not answer before it has resumed', async () => {
    await store.close();
    store = openAt(redis().url, { prefix });
    await assert.rejects(listed(store), unavailable);
    assert.throws(() => store.guard('things', '1'), unavailable);
    assert.equal(await write([], 1), false);
    await store.resume();
    assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
  });
});
