import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { limiter } from '../../../src/http/authentication/limiter.ts';
import { fixedClock } from '../../support/node.ts';

describe('the limiter of logins', () => {
  const setUp = () => {
    const clock = fixedClock();
    const pauses: (() => void)[] = [];
    const limits = limiter({
      now: clock.now,
      pause: () =>
        new Promise<void>((resolve) => {
          pauses.push(resolve);
        }),
    });
    const attempt = (account: string, address: string, right = false) =>
      limits.attempt(account, address, async () => (right ? 'in' : undefined));
    const seconds = async (work: Promise<unknown>): Promise<number> => {
      try {
        await work;
      } catch (error) {
        if (error instanceof RequestError && error.code === 'limited') return error.retryAfterSeconds!;
        throw error;
      }
      return 0;
    };
    const fails = async (times: number, account: string, address: string) => {
      for (let i = 0; i < times; i++) assert.equal(await attempt(account, address), undefined);
    };
    return { clock, pauses, limits, attempt, seconds, fails };
  };

  it('lets ten failures of an account from one address pass, then says how long to wait', async () => {
    const { clock, attempt, seconds, fails } = setUp();
    await fails(10, 'bob', '10.0.0.1');
    assert.equal(await seconds(attempt('bob', '10.0.0.1')), 30);
    clock.pass(29_000);
    assert.equal(await seconds(attempt('bob', '10.0.0.1', true)), 1);
    clock.pass(1000);
    assert.equal(await attempt('bob', '10.0.0.1', true), 'in');
  });
  it('lets others in from there, and the same account in from elsewhere', async () => {
    const { attempt, fails } = setUp();
    await fails(10, 'bob', '10.0.0.1');
    assert.equal(await attempt('eve', '10.0.0.1', true), 'in');
    assert.equal(await attempt('bob', '10.0.0.2', true), 'in');
  });
  it('lets an address fail a hundred times, whatever the accounts', async () => {
    const { attempt, seconds, fails } = setUp();
    for (let i = 0; i < 20; i++) await fails(5, `account ${i}`, '10.0.0.1');
    assert.equal(await seconds(attempt('bob', '10.0.0.1', true)), 3);
    assert.equal(await attempt('bob', '10.0.0.2', true), 'in');
  });
  it('counts only failures: who logs in all the time is not held up', async () => {
    const { attempt } = setUp();
    for (let i = 0; i < 200; i++) assert.equal(await attempt('bob', '10.0.0.1', true), 'in');
  });
  it('does not count work that broke down', async () => {
    const { limits, attempt } = setUp();
    for (let i = 0; i < 100; i++)
      await assert.rejects(
        limits.attempt('bob', '10.0.0.1', async () => {
          throw new Error('no store');
        }),
        /no store/,
      );
    assert.equal(await attempt('bob', '10.0.0.1', true), 'in');
  });
  it('counts what is still under way: of a thousand at once from an address a hundred are let through', async () => {
    const { limits } = setUp();
    let through = 0;
    const all = await Promise.allSettled(
      Array.from({ length: 1000 }, (_, i) =>
        limits.attempt(`account ${i}`, '10.0.0.1', async () => {
          through++;
          return undefined;
        }),
      ),
    );
    assert.equal(through, 100);
    for (const one of all) if (one.status === 'rejected') assert.ok(one.reason.retryAfterSeconds > 0);
  });
  it('lets a thousand people in who come at once from an address, a hundred at a time, beside those of a provider', async () => {
    const { limits } = setUp();
    let [underWay, most] = [0, 0];
    const ends: (() => void)[] = [];
    const hanging = Array.from({ length: 150 }, (_, i) =>
      limits.attempt(
        `hanging ${i}`,
        '10.0.0.1',
        () => new Promise<string>((resolve) => ends.push(() => resolve('in'))),
        'provider',
      ),
    );
    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        limits.attempt(`account ${i}`, '10.0.0.1', async () => {
          most = Math.max(most, ++underWay);
          await new Promise(setImmediate);
          underWay--;
          return 'in';
        }),
      ),
    );
    assert.deepEqual([new Set(all).size, most, ends.length], [1, 100, 100]);
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end();
      await new Promise(setImmediate);
    }
    assert.equal((await Promise.all(hanging)).length, 150);
  });
  it('refuses more than a thousand who wait', async () => {
    const { limits } = setUp();
    const ends: (() => void)[] = [];
    const all = Array.from({ length: 1200 }, (_, i) =>
      limits.attempt(
        `account ${i}`,
        '10.0.0.1',
        () => new Promise<string>((resolve) => ends.push(() => resolve('in'))),
      ),
    );
    const outcomes = Promise.allSettled(all);
    let isOver = false;
    void outcomes.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise(setImmediate);
      for (const end of ends.splice(0)) end();
    }
    assert.equal((await outcomes).filter(({ status }) => status === 'rejected').length, 100);
  });
  it('counts what is still under way of an account and an address', async () => {
    const { limits } = setUp();
    let through = 0;
    const all = await Promise.allSettled(
      Array.from({ length: 1000 }, () =>
        limits.attempt('bob', '10.0.0.1', async () => {
          through++;
          return undefined;
        }),
      ),
    );
    assert.equal(through, 10);
    assert.equal(all.filter(({ status }) => status === 'rejected').length, 990);
  });

  describe('once an account has failed from everywhere', () => {
    const crowded = async () => {
      const set = setUp();
      await set.attempt('bob', '10.0.0.1', true);
      for (let i = 0; i < 20; i++) await set.fails(1, 'bob', `10.1.0.${i}`);
      return set;
    };
    it('lets strange addresses in one at a time', async () => {
      const { pauses, attempt } = await crowded();
      const order: string[] = [];
      const both = [
        attempt('bob', '10.2.0.1', true).then(() => order.push('first')),
        attempt('bob', '10.2.0.2', true).then(() => order.push('second')),
      ];
      while (pauses.length < 1) await Promise.resolve();
      assert.equal(pauses.length, 1);
      pauses[0]!();
      await both[0];
      assert.deepEqual(order, ['first']);
      while (pauses.length < 2) await Promise.resolve();
      pauses[1]!();
      await Promise.all(both);
    });
    it('does not hold up an address that the account has logged in from', async () => {
      const { attempt, pauses } = await crowded();
      assert.equal(await attempt('bob', '10.0.0.1', true), 'in');
      assert.equal(pauses.length, 0);
    });
    it('lets the owner in from a new address, after one try of each of thirty others, however many they have waiting', async () => {
      const { attempt, pauses } = await crowded();
      const order: string[] = [];
      const others = Array.from({ length: 300 }, (_, i) =>
        attempt('bob', `10.2.0.${i % 30}`).then(() => order.push('other')),
      );
      const owner = attempt('bob', '10.3.0.1', true).then(() => order.push('owner'));
      const all = Promise.allSettled([...others, owner]);
      let ended = false;
      void all.then(() => {
        ended = true;
      });
      for (let i = 0; !ended; i++) {
        while (pauses.length <= i && !ended)
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        pauses[i]?.();
      }
      assert.equal(order.indexOf('owner'), 31);
      // One had its turn at once, a hundred could wait, the owner is one of them.
      assert.equal(order.length, 101);
    });
    it('goes back to normal with time', async () => {
      const { attempt, clock, pauses } = await crowded();
      clock.pass(3_600_000);
      assert.equal(await attempt('bob', '10.2.0.1', true), 'in');
      assert.equal(pauses.length, 0);
    });
  });
});
