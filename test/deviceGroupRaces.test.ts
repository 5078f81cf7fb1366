import assert from 'node:assert/strict';
import { createDeviceGroup, importDeviceGroups } from '../src/commands/configuration-manager/deviceGroups.ts';
import { deviceGroups } from '../src/projections/configuration-manager/deviceGroups.ts';
import { nodesOnLog, type TestNode } from './node.ts';
import { dying } from './stopping.ts';
import { until } from './until.ts';
import { outcome } from './writer.ts';

describe('An import of device groups', () => {
  let held: ReturnType<typeof dying> | undefined;
  const { log, node } = nodesOnLog({ reacting: true }, () => held?.bury());
  const groups = ['Bonn', 'Köln', 'Trier'].map((name) => ({ name, devices: [`${name}-1`] }));
  const named = async ({ tools }: TestNode): Promise<readonly string[]> =>
    (await tools.query(deviceGroups)).map(({ name }) => name);

  // Three claims, the decision, three groups.
  for (let step = 1; step <= 7; step++) {
    for (const moment of ['before', 'after'] as const) {
      it(`whose process dies ${moment} append ${step} is complete, or has not happened and can be repeated`, async () => {
        held = dying(log.store, step, moment);
        const first = await node(held.store);
        held.arm();
        first.command(importDeviceGroups, 'i', { groups }).catch(() => undefined);
        await held.dead;
        const decided = step > 4 || (step === 4 && moment === 'after');
        const next = await node();
        if (decided) await until(async () => (await named(next)).length >= 3, 'all groups');
        else assert.deepEqual(await named(next), []);
        await next.command(importDeviceGroups, 'j', { groups });
        assert.deepEqual(await named(next), ['Bonn', 'Köln', 'Trier']);
        assert.equal(await outcome(next.command(importDeviceGroups, 'k', { groups: [{ name: 'Bonn' }] })), 'conflict');
      });
    }
  }

  it('and a new group of one of its names: one of the two goes through, whole', async () => {
    const [one, two] = [await node(), await node()];
    for (let round = 0; round < 10; round++) {
      const wanted = groups.map(({ name }) => ({ name: `${name} ${round}` }));
      const both = await Promise.all([
        outcome(one.command(importDeviceGroups, `i${round}`, { groups: wanted })),
        outcome(two.command(createDeviceGroup, `g${round}`, { name: `Köln ${round}`, devices: ['other'] })),
      ]);
      assert.equal(both.filter((result) => result === 'conflict').length, 1, `round ${round}`);
      await Promise.all([one.catchUp(), two.catchUp()]);
      assert.equal(
        (await named(one)).filter((name) => name.endsWith(` ${round}`)).length,
        both[0] === 'conflict' ? 1 : 3,
      );
    }
  });
});
