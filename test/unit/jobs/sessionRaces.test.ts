import assert from 'node:assert/strict';
import { endSession, postSession, startSession } from '../../../src/commands/agent-session-manager/agentSessions.ts';
import { createAgent } from '../../../src/commands/agent-session-manager/agents.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { stopping } from '../../support/stopping.ts';
import { until } from '../../support/until.ts';
import { outcome } from '../../support/writer.ts';

describe('Sessions on two nodes', () => {
  const { log, node } = nodesOnLog({ reacting: true });
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const callback = { location: 'job 7', serviceName: 'itsm', methodName: 'done', identifier: 'INC1' };
  const types = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { events } of log.store.readAll(0))
      found.push(...events.filter(({ stream }) => stream.endsWith(id)).map(({ type }) => type));
    return found;
  };
  const run = async (one: TestNode) => {
    await one.command(createAgent, 'a', {
      name: 'Triage',
      inputSchema: {},
      runner: 'webhook',
      url: 'https://agents.example.net/',
    });
    return one.command(startSession, id, { agent: 'Triage', terminationCallbackSignature: callback });
  };

  const platform = '@platform/agent-session-manager';
  for (const [n, what] of [
    [1, 'its end'],
    [2, 'the event that tells of it'],
  ] as const) {
    it(`tell of their end once, though the node stops before ${what} is stored`, async () => {
      const held = stopping(log.store, n);
      const slow = await node(held.store);
      await run(slow);
      held.arm();
      const ending = slow.command(endSession, id, { status: 'COMPLETE', lastMessage: 'Done' });
      await held.atStop;
      const other = await node();
      await other.command(endSession, id, { status: 'COMPLETE', lastMessage: 'Done' });
      await until(async () => (await types()).includes('itsm:done'));
      held.resume();
      await ending;
      await slow.command(endSession, id, { status: 'COMPLETE' });
      assert.deepEqual(await types(), [`${platform}:sessionStarted`, `${platform}:sessionCompleted`, 'itsm:done']);
    });
  }

  it('end once, whoever is first', async () => {
    const [one, two] = [await node(), await node()];
    await run(one);
    await two.catchUp();
    const outcomes = await Promise.all(
      [one.command(endSession, id, { status: 'COMPLETE' }), two.command(endSession, id, { status: 'CANCELED' })].map(
        outcome,
      ),
    );
    assert.equal(outcomes.filter((each) => each === 'conflict').length, 1);
    assert.equal((await types()).filter((type) => type === 'itsm:done').length, 1);
  });

  it('are posted by one of them', async () => {
    const [one, two] = [await node(), await node()];
    await run(one);
    await two.catchUp();
    const posted = await Promise.all([one, two].map((each) => each.command(postSession, id)));
    assert.deepEqual(posted.map(({ changed }) => changed).toSorted(), [false, true]);
  });
});
