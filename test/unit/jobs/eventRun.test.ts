import assert from 'node:assert/strict';
import { eventRun } from '../../../src/runners/jobs/builtIn/eventRun.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog } from '../../support/node.ts';

describe('A task that publishes an event', () => {
  const { node } = nodesOnLog();

  it('publishes it once, though its run begins again after a lost claim', async () => {
    const { handle } = await node();
    const publish = eventRun({ handle });
    const runOf = (key: string) =>
      ({
        key,
        inputs: { source: 'lab', topic: 'done', payload: { n: 1 } },
        started: {
          id: 'e',
          data: { depth: 3 },
          metadata: { actor: context.actor, operation: 'startJob', requestId: 'r' },
        },
        step: async () => context.actor,
      }) as unknown as Parameters<typeof publish>[0];
    const first = await publish(runOf('j.t.1'));
    assert.deepEqual(await publish(runOf('j.t.1')), first);
    assert.notDeepEqual(await publish(runOf('j.t.2')), first);
  });
});
