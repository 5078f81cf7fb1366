import assert from 'node:assert/strict';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { publishedIn } from '../../support/published.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { says, webhookServer } from '../../support/webhookServer.ts';

const callback = { location: 'job 7', serviceName: 'itsm', methodName: 'done', identifier: 'INC1' };

describe('Sessions over HTTP', () => {
  let service: TestService;
  let server: Awaited<ReturnType<typeof webhookServer>>;
  let who: People;
  const path = '/agent-session-manager';
  const get = async (id: string) => ok(await service.ask('GET', `${path}/sessions/${id}`));
  /** The session once it has the status, or another one than RUNNING. */
  const sessionOnce = async (id: string, so = ({ status }: any): boolean => status !== 'RUNNING') => {
    let session: any; // what the route answers
    await until(async () => {
      session = await get(id);
      return so(session);
    }, 'a session');
    return session;
  };
  const run = async (agent: string, inputs: object = {}, more: object = {}): Promise<string> => {
    const body = ok(await service.ask('POST', `${path}/sessions/run-agent`, { agent, inputs, ...more }));
    assert.match(body.sessionId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.deepEqual(body, { status: 'RUNNING', sessionId: body.sessionId, lastMessage: 'Started' });
    return body.sessionId;
  };
  const messages = async (id: string) =>
    ok(await service.ask('GET', `${path}/sessions/${id}/messages`)).results.map(
      ({ at, ...rest }: { at: string }) => rest,
    );
  const made = async (body: object) => ok(await service.ask('POST', `${path}/agents`, body)).data;
  const webhook = (name: string, more: object = {}) => ({
    name,
    inputSchema: {},
    runner: 'webhook',
    url: server.url(`/${name}`),
    headers: { Authorization: 'Bearer s3cret' },
    ...more,
  });

  before(async () => {
    server = await webhookServer({
      '/complete': says({ status: 'COMPLETE', lastMessage: 'Done' }),
      '/fail': says({ status: 'FAILED', lastMessage: 'Bad' }),
      '/give-up': says({ status: 'CANCELED' }),
      '/later': says({ lastMessage: 'Looking' }),
      '/silent': (response) => void response.writeHead(202).end(),
      '/hang': () => undefined,
      '/refuse': (response) => void response.writeHead(500).end('s3cret'),
    });
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    who = await people(service);
    await made({
      name: 'summary',
      inputSchema: {
        type: 'object',
        properties: { ticket: { type: 'string', pattern: '^CHG' }, password: { type: 'string', minLength: 3 } },
        required: ['ticket'],
      },
      runner: 'template',
      template: 'Change {{ ticket }}{% if password %} with {{ password }}{% endif %}',
    });
    await made({ name: 'wrong', inputSchema: {}, runner: 'template', template: '{{ 1 / 0 }}' });
    await made({ name: 'endless', inputSchema: {}, runner: 'template', template: '{{ "x" * 70000 }}' });
    for (const name of ['complete', 'fail', 'give-up', 'later', 'silent', 'refuse']) await made(webhook(name));
    await made(webhook('hang'));
    await made(webhook('short', { timeout: 1, url: server.url('/silent') }));
    await made(webhook('short-hang', { timeout: 1, url: server.url('/hang') }));
  });
  after(async () => {
    await service.stop();
    server.close();
  });

  it('of a template complete with what it renders', async () => {
    const id = await run('summary', { ticket: 'CHG1' });
    const session = await sessionOnce(id);
    assert.deepEqual(session, {
      sessionId: id,
      agent: 'summary',
      status: 'COMPLETE',
      inputs: { ticket: 'CHG1' },
      lastMessage: 'Change CHG1',
      created: session.created,
      ended: session.ended,
    });
    assert.deepEqual(await messages(id), [
      { status: 'RUNNING', message: 'Started' },
      { status: 'COMPLETE', message: 'Change CHG1' },
    ]);
  });

  it('have their inputs as they were written, for templates and webhooks, and show them so', async () => {
    const inputs = '{"vlans":{"20":1.0,"10":{"b":0,"1":0}},"asn":12345678901234567890,"password":1.50}';
    await made({
      name: 'exact',
      inputSchema: {
        type: 'object',
        properties: {
          asn: { type: 'integer' },
          vlans: { type: 'object', additionalProperties: { type: ['number', 'object'] } },
        },
      },
      runner: 'template',
      template: '{{ vlans }} {{ asn + 1 }} {{ password }}',
    });
    const started = async (agent: string): Promise<string> =>
      ok(await service.ask('POST', `${path}/sessions/run-agent`, `{"agent": "${agent}", "inputs": ${inputs}}`))
        .sessionId;
    const id = await started('exact');
    assert.equal(
      (await sessionOnce(id)).lastMessage,
      "{'20': 1.0, '10': {'b': 0, '1': 0}} 12345678901234567891 ********",
    );
    const { text } = await service.ask('GET', `${path}/sessions/${id}`);
    assert.ok(text.includes(`"inputs":${inputs.replace('1.50', '"********"')}`), text);
    const before = server.called.length;
    await sessionOnce(await started('complete'));
    const { text: sent } = server.called.slice(before).find(({ url }) => url === '/complete')!;
    assert.ok(sent.includes(`"inputs":${inputs.replace('1.50', '"1.50"')}`), sent);
  });

  it('of a template may use stored templates', async () => {
    ok(await service.ask('POST', '/template_builder/templates', { name: 'Greeting', template: 'Hello {{ who }}' }));
    await made({ name: 'greeter', inputSchema: {}, runner: 'template', template: '{% include "Greeting" %}!' });
    assert.equal((await sessionOnce(await run('greeter', { who: 'you' }))).lastMessage, 'Hello you!');
    await made({ name: 'lost', inputSchema: {}, runner: 'template', template: '{% include "No such" %}!' });
    assert.match((await sessionOnce(await run('lost'))).lastMessage, /There is no template 'No such'/);
  });

  it('fail with the reason where the template does not render', async () => {
    const session = await sessionOnce(await run('wrong'));
    assert.equal(session.status, 'FAILED');
    assert.match(session.lastMessage, /line 1/);
  });

  it('keep the beginning of what is too long', async () => {
    const { status, lastMessage } = await sessionOnce(await run('endless'));
    assert.deepEqual([status, lastMessage.length, lastMessage.at(-1)], ['COMPLETE', 65_536, '…']);
  });

  it("are refused with inputs that do not fit, unknown agents and callbacks in the platform's name; nothing is stored", async () => {
    const { total } = ok(await service.ask('GET', `${path}/sessions`));
    const asked = (body: object) => service.ask('POST', `${path}/sessions/run-agent`, body);
    refused(await asked({ agent: 'summary', inputs: { ticket: 'INC1' } }), 422, /\/inputs\/ticket/);
    refused(await asked({ agent: 'summary' }), 422, /\/inputs\/ticket.*required|required.*\/inputs\/ticket/);
    const tooShort = await asked({ agent: 'summary', inputs: { ticket: 'CHG1', password: 'qz' } });
    refused(tooShort, 422, /\/inputs\/password/);
    assert.doesNotMatch(tooShort.text, /qz/);
    refused(await asked({ agent: 'nobody' }), 404, /\/agent/);
    refused(
      await asked({ agent: 'summary', inputs: { ticket: 'CHG1', password: '********' } }),
      400,
      /\/inputs\/password/,
    );
    refused(
      await asked({
        agent: 'nobody',
        terminationCallbackSignature: { ...callback, serviceName: '@platform/operations-manager' },
      }),
      400,
      /\/terminationCallbackSignature\/serviceName/,
    );
    refused(
      await asked({
        agent: 'summary',
        inputs: { ticket: 'CHG1' },
        terminationCallbackSignature: { ...callback, methodName: 'a:b' },
      }),
      400,
      /\/terminationCallbackSignature\/methodName/,
    );
    assert.equal(ok(await service.ask('GET', `${path}/sessions`)).total, total);
  });

  it('hold secrets masked, also for the template, and sealed in the log', async () => {
    const session = await sessionOnce(await run('summary', { ticket: 'CHG1', password: 'hunter22' }));
    assert.deepEqual([session.inputs.password, session.lastMessage], ['********', 'Change CHG1 with ********']);
    for (const { name, bytes } of keptFiles(service.folder)) assert.ok(!bytes.includes('hunter22'), name);
  });

  for (const [agent, status, lastMessage] of [
    ['complete', 'COMPLETE', 'Done'],
    ['fail', 'FAILED', 'Bad'],
    ['give-up', 'CANCELED', 'Started'],
    ['refuse', 'FAILED', 'The agent answered with status 500'],
  ] as const) {
    it(`of a webhook end as it answers: ${agent}`, async () => {
      const id = await run(agent);
      const session = await sessionOnce(id);
      assert.deepEqual([session.status, session.lastMessage], [status, lastMessage]);
      assert.deepEqual(await messages(id), [
        { status: 'RUNNING', message: 'Started' },
        { message: 'Sent to the agent' },
        { status, message: lastMessage },
      ]);
      assert.equal(server.called.filter(({ body }) => body.sessionId === id).length, 1);
    });
  }

  it('go on where the webhook reports later, and end by its report', async () => {
    const id = await run('later');
    await sessionOnce(id, ({ lastMessage }) => lastMessage === 'Looking');
    const done = await service.ask('POST', `${path}/sessions/${id}/complete`, { lastMessage: 'Found' });
    assert.deepEqual([ok(done).status, done.body.data.status, done.body.data.lastMessage], ['OK', 'COMPLETE', 'Found']);
    assert.equal(
      ok(await service.ask('POST', `${path}/sessions/${id}/complete`, { lastMessage: 'Found' })).data.ended,
      done.body.data.ended,
    );
    refused(await service.ask('POST', `${path}/sessions/${id}/fail`, {}), 409, /COMPLETE/);
    refused(await service.ask('POST', `${path}/sessions/${id}/cancel`), 409, /COMPLETE/);
    assert.deepEqual(await messages(id), [
      { status: 'RUNNING', message: 'Started' },
      { message: 'Sent to the agent' },
      { message: 'Looking' },
      { status: 'COMPLETE', message: 'Found' },
    ]);
    const failed = await run('silent');
    assert.equal(
      ok(await service.ask('POST', `${path}/sessions/${failed}/fail`, { lastMessage: 'No' })).data.status,
      'FAILED',
    );
    refused(await service.ask('POST', `${path}/sessions/none/fail`, {}), 404);
    refused(
      await service.ask('POST', `${path}/sessions/${failed}/fail`, { lastMessage: 'x'.repeat(65_537) }),
      400,
      /lastMessage/,
    );
  });

  it('are canceled, which breaks the call off', async () => {
    const id = await run('hang');
    await until(() => server.called.some(({ body }) => body.sessionId === id));
    const { request } = server.called.find(({ body }) => body.sessionId === id)!;
    const closed = new Promise((resolve) => {
      request.socket.once('close', resolve);
    });
    assert.equal(ok(await service.ask('POST', `${path}/sessions/${id}/cancel`)).data.status, 'CANCELED');
    await closed;
    assert.equal(ok(await service.ask('POST', `${path}/sessions/${id}/cancel`)).data.status, 'CANCELED');
    assert.equal((await get(id)).status, 'CANCELED');
  });

  it('fail when their time is up, called or waiting', async () => {
    for (const agent of ['short', 'short-hang']) {
      const session = await sessionOnce(await run(agent));
      assert.deepEqual(
        [session.status, session.lastMessage],
        ['FAILED', 'It has not ended within 1 seconds: its outcome is unknown'],
      );
      const took = Date.parse(session.ended) - Date.parse(session.created);
      // Timers and the clock may be a millisecond apart.
      assert.ok(took >= 990, `${took}`);
    }
  });

  it('do not wait for agents that hang, and those of one agent are called so many at once', async () => {
    const hanging = await Promise.all(Array.from({ length: 20 }, () => run('hang')));
    const isHanging = ({ body }: { body: any }) => hanging.includes(body.sessionId); // what was sent
    assert.equal((await sessionOnce(await run('complete'))).status, 'COMPLETE');
    assert.equal((await sessionOnce(await run('summary', { ticket: 'CHG1' }))).status, 'COMPLETE');
    await until(() => server.called.filter(isHanging).length >= 16);
    assert.equal(server.called.filter(isHanging).length, 16);
    const waiting = hanging.find((id) => !server.called.some(({ body }) => body.sessionId === id))!;
    const first = server.called.find(isHanging)!.body.sessionId;
    ok(await service.ask('POST', `${path}/sessions/${waiting}/cancel`));
    ok(await service.ask('POST', `${path}/sessions/${first}/cancel`));
    await until(() => server.called.filter(isHanging).length >= 17);
    assert.ok(
      !server.called.some(({ body }) => body.sessionId === waiting),
      'one that was canceled in line is not called',
    );
    for (const id of hanging) await service.ask('POST', `${path}/sessions/${id}/cancel`);
  });

  it('are listed, the newest first, by status and agent', async () => {
    const id = await run('silent');
    const { results } = ok(await who.reader('GET', `${path}/sessions?limit=1000`));
    assert.deepEqual(
      results.map(({ created }: { created: string }) => created),
      results
        .map(({ created }: { created: string }) => created)
        .toSorted()
        .toReversed(),
    );
    const running = ok(await service.ask('GET', `${path}/sessions?multiEquals={"status":"RUNNING","agent":"silent"}`));
    assert.deepEqual(
      running.results.map(({ sessionId }: { sessionId: string }) => sessionId),
      [id],
    );
    ok(await service.ask('POST', `${path}/sessions/${id}/cancel`));
  });

  it('go on where the agent is deleted after they were sent, and fail where it is before', async () => {
    await made(webhook('leaving', { url: server.url('/hang') }));
    const ids = await Promise.all(Array.from({ length: 17 }, () => run('leaving')));
    const sent = () => ids.filter((id) => server.called.some(({ body }) => body.sessionId === id));
    await until(() => sent().length >= 16);
    ok(await service.ask('DELETE', `${path}/agents/leaving`));
    const [waiting] = ids.filter((id) => !sent().includes(id));
    for (const id of sent())
      assert.equal(ok(await service.ask('POST', `${path}/sessions/${id}/complete`, {})).data.status, 'COMPLETE');
    const { status, lastMessage } = await sessionOnce(waiting!);
    assert.deepEqual([status, lastMessage], ['FAILED', 'The agent has been deleted']);
  });

  it("tell of their end, however they end, by an event of the callback's source and topic", async () => {
    const ids = [
      await run('summary', { ticket: 'CHG1' }, { terminationCallbackSignature: callback }),
      await run('fail', {}, { terminationCallbackSignature: callback }),
      await run('silent', {}, { terminationCallbackSignature: callback }),
    ];
    ok(await service.ask('POST', `${path}/sessions/${ids[2]}/cancel`));
    await Promise.all(ids.map((id) => sessionOnce(id)));
    await until(() => publishedIn(service.folder).length >= ids.length);
    assert.deepEqual(
      publishedIn(service.folder),
      ids
        .map((sessionId, i) => ({
          type: 'itsm:done',
          stream: `publishedEvent-${sessionId}`,
          data: {
            identifier: 'INC1',
            location: 'job 7',
            sessionId,
            status: ['COMPLETE', 'FAILED', 'CANCELED'][i],
            lastMessage: ['Change CHG1', 'Bad', 'Started'][i],
          },
        }))
        .toSorted((a, b) => (a.stream < b.stream ? -1 : 1)),
    );
  });
});
