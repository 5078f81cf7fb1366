import assert from 'node:assert/strict';
import type { EventStore } from '../src/store/port.ts';
import { eventsIn } from './logged.ts';
import { nodesOnLog, type TestNode } from './node.ts';
import { expectedOf, peopleOn, sortedOutcome, triggersOn, twentyTriggers } from './triggering.ts';
import { until } from './until.ts';

type Moment = 'before' | 'after';

/** The log as a process sees it that dies at the n-th thing that it makes durable from `arm` on. */
const mortal = (store: EventStore, n: number, moment: Moment) => {
  let seen = -Infinity;
  let dies = (): void => undefined;
  const dead = new Promise<void>((resolve) => {
    dies = resolve;
  });
  let bury = (): void => undefined;
  const never = new Promise<never>((_, reject) => {
    bury = () => reject(new Error('dead'));
  });
  never.catch(() => undefined);
  const until =
    <Arguments extends readonly unknown[], T>(work: (...args: Arguments) => Promise<T>) =>
    async (...args: Arguments): Promise<T> => {
      if (++seen < n) return work(...args);
      if (seen === n && moment === 'after') await work(...args);
      dies();
      return never;
    };
  return {
    dead,
    bury: () => bury(),
    arm: () => {
      seen = 0;
    },
    store: { ...store, append: until(store.append), keepCheckpoint: until(store.keepCheckpoint) } satisfies EventStore,
  };
};

const accounts = ['runner'];
/** Every n-th step is tried; all with SOAK_ROUNDS. */
const stride = process.env.SOAK_ROUNDS ? 1 : 9;

describe('event triggers: a process that dies', function () {
  this.timeout(600_000);
  const { log, node: start, anew } = nodesOnLog();

  const prepared = async (node: TestNode): Promise<void> => {
    const people = peopleOn(node);
    await node.bootstrap();
    await node.account('runner', { memberOf: ['operators', 'readers'] });
    await people.automation('a');
    for (const { id, more, account } of twentyTriggers)
      await people.trigger(id, more, account === undefined ? {} : { id: account });
    await triggersOn(node, log.store).prepare(false);
  };

  const settled = async (): Promise<void> => {
    await until(async () => {
      const events = await eventsIn(log.store);
      const [found, wanted] = [sortedOutcome(events), expectedOf(events, accounts)];
      const count = ({ jobs, refused }: typeof wanted) =>
        jobs.length + Object.values(refused).reduce((sum, one) => sum + one, 0);
      return count(found as typeof wanted) >= count(wanted);
    }, 'the outcome of the model');
    const head = await log.store.head();
    await until(async () => ((await log.store.checkpoint('triggers')) ?? 0) >= head, 'the checkpoint');
    const events = await eventsIn(log.store);
    assert.deepEqual(sortedOutcome(events), expectedOf(events, accounts));
  };

  it('leaves what the model says, at whatever step it dies', async () => {
    for (let [n, lived] = [1, false]; !lived; n += stride) {
      const moment = n % 2 === 0 ? 'before' : 'after';
      await anew();
      await prepared(await start());
      const held = mortal(log.store, n, moment);
      const dying = await start(held.store);
      const triggers = triggersOn(dying, held.store);
      for (let i = 0; i < 3; i++) await peopleOn(dying).publish(`p${i}`, { n: i });
      held.arm();
      triggers.start();
      const alive = settled().then(() => {
        lived = true;
      });
      await Promise.race([held.dead, alive]);
      if (!lived) {
        const next = triggersOn(await start(), log.store);
        next.start();
        await alive;
        lived = false;
        await next.stop();
      }
      const stopped = triggers.stop();
      held.bury();
      await stopped;
    }
  });

  it('or two that both lead at once, leave what the model says', async () => {
    await prepared(await start());
    const [one, two] = [await start(), await start()];
    const both = [triggersOn(one, log.store), triggersOn(two, log.store)];
    for (const triggers of both) triggers.start();
    for (let i = 0; i < 5; i++) await peopleOn(i % 2 === 0 ? one : two).publish(`p${i}`, { n: i });
    await settled();
    await new Promise((resolve) => {
      setTimeout(resolve, 2500);
    });
    const events = await eventsIn(log.store);
    assert.deepEqual(sortedOutcome(events), expectedOf(events, accounts));
    await Promise.all(both.map((triggers) => triggers.stop()));
  });
});
