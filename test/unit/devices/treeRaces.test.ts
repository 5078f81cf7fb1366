import assert from 'node:assert/strict';
import { createCompliancePlan } from '../../../src/commands/configuration-manager/plans.ts';
import { createTree, deleteTrees } from '../../../src/commands/configuration-manager/trees.ts';
import { plan } from '../../../src/domain/configuration-manager/plans.ts';
import { tree } from '../../../src/domain/configuration-manager/trees.ts';
import { nodesOnLog } from '../../support/node.ts';
import { outcome } from '../../support/writer.ts';

describe('A deletion of several trees', () => {
  const { node } = nodesOnLog({ reacting: true });

  it('and a new plan on one of them: one of the two goes through', async () => {
    const [one, two] = [await node(), await node()];
    for (let round = 0; round < 5; round++) {
      const ids = [0, 1, 2].map((i) => `t${round}${i}`);
      for (const id of ids) await one.command(createTree, id, { name: id, deviceType: 'cisco-ios' });
      await two.catchUp();
      const { versions } = await one.tools.state(tree, ids[2] ?? '');
      const nodes = [{ treeId: ids[2], version: 'initial', nodeId: versions[0]?.root.configId }];
      const both = await Promise.all([
        outcome(one.command(deleteTrees, `d${round}`, { treeIds: ids })),
        outcome(two.command(createCompliancePlan, `p${round}`, { name: `Plan ${round}`, nodes })),
      ]);
      await Promise.all([one.catchUp(), two.catchUp()]);
      const isThere = (await two.tools.state(tree, ids[2] ?? '')).exists;
      const isPlanned = (await two.tools.state(plan, `p${round}`)).exists;
      assert.equal(isPlanned, isThere, `round ${round}: ${both}`);
    }
  });
});
