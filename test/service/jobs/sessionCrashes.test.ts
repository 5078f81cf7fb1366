import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { publishedIn } from '../../support/published.ts';
import { sampled } from '../../support/sample.ts';
import { until } from '../../support/until.ts';
import { says, webhookServer } from '../../support/webhookServer.ts';

const path = '/agent-session-manager';
const terminationCallbackSignature = { location: 'here', serviceName: 'itsm', methodName: 'done', identifier: '1' };

describe('Sessions whose service is killed', function () {
  this.timeout(300_000);
  let folder: string;
  let server: Server;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  const start = async () => {
    server = await startServer(folder, { OUTBOUND_ALLOW: '127.0.0.1' });
  };
  const kill = (signal: NodeJS.Signals) => server.stop(signal);
  const ask = async (method: string, route: string, body?: unknown): Promise<any> => {
    // whatever the route answers
    const answer = await server.ask(method, path + route, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const run = async (agent: string): Promise<string> =>
    (await ask('POST', '/sessions/run-agent', { agent, terminationCallbackSignature })).sessionId;
  const ended = async (id: string) => {
    let session: any; // whatever the route answers
    await until(async () => {
      session = await ask('GET', `/sessions/${id}`);
      return session.status !== 'RUNNING';
    }, 'the end of a session');
    return session;
  };
  const calls = (id: string): number => agents.called.filter(({ body }) => body.sessionId === id).length;
  const called = async (id: string): Promise<void> => {
    while (calls(id) === 0) await agents.next();
  };
  /** Statuses that were told of, by session. */
  const told = async (...ids: readonly string[]): Promise<readonly unknown[]> => {
    const events = () => publishedIn(folder).filter(({ data }) => ids.includes(data.sessionId));
    await until(() => events().length >= ids.length, 'what is told of sessions');
    const all = events();
    return ids.map((id) => all.filter(({ data }) => data.sessionId === id).map(({ data }) => data.status));
  };

  before(async () => {
    folder = temporaryFolder();
    agents = await webhookServer({
      '/hang': () => undefined,
      '/later': (response) => void response.writeHead(202).end(),
      '/complete': says({ status: 'COMPLETE', lastMessage: 'Done' }),
    });
    await start();
    const webhook = (name: string, to: string, timeout: number) =>
      ask('POST', '/agents', { name, inputSchema: {}, runner: 'webhook', url: agents.url(to), timeout });
    await webhook('hang', '/hang', 600);
    await webhook('later', '/later', 600);
    await webhook('short', '/later', 2);
    await webhook('complete', '/complete', 600);
    await ask('POST', '/agents', {
      name: 'template',
      inputSchema: {},
      runner: 'template',
      template: '{% for i in range(20000) %}{% endfor %}done',
    });
  });
  after(async () => {
    await server.stop();
    agents.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const signal of sampled(['SIGKILL', 'SIGTERM'] as const, 1)) {
    it(`wait for their report if they were sent, and end with their time (${signal})`, async () => {
      const [hanging, later, short] = [await run('hang'), await run('later'), await run('short')];
      const { created } = await ask('GET', `/sessions/${short}`);
      for (const id of [hanging, later, short]) await called(id);
      await kill(signal);
      await start();
      for (const id of [hanging, later]) assert.equal((await ask('GET', `/sessions/${id}`)).status, 'RUNNING');
      await ask('POST', `/sessions/${hanging}/complete`, { lastMessage: 'After all' });
      await ask('POST', `/sessions/${later}/cancel`);
      const { status, lastMessage, ended: at } = await ended(short);
      assert.deepEqual([status, lastMessage], ['FAILED', 'It has not ended within 2 seconds: its outcome is unknown']);
      assert.ok(Date.parse(at) - Date.parse(created) >= 2000);
      assert.deepEqual([hanging, later, short].map(calls), [1, 1, 1], 'nobody is called twice');
      assert.deepEqual(await told(hanging, later, short), [['COMPLETE'], ['CANCELED'], ['FAILED']]);
    });

    it(`that waited in line are sent, and templates rendered again (${signal})`, async () => {
      const inLine = await Promise.all(Array.from({ length: 20 }, () => run('hang')));
      while (inLine.filter((id) => calls(id) > 0).length < 16) await agents.next();
      const renderings = await Promise.all(Array.from({ length: 8 }, () => run('template')));
      await kill(signal);
      assert.equal(inLine.filter((id) => calls(id) > 0).length, 16, 'four have not been sent yet');
      await start();
      for (const id of renderings) assert.equal((await ended(id)).status, 'COMPLETE');
      for (const id of inLine) await called(id);
      assert.deepEqual(
        inLine.map(calls),
        inLine.map(() => 1),
      );
      for (const id of inLine) await ask('POST', `/sessions/${id}/fail`, {});
      const statuses = await told(...renderings, ...inLine);
      assert.ok(
        statuses.every((each) => (each as readonly unknown[]).length === 1),
        JSON.stringify(statuses),
      );
    });
  }

  it('stay as they ended, and are told of after a kill between their end and the telling', async () => {
    const id = await run('complete');
    const before = await ended(id);
    await told(id);
    const ids = await Promise.all(Array.from({ length: 15 }, () => run('complete')));
    await kill('SIGKILL');
    await start();
    assert.deepEqual(await ask('GET', `/sessions/${id}`), before);
    assert.deepEqual([calls(id), await told(id)], [1, [['COMPLETE']]]);
    // Some were sent and not heard of, or about to be sent: the agent reports again.
    for (const id of ids) await server.ask('POST', `${path}/sessions/${id}/complete`, {});
    for (const id of ids) await ended(id);
    assert.ok((await told(...ids)).every((each) => (each as readonly unknown[]).length === 1));
    assert.ok(
      ids.every((id) => calls(id) <= 1),
      'a call whose outcome is unknown is not made again',
    );
  });
});
