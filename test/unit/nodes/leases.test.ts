import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { leases } from '../../../src/runners/jobs/leases.ts';
import { leading } from '../../support/leading.ts';
import { fixedClock } from '../../support/node.ts';
import { until } from '../../support/until.ts';

describe('A lease whose time is up', () => {
  const lookEveryMs = 5;
  const setUp = (lapse: () => Promise<void> = async () => undefined) => {
    const clock = fixedClock();
    const asked: unknown[] = [];
    const said: string[] = [];
    const held = leases({
      lapse: async (id, claim) => {
        asked.push([id, claim]);
        await lapse();
      },
      ...{ leadership: leading(), clock, lookEveryMs },
      log: (message) => void said.push(message),
    });
    held.set('j', { claim: 2, until: clock.now() });
    held.start();
    return { clock, asked, said, held, lapsed: ['j', { claim: 2, until: clock.now() }] };
  };

  it('is looked at again if it was not released, until it is', async () => {
    // The clock that decides may have been set back meanwhile: then the claim goes on, and nothing is stored.
    const { clock, asked, held, lapsed } = setUp();
    await until(() => asked.length === 1, 'the first try');
    clock.pass(lookEveryMs - 1);
    await pause(4 * lookEveryMs);
    assert.equal(asked.length, 1);
    clock.pass(1);
    await until(() => asked.length === 2, 'the second try');
    held.remove('j');
    clock.pass(lookEveryMs);
    await pause(4 * lookEveryMs);
    await held.stop();
    assert.deepEqual(asked, [lapsed, lapsed]);
  });

  it('is looked at again if that failed, which is logged', async () => {
    const { clock, asked, said, held, lapsed } = setUp(() => Promise.reject(new Error('Not now')));
    await until(() => said.length === 1, 'the first try');
    clock.pass(lookEveryMs);
    await until(() => said.length === 2, 'the second try');
    await held.stop();
    assert.deepEqual(asked, [lapsed, lapsed]);
  });
});
