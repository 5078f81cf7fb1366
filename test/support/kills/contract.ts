import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { EventStore } from '../../../src/store/port.ts';
import { nodesOnLog } from '../node.ts';
import { numbers, sampled, seed } from '../sample.ts';
import { machineClocks } from '../scheduling.ts';
import { dying } from '../stopping.ts';
import { until } from '../until.ts';
import { outcome } from '../writer.ts';
import { monday, type Place, type Work, works } from './works.ts';

/**
 * Each work of the table, on a node that dies at some of its steps: what was decided is there whole on the next node, by
 * itself; what was not is not there at all; and the same work again makes it whole, once. On two nodes at once it is done
 * once, too. `few`: so many works, and one step of each, drawn by FAULT_SEED; all works and steps unless
 * given.
 */
export const killContract = (few = Infinity): void => {
  let clocks = machineClocks(monday);
  let held: ReturnType<typeof dying> | undefined;
  const { log, node, anew } = nodesOnLog({ reacting: true, now: () => clocks.now() }, () => held?.bury());
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    held?.bury();
    await Promise.all(ends.splice(0).map((end) => end()));
  });

  const place = async (store: EventStore = log.store): Promise<Place> => ({ node: await node(store), store, clocks });
  const isWhole = async (work: Work, on: Place): Promise<boolean> => {
    await on.node.catchUp();
    return isDeepStrictEqual(await work.find(on), await work.whole(on));
  };
  const becomesWhole = (work: Work, on: Place) => until(() => isWhole(work, on), `${work.name}, whole`);

  /** True if the node has died; false if it came to the end of the work before that step. */
  const dies = async (work: Work, step: number, moment: 'before' | 'after'): Promise<boolean> => {
    await work.prepare?.(await place());
    held = dying(log.store, step, moment);
    const first = await place(held.store);
    held.arm();
    const begin = async (): Promise<void> => {
      const end = await work.start?.(first);
      if (end) ends.push(end);
      await work.run(first, 1);
      await becomesWhole(work, { ...first, store: log.store });
    };
    const running = begin();
    running.catch(() => undefined);
    if (!(await Promise.race([held.dead.then(() => true), running.then(() => false)]))) return false;

    const next = await place();
    const end = await work.start?.(next);
    if (end) ends.push(end);
    if (await work.isDecided(next)) await becomesWhole(work, next);
    else if (work.nothing !== undefined) assert.deepEqual(await work.find(next), work.nothing);
    await work.run(next, 2);
    await becomesWhole(work, next);
    return true;
  };

  const chosen = sampled(works, few);
  for (const work of chosen)
    it(`${work.name}, on two nodes at once: whole, and once`, async () => {
      await work.prepare?.(await place());
      const both = [await place(), await place()];
      for (const each of both) {
        const end = await work.start?.(each);
        if (end) ends.push(end);
      }
      await Promise.all(both.map((each, n) => outcome(work.run(each, n + 1))));
      await work.run(both[0]!, 3);
      for (const each of both) await becomesWhole(work, each);
    });

  const next = numbers(seed);
  for (const work of chosen)
    it(`${work.name}, on nodes that die: whole or not at all, and once`, async function () {
      if (few === Infinity) this.timeout(1_800_000);
      let died = 0;
      const scene = async (step: number, moment: 'before' | 'after'): Promise<boolean> => {
        clocks = machineClocks(monday);
        const hasDied = await dies(work, step, moment);
        held?.bury();
        await Promise.all(ends.splice(0).map((end) => end()));
        await anew();
        if (hasDied) died++;
        return hasDied;
      };
      if (few === Infinity) for (let step = 1; (await scene(step, 'before')) && (await scene(step, 'after')); step++);
      else {
        // How many steps it takes is found out by doing it.
        await scene(Infinity, 'before');
        const steps = held?.seen() ?? 0;
        await scene(1 + Math.floor(next() * steps), next() < 0.5 ? 'before' : 'after');
        // The last steps are those of timers: another time there may be fewer.
        if (died === 0) await scene(Math.ceil(steps / 2), 'before');
      }
      assert.ok(died > 0, 'no node died');
    });
};
