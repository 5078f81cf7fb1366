import assert from 'node:assert/strict';
import type { EventStore } from '../../src/store/port.ts';
import { sampled } from './sample.ts';
import { stopping } from './stopping.ts';
import { until } from './until.ts';
import { outcome, writer } from './writer.ts';

type Node = ReturnType<typeof writer>;

/**
 * Two writers with caches of their own over one store; `open` gives the store. Runs unchanged on every store. `few`: how
 * many stops and overtakings `npm test` tries, drawn by FAULT_SEED; all unless given.
 */
export const twoWriters = (
  title: string,
  open: () => Promise<{ store: EventStore; close: () => Promise<void> }>,
  few = Infinity,
) =>
  describe(`two writers: ${title}`, () => {
    let store: EventStore;
    let close: () => Promise<void>;
    const nodes: Node[] = [];
    const holds: ReturnType<typeof stopping>[] = [];
    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(async () => {
      for (const { resume } of holds.splice(0)) resume();
      await Promise.all(nodes.splice(0).map((each) => each.stop()));
      await close();
    });

    /** A node over the store, or over one that a test has seen to; stopped after the test. */
    const node: typeof writer = (over, options) => {
      const started = writer(over, options);
      nodes.push(started);
      return started;
    };
    /** The store of a node that is stopped at its n-th append. Who waits there after the test goes on. */
    const stopped = (n: number, moment: 'before' | 'after' = 'before') => {
      const held = stopping(store, n, moment);
      held.arm();
      holds.push(held);
      return held;
    };
    /**
     * Until the writer is stopped, or has ended: another may have made an append unnecessary that it would be stopped
     * at.
     */
    const atStop = (held: ReturnType<typeof stopped>, work: Promise<unknown>): Promise<unknown> =>
      Promise.race([held.atStop, work]);

    const bearers = async (name: string, ids: readonly string[]): Promise<string[]> => {
      const reader = node(store, { reacting: false });
      const states = await Promise.all(ids.map(async (id) => ({ id, state: await reader.state(id) })));
      return states.filter(({ state }) => state.name === name).map(({ id }) => id);
    };

    const cases: Record<
      string,
      {
        steps: number;
        first: (w: Node) => Promise<unknown>;
        second: (w: Node) => Promise<unknown>;
        before?: (w: Node) => Promise<unknown>;
      }
    > = {
      'create and create': { steps: 2, first: (w) => w.make('a', 'x'), second: (w) => w.make('b', 'x') },
      'rename and create': {
        steps: 2,
        before: (w) => w.make('a', 'old'),
        first: (w) => w.rename('a', 'x'),
        second: (w) => w.make('b', 'x'),
      },
      'create and rename': {
        steps: 2,
        before: (w) => w.make('b', 'old'),
        first: (w) => w.make('a', 'x'),
        second: (w) => w.rename('b', 'x'),
      },
      'an intent and create': {
        steps: 4,
        first: (w) =>
          w.fill('i', [
            { id: 'a', name: 'x' },
            { id: 'c', name: 'y' },
          ]),
        second: (w) => w.make('b', 'x'),
      },
      'create and an intent': {
        steps: 2,
        first: (w) => w.make('a', 'x'),
        second: (w) =>
          w.fill('i', [
            { id: 'b', name: 'x' },
            { id: 'c', name: 'y' },
          ]),
      },
      'rename back and create': {
        steps: 1,
        before: async (w) => {
          await w.make('a', 'x');
          await w.rename('a', 'other');
        },
        first: (w) => w.rename('a', 'x'),
        second: (w) => w.make('b', 'x'),
      },
    };

    const scenes = Object.entries(cases).flatMap(([what, { steps, ...work }]) =>
      Array.from({ length: steps }, (_, n) => ({ ...work, what, step: n + 1 })),
    );
    const stops = scenes.flatMap((scene) => (['before', 'after'] as const).map((moment) => ({ ...scene, moment })));
    for (const { what, step, moment, before, first, second } of sampled(stops, few)) {
      it(`${what}: the first stops ${moment} append ${step}, the second goes through, one bears the name`, async () => {
        if (before) await before(node(store, { reacting: false }));
        const held = stopped(step, moment);
        const [one, two] = [node(held.store), node(store)];
        const slow = outcome(first(one));
        await atStop(held, slow);
        const quick = await outcome(second(two));
        held.resume();
        const late = await slow;
        const names = await bearers('x', ['a', 'b']);
        assert.deepEqual(
          names.length,
          1,
          `bearers: ${names.join()}; first: ${JSON.stringify(late)}, second: ${JSON.stringify(quick)}`,
        );
        const won = (result: unknown) => typeof result === 'object';
        assert.equal(won(late), names[0] === 'a', 'the first is told the truth');
        assert.equal(won(quick), names[0] === 'b', 'the second is told the truth');
      });

      it(`${what}: the first dies ${moment} append ${step}, and the name is not lost`, async () => {
        if (before) await before(node(store, { reacting: false }));
        const held = stopped(step, moment);
        const [one, two] = [node(held.store), node(store)];
        const dead = outcome(first(one));
        await atStop(held, dead);
        await outcome(second(two));
        const third = await outcome(two.make('d', 'x'));
        const names = await bearers('x', ['a', 'b', 'd']);
        assert.ok(
          names.length === 1 || (what.startsWith('an intent') && names.length === 0),
          `bearers: ${names.join()}`,
        );
        assert.equal(third, 'conflict', 'the name is taken now');
        held.resume();
        await dead;
      });
    }

    const overtakings = scenes.flatMap((scene) => [1, 2, 3].map((other) => ({ ...scene, other })));
    for (const { what, step, other, before, first, second } of sampled(overtakings, few)) {
      it(`${what}: the first stops before append ${step}, the second before its append ${other} until the first is through, one bears the name`, async () => {
        if (before) await before(node(store, { reacting: false }));
        const [held, overtaken] = [stopped(step), stopped(other)];
        const [one, two] = [node(held.store), node(overtaken.store)];
        const slow = outcome(first(one));
        await atStop(held, slow);
        const quick = outcome(second(two));
        await atStop(overtaken, quick);
        held.resume();
        const late = await slow;
        overtaken.resume();
        const names = await quick.then(() => bearers('x', ['a', 'b']));
        assert.equal(
          names.length,
          1,
          `bearers: ${names.join()}; first: ${JSON.stringify(late)}, second: ${JSON.stringify(await quick)}`,
        );
        assert.equal(typeof late === 'object', names[0] === 'a', 'the first is told the truth');
        assert.equal(typeof (await quick) === 'object', names[0] === 'b', 'the second is told the truth');
      });
    }

    it('a rename that sleeps through an intent for its name does not get it back from a third', async () => {
      await node(store, { reacting: false }).make('a', 'old');
      const [sleepingRename, sleepingIntent] = [stopped(2), stopped(2)];
      const [one, two, three] = [sleepingRename.store, sleepingIntent.store, store].map((over) =>
        node(over, { reacting: false }),
      ) as [Node, Node, Node];
      const renamed = outcome(one.rename('a', 'x'));
      await atStop(sleepingRename, renamed);
      const filled = outcome(two.fill('i', [{ id: 'a', name: 'x' }]));
      await atStop(sleepingIntent, filled);
      assert.equal(typeof (await outcome(three.make('b', 'x'))), 'object');
      sleepingRename.resume();
      sleepingIntent.resume();
      assert.deepEqual([await renamed, await filled], ['conflict', 'conflict']);
      assert.deepEqual(await bearers('x', ['a', 'b']), ['b']);
    });

    it('an intent that keeps a name for its bearer keeps it when the bearer gives it up meanwhile', async () => {
      const one = node(store, { reacting: false });
      await one.make('a', 'x');
      await one.fill('i', [{ id: 'a', name: 'x' }]);
      await one.rename('a', 'other');
      assert.equal(await outcome(one.make('b', 'x')), 'conflict');
      node(store);
      await until(async () => (await bearers('x', ['a'])).length > 0, 'the part that was left');
    });

    it('many writers on several nodes create one thing of a name, and every loser is told', async () => {
      const three = [node(store), node(store), node(store)];
      const tries = Array.from({ length: 12 }, (_, i) => outcome(three[i % 3]!.make(`t${i}`, 'wanted')));
      const results = await Promise.all(tries);
      const names = await bearers(
        'wanted',
        results.map((_, i) => `t${i}`),
      );
      assert.equal(names.length, 1);
      assert.equal(results.filter((result) => typeof result === 'object').length, 1);
    });

    it('an intent left behind after any append is completed by whoever reads the log next', async () => {
      for (let step = 3; step <= 5; step++) {
        const held = stopped(step, 'after');
        const [one, two] = [node(held.store), node(store)];
        const ids = [`p${step}`, `q${step}`];
        const dead = outcome(
          one.fill(
            `box${step}`,
            ids.map((id) => ({ id, name: `name of ${id}` })),
          ),
        );
        await atStop(held, dead);
        await two.fill(`last${step}`, [{ id: `r${step}`, name: `r${step}` }]);
        await until(
          async () => (await Promise.all(ids.map((id) => two.state(id)))).every(({ name }) => name !== undefined),
          `the parts left after append ${step}`,
        );
        held.resume();
        await dead;
        await Promise.all([one.stop(), two.stop()]);
      }
    });
  });
