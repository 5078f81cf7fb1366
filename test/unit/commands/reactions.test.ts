import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { newLeadership } from '@automation-platform/concurrency';
import type { Tools } from '../../../src/commands/engine/define.ts';
import type { Reaction } from '../../../src/commands/engine/reactions.ts';
import { NotReadable } from '../../../src/domain/engine/requestError.ts';
import { decode, type Recorded } from '../../../src/store/event.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { openLog } from '../../support/node.ts';
import { dying, stopping } from '../../support/stopping.ts';
import { until } from '../../support/until.ts';
import { box, boxReaction, makePart, thing, things, writer } from '../../support/writer.ts';

type Filled = { readonly things: readonly { readonly id: string; readonly name: string }[] };

describe('reactions', () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  let ends: (() => unknown)[];
  beforeEach(async () => {
    log = await openLog();
    ends = [];
  });
  afterEach(async () => {
    await Promise.all(ends.map((end) => end()));
    await log.close();
  });

  const node: typeof writer = (store, options) => {
    const started = writer(store, options);
    ends.push(started.stop);
    return started;
  };
  const topics = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { events } of log.store.readAll(0))
      for (const { stream, type } of events) found.push(`${type.split(':')[1]} ${stream}`);
    return found;
  };
  const made = (stored: readonly string[]) =>
    stored.filter((event) => event.startsWith('thingMade')).map((event) => event.split(' ')[1]);

  it('keep how far they have come once a second at most, and when they stop', async () => {
    const { store } = log;
    const set: number[] = [];
    const one = node(
      {
        ...store,
        keepCheckpoint: (name, position) => {
          set.push(position ?? NaN);
          return store.keepCheckpoint(name, position);
        },
      },
      { following: { pauses: { placeMs: 1000, tryMs: 100 } } },
    );
    const began = Date.now();
    for (let n = 0; n < 20; n++) await one.fill(`box${n}`, [{ id: `a${n}`, name: `a${n}` }]);
    for (let n = 0; n < 20; n++) await until(async () => (await one.state(`a${n}`)).name !== undefined);
    await one.stop();
    const seconds = (Date.now() - began) / 1000;
    assert.ok(set.length >= 1 && set.length <= seconds + 2, `${set.length} in ${seconds} s`);
    assert.equal(await store.checkpoint('reactions'), set.at(-1));
    assert.deepEqual(
      set,
      [...set].sort((a, b) => a - b),
    );
  });

  it('are waited for no longer than patience allows: the answer tells of the change alone, and one run does the rest', async () => {
    let asked = 0;
    let read = false;
    const counting: Reaction = {
      of: box,
      on: {
        boxFilled: (event, tools) => {
          asked++;
          return boxReaction.on.boxFilled!(event, tools);
        },
      },
    };
    const held = stopping(log.store, 3);
    ends.push(held.resume);
    held.arm();
    const seen: EventStore = {
      ...held.store,
      follow: async function* (...args) {
        for await (const batch of log.store.follow(...args)) {
          read ||= batch.events.some(({ type }) => type.endsWith(':boxFilled'));
          yield batch;
        }
      },
    };
    const one = node(seen, { following: { patienceMs: 0, reactions: [counting] } });
    const done = await one.fill('b', [{ id: 'p', name: 'x' }]);
    assert.equal(done.position, await log.store.head());
    assert.deepEqual(made(await topics()), []);
    // The reader of the log meets the event while the run of the request goes on.
    await until(() => read);
    for (let n = 0; n < 10; n++) await new Promise(setImmediate);
    held.resume();
    await until(async () => made(await topics()).length > 0);
    await one.stop();
    assert.equal(asked, 1);
    assert.equal(await log.store.checkpoint('reactions'), done.position);
  });

  it('of an event whose node does not carry them out, after it has answered, are carried out by the node that leads', async () => {
    const dead = dying(log.store, 4, 'before');
    dead.arm();
    const one = writer(dead.store, { following: { patienceMs: 0, leadership: newLeadership() } });
    await one.fill('b', [
      { id: 'p', name: 'x' },
      { id: 'q', name: 'y' },
    ]);
    await dead.dead;
    assert.deepEqual(made(await topics()), []);
    node(log.store);
    await until(async () => made(await topics()).length === 2);
    const stopped = one.stop();
    dead.bury();
    await stopped;
    assert.deepEqual(made(await topics()), ['thing-p', 'thing-q']);
  });

  it('may change one stream several times: each has a key of its own, the first the one that it always had', async () => {
    const often: Reaction = {
      of: box,
      on: {
        boxFilled: async () => [
          { command: makePart, id: 'p', input: { name: 'x' } },
          { command: makePart, id: 'q', input: { name: 'y' } },
          { command: makePart, id: 'p', input: { name: 'x2' } },
          { command: makePart, id: 'p', input: { name: 'x3' } },
        ],
      },
    };
    const one = node(log.store, { following: { reactions: [often], leadership: newLeadership() } });
    await one.fill('b', [{ id: 'p', name: 'x' }]);
    const all = ['thing-p', 'thing-q', 'thing-p', 'thing-p'];
    assert.deepEqual(made(await topics()), all);
    const keys: (string | undefined)[] = [];
    for await (const events of log.store.read('thing-p'))
      for (const event of events) keys.push(decode(event).metadata.idempotency?.key);
    assert.deepEqual(keys, ['part:box-b@0', 'part:box-b@0#1', 'part:box-b@0#2']);
    // The node that leads finds all of it done.
    const two = node(log.store, { following: { reactions: [often] } });
    await until(async () => (await log.store.checkpoint('reactions')) !== undefined);
    await two.stop();
    assert.deepEqual(made(await topics()), all);
    assert.ok((await one.streams.refresh('thing-p')).keys.followsSince('box-b', 0));
  });

  describe('of which one is in the background', () => {
    const background: Reaction = {
      of: box,
      background: true,
      on: { boxFilled: async () => [{ command: makePart, id: 'p', input: { name: 'later' } }] },
    };
    const reactions = [background, boxReaction];
    const things = [{ id: 'p', name: 'x' }];
    const names = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const events of log.store.read('thing-p'))
        for (const { data } of events) found.push((JSON.parse(data) as { readonly name: string }).name);
      return found;
    };

    it('are carried out before the answer but for that one, which the node that leads carries out', async () => {
      const one = node(log.store, { following: { reactions, leadership: newLeadership() } });
      const { position } = await one.fill('b', things);
      assert.deepEqual(await names(), ['x']);
      assert.equal(position, await log.store.head());
      node(log.store, { following: { reactions } });
      await until(async () => (await names()).length === 2);
      assert.deepEqual(await names(), ['x', 'later']);
    });

    it('are shown to those who read after the answer, but for that one, which nobody waits for', async () => {
      const acknowledged: number[] = [];
      const one = node(log.store, {
        acknowledge: (position) => acknowledged.push(position),
        following: { reactions, leadership: newLeadership() },
      });
      const { position } = await one.fill('b', things);
      assert.equal(Math.max(...acknowledged), position);
      const other = node(log.store, {
        acknowledge: (at) => acknowledged.push(at),
        following: { reactions },
      });
      await until(async () => (await names()).length === 2);
      await other.stop();
      assert.ok(Math.max(...acknowledged) <= position);
      assert.ok((await log.store.head()) > position);
    });

    it('take no turn where an event says that nothing follows from it', async () => {
      let asked = 0;
      const picky: Reaction = {
        of: box,
        background: true,
        when: ({ data }: Recorded<Filled>) => data.things.length > 1,
        on: {
          boxFilled: async () => {
            asked++;
            return [];
          },
        },
      };
      const one = node(log.store, { following: { reactions: [picky] } });
      await one.fill('b', things);
      await one.fill('c', [
        { id: 'q', name: 'y' },
        { id: 'r', name: 'z' },
      ]);
      await until(() => asked > 0);
      await until(async () => ((await log.store.checkpoint('reactions')) ?? 0) > 1);
      assert.equal(asked, 1);
    });

    it('do not run ahead of the read models: that one waits until these show the event, and few wait at once', async () => {
      let show = (): void => undefined;
      const shown = new Promise<void>((resolve) => {
        show = resolve;
      });
      const asked: number[] = [];
      const reached = (position: number): Promise<void> => {
        asked.push(position);
        return shown;
      };
      const one = node(log.store, { following: { reactions, whenProjected: reached } });
      const { position } = await one.fill('b', things);
      for (let n = 0; n < 4; n++) await one.fill(`b${n}`, [{ id: `q${n}`, name: `y${n}` }]);
      await until(async () => asked.length > 1 || (await names()).includes('later'));
      assert.deepEqual(await names(), ['x']);
      assert.ok(asked[0]! <= position);
      for (let n = 0; n < 50; n++) await new Promise(setImmediate);
      assert.equal(asked.length, 2);
      show();
      await until(async () => (await names()).length === 6);
    });

    it('are all carried out by the node that leads when the first node has ended before any, each once', async () => {
      const dead = dying(log.store, 3, 'before');
      dead.arm();
      const one = writer(dead.store, { following: { patienceMs: 0, reactions, leadership: newLeadership() } });
      await one.fill('b', things);
      await dead.dead;
      assert.deepEqual(await names(), []);
      node(log.store, { following: { reactions } });
      await until(async () => (await names()).length === 2);
      const stopped = one.stop();
      dead.bury();
      await stopped;
      node(log.store, { following: { reactions } });
      for (let n = 0; n < 50; n++) await new Promise(setImmediate);
      assert.deepEqual(await names(), ['x', 'later']);
    });

    it('are each carried out once by a node that leads and takes the request too', async () => {
      const one = node(log.store, { following: { reactions } });
      for (let n = 0; n < 10; n++) await one.fill(`b${n}`, [{ id: `p${n}`, name: `x${n}` }]);
      await until(async () => made(await topics()).length === 20);
      await one.stop();
      assert.equal(made(await topics()).length, 20);
    });
  });

  it('are done once all is done that follows from them in turn', async () => {
    const nested: Reaction = {
      of: thing,
      on: {
        thingMade: async ({ stream, data }: Recorded<{ readonly name: string }>) =>
          stream === 'thing-p' ? [{ command: makePart, id: 'p2', input: { name: `${data.name}2` } }] : [],
      },
    };
    // Appends: the two names, the box, p; then the name of what follows from p.
    const held = stopping(log.store, 5);
    ends.push(held.resume);
    held.arm();
    const one = node(held.store, {
      following: { patienceMs: 0, leadership: newLeadership(), reactions: [boxReaction, nested] },
    });
    await one.fill('b', [
      { id: 'p', name: 'x' },
      { id: 'q', name: 'y' },
    ]);
    await held.atStop;
    await pause(50);
    held.resume();
    await until(async () => made(await topics()).length === 3);
    assert.deepEqual(made(await topics()), ['thing-p', 'thing-p2', 'thing-q']);
  });

  it('are tried six times; what fails each time is parked with its reason, and what follows goes on', async () => {
    let failures = 5;
    const failing: Reaction = {
      of: box,
      on: {
        boxFilled: async (event, tools) => {
          const name = (event.data as Filled).things[0]?.name;
          if (name === 'never') throw new Error('no such thing');
          if (name === 'late' && failures-- > 0) throw new Error('not yet');
          return boxReaction.on.boxFilled!(event, tools);
        },
      },
    };
    const one = node(log.store, { following: { reactions: [failing], patienceMs: 0 } });
    await one.fill('b1', [{ id: 'p', name: 'never' }]);
    await one.fill('b2', [{ id: 'q', name: 'late' }]);
    await one.fill('b3', [{ id: 'r', name: 'soon' }]);
    const parked = async () => {
      const events: { readonly stream: string; readonly reason: string }[] = [];
      for await (const batch of log.store.readAll(0))
        for (const event of batch.events)
          if (event.type.endsWith(':reactionParked')) events.push(decode(event).data as (typeof events)[number]);
      return events.map(({ stream, reason }) => [stream, reason]);
    };
    await until(async () => made(await topics()).length === 2 && (await parked()).length > 0, 'both things');
    assert.deepEqual(made(await topics()).sort(), ['thing-q', 'thing-r']);
    assert.deepEqual(await parked(), [['box-b1', 'no such thing']]);
  });

  it('wait for read models that are behind: that is no try', async () => {
    let behind = 20;
    const tools = {
      query: async () => [],
      find: async () => {
        if (behind-- > 0) throw new NotReadable('The read models are behind; try again');
        return 'p';
      },
    } as unknown as Tools;
    const finding: Reaction = {
      of: box,
      on: {
        boxFilled: async ({ data }, { find }) => [
          { command: makePart, id: (await find(things, 'p'))!, input: { name: (data as Filled).things[0]!.name } },
        ],
      },
    };
    const logged: string[] = [];
    const one = node(log.store, { following: { tools, reactions: [finding], log: (message) => logged.push(message) } });
    await one.fill('b', [{ id: 'p', name: 'x' }]);
    await until(async () => made(await topics()).length > 0);
    assert.deepEqual(
      (await topics()).filter((event) => event.startsWith('reactionParked')),
      [],
    );
    assert.deepEqual(logged, ['A reaction waits for the read models']);
  });

  it('that wait for read models keep no node from ending, and are left to the next', async () => {
    const never = {
      query: async () => [],
      find: () => Promise.reject(new NotReadable('The read models are behind; try again')),
    } as unknown as Tools;
    const finding: Reaction = {
      of: box,
      on: {
        boxFilled: async (event, tools) => {
          await tools.find(things, 'p');
          return boxReaction.on.boxFilled!(event, tools);
        },
      },
    };
    const one = node(log.store, { following: { tools: never, reactions: [finding], patienceMs: 0 } });
    await one.fill('b', [{ id: 'p', name: 'x' }]);
    await one.stop();
    assert.deepEqual(made(await topics()), []);
    node(log.store);
    await until(async () => made(await topics()).length > 0);
  });

  it('are read from the log once the read models are ready, not before', async () => {
    await node(log.store, { reacting: false }).fill('b', [{ id: 'p', name: 'x' }]);
    let ready = (): void => undefined;
    let asked = false;
    const gate = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const tools = {
      query: async () => {
        assert.ok(asked);
        return [];
      },
    } as unknown as Tools;
    const read: string[] = [];
    const store: EventStore = {
      ...log.store,
      takeCheckpoint: (name) => {
        read.push(name);
        return log.store.takeCheckpoint(name);
      },
    };
    node(store, {
      following: {
        tools,
        ready: () => {
          asked = true;
          return gate;
        },
      },
    });
    await until(() => asked);
    await pause(20);
    assert.deepEqual(read, []);
    ready();
    await until(async () => made(await topics()).length > 0);
  });
});
