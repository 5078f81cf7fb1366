import assert from 'node:assert/strict';
import { createDeviceGroup, importDeviceGroups } from '../../../src/commands/configuration-manager/deviceGroups.ts';
import { deviceGroups } from '../../../src/projections/configuration-manager/deviceGroups.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { outcome } from '../../support/writer.ts';

describe('An import of device groups', () => {
  const { node } = nodesOnLog({ reacting: true });
  const groups = ['Bonn', 'Köln', 'Trier'].map((name) => ({ name, devices: [`${name}-1`] }));
  const named = async ({ tools }: TestNode): Promise<readonly string[]> =>
    (await tools.query(deviceGroups)).map(({ name }) => name);

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
