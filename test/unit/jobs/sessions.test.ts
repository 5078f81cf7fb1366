import assert from 'node:assert/strict';
import { trustedClock } from '@automation-platform/concurrency';
import { startSession } from '../../../src/commands/agent-session-manager/agentSessions.ts';
import { createAgent } from '../../../src/commands/agent-session-manager/agents.ts';
import type { Handle } from '../../../src/commands/engine/handle.ts';
import { streams as streamsOf } from '../../../src/commands/engine/streams.ts';
import { agentSession } from '../../../src/domain/agent-session-manager/agentSessions.ts';
import { aggregates } from '../../../src/domain/all.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { projections } from '../../../src/projections/all.ts';
import { sessionRunner } from '../../../src/runners/agentSessions.ts';
import type { Webhook } from '../../../src/southbound/port.ts';
import { leading } from '../../support/leading.ts';
import { openLog, startNode, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';

describe('Whoever carries sessions out', () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  let node: TestNode;
  const runners: ReturnType<typeof sessionRunner>[] = [];
  const failures: string[] = [];
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const started = { source: '@platform/agent-session-manager', stream: `agentSession-${id}`, topic: 'sessionStarted' };

  const runner = (render: () => Promise<string>, webhook: Webhook = async () => ({}), handle: Handle = node.handle) => {
    const one = sessionRunner({
      handle,
      tools: node.tools,
      events: streamsOf(log.store, aggregates, projections).events,
      webhook,
      renderer: { render },
      viewerOf: async () => undefined,
      leadership: leading(),
      clock: trustedClock(),
      log: (_, { error }) => {
        failures.push(error instanceof Error ? error.message : String(error));
      },
    });
    runners.push(one);
    return one;
  };
  const run = async (timeout: number, more: object = { runner: 'template', template: 'x' }) => {
    await node.command(createAgent, 'a', { name: 'Agent', inputSchema: {}, timeout, ...more });
    await node.command(startSession, id, { agent: 'Agent' });
  };
  const state = () => node.tools.state(agentSession, id);
  const ended = async () => {
    await until(async () => (await state()).status !== 'RUNNING', 'the end of the session');
    return state();
  };

  beforeEach(async () => {
    log = await openLog();
    node = await startNode(log.store, { reacting: true });
    failures.length = 0;
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((each) => each.stop()));
    await node.stop();
    await log.close();
  });

  it('tries again while the template engine is busy', async () => {
    await run(60);
    let left = 2;
    runner(async () => {
      if (left-- > 0) throw new RequestError('limited', 'Busy');
      return 'done';
    }).onEvent(started);
    assert.deepEqual(await ended(), { status: 'COMPLETE', posted: false, lastMessage: 'done' });
    assert.deepEqual(failures, ['Busy', 'Busy']);
  });

  it('fails a session with its time, though nothing works', async () => {
    await run(1);
    runner(async () => {
      throw new Error('A bug');
    }).onEvent(started);
    assert.deepEqual(await ended(), {
      status: 'FAILED',
      posted: false,
      lastMessage: 'It has not ended within 1 seconds',
    });
    assert.ok(failures.length > 0 && failures.every((each) => each === 'A bug'));
  });

  it('calls a webhook once, though two nodes see the session', async () => {
    await run(1, { runner: 'webhook', url: 'https://agents.example.net/' });
    let calls = 0;
    const webhook: Webhook = async () => {
      calls++;
      return { lastMessage: 'Hm' };
    };
    for (const each of [runner(async () => '', webhook), runner(async () => '', webhook)]) each.onEvent(started);
    assert.deepEqual(await ended(), {
      status: 'FAILED',
      posted: true,
      lastMessage: 'It has not ended within 1 seconds: its outcome is unknown',
    });
    assert.equal(calls, 1);
  });

  it('stops in the midst of it, and leaves the session to the next', async () => {
    await run(60);
    const first = runner(() => new Promise(() => undefined));
    first.onEvent(started);
    first.onEvent(started);
    await first.stop();
    first.onEvent(started);
    assert.equal((await state()).status, 'RUNNING');
    runner(async () => 'done').start();
    assert.equal((await ended()).lastMessage, 'done');
    assert.deepEqual(failures, []);
  });

  it('stops also where a session is late and its end cannot be stored', async () => {
    await run(1);
    const one = runner(
      () => new Promise(() => undefined),
      undefined,
      async () => {
        throw new RequestError('unavailable', 'The log is gone');
      },
    );
    one.onEvent(started);
    await until(() => failures.length !== 0);
    await one.stop();
    assert.equal((await state()).status, 'RUNNING');
    runner(async () => 'too late').onEvent(started);
    assert.equal((await ended()).status, 'FAILED');
  });

  it('lets other events be', async () => {
    await run(60);
    const one = runner(async () => 'done');
    one.onEvent({ ...started, topic: 'sessionCanceled' });
    await one.stop();
    assert.equal((await state()).status, 'RUNNING');
  });
});
