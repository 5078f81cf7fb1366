import { memoryCluster } from '../../support/cluster.ts';
import { checkKilledRun } from '../../support/complianceRuns.ts';

describe('A run of a compliance plan on two nodes', () => {
  it('goes on whichever of them is killed, ten times', async function () {
    this.timeout(600_000);
    const { nodes, start, remove } = await memoryCluster({ OUTBOUND_ALLOW: '127.0.0.1' });
    try {
      await start();
      let turn = 0;
      await checkKilledRun({
        devices: 200,
        kills: 10,
        ask: async (method, path, body) => {
          for (;;) {
            const answer = await nodes[turn++ % 2]!.ask(method, path, body);
            if (answer.status !== 0 && answer.status < 500) return answer;
          }
        },
        kill: async (times) => {
          const node = nodes[times % 2]!;
          await node.kill();
          await node.start();
        },
      });
    } finally {
      await remove();
    }
  });
});
