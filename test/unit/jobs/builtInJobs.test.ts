import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runKeyOf, sessionOf } from '../../../src/commands/operations-manager/jobSessions.ts';
import { agentRun } from '../../../src/runners/jobs/builtIn/agentRun.ts';
import type { Run } from '../../../src/runners/jobs/builtIn/run.ts';

describe('The run of an agent', () => {
  it('hears that its session has ended, though an earlier run of the job is broken off after it began', async () => {
    let session = { status: 'RUNNING', lastMessage: '' };
    const tools = { state: async () => session } as unknown as Parameters<typeof agentRun>[0]['tools'];
    const { run, onEvent } = agentRun({ handle: () => assert.fail('The session is there'), tools });
    const runWith = (claim: number, { signal }: AbortController) =>
      run({ job: 'j', key: runKeyOf('j', { last: claim, attempts: claim }), inputs: {}, signal } as unknown as Run);
    // A process that was stalled has lost its claim, and claims the job again before it knows.
    const stalled = new AbortController();
    const first = runWith(1, stalled);
    await nextTurn();
    const second = runWith(2, new AbortController());
    await nextTurn();
    stalled.abort(new Error('lost'));
    await assert.rejects(first, /lost/);
    session = { status: 'COMPLETE', lastMessage: 'Done' };
    onEvent({
      stream: `agentSession-${sessionOf(runKeyOf('j', { last: 1, attempts: 1 }))}`,
      topic: 'sessionCompleted',
    });
    assert.equal((await second).lastMessage, 'Done');
  });
});
