import assert from 'node:assert/strict';
import { mostMessage } from '../../../src/domain/agent-session-manager/agentSessionSchemas.ts';
import type { Sealed } from '../../../src/domain/engine/sealed.ts';
import { secrets } from '../../../src/secrets/secrets.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { httpWebhook } from '../../../src/southbound/webhook.ts';
import { until } from '../../support/until.ts';
import { says, webhookServer } from '../../support/webhookServer.ts';

const { seal, unseal } = secrets({ key: new Uint8Array(32) });
const guarded = (...allowed: readonly string[]) =>
  httpWebhook(outbound({ allowed: { hosts: new Set(), addresses: blockList(allowed) }, stores: [] }), unseal);
const never = new AbortController().signal;

describe('A webhook', () => {
  let server: Awaited<ReturnType<typeof webhookServer>>;
  const answering =
    (text: string, status = 200, type = 'application/json') =>
    (response: import('node:http').ServerResponse) =>
      void response.writeHead(status, { 'Content-Type': type }).end(text);
  before(async () => {
    server = await webhookServer({
      '/complete': says({ status: 'COMPLETE', lastMessage: 'Done' }),
      '/later': says({ status: 'THINKING', lastMessage: 'Hm' }),
      '/nothing': (response) => void response.writeHead(204).end(),
      '/null': says({ lastMessage: null }),
      '/long': says({ status: 'FAILED', lastMessage: 'x'.repeat(mostMessage + 1) }),
      '/lone': answering('{"status":"COMPLETE","lastMessage":"a\\ud800b"}'),
      '/echo': (response, { headers, body }) =>
        says({ status: 'COMPLETE', lastMessage: `${headers.authorization} and ${body.inputs.login.password}` })(
          response,
          { headers, body, text: '', url: '', request: response.req },
        ),
      '/redirect': (response) => void response.writeHead(302, { Location: server.url('/complete') }).end(),
      '/refuse': answering('Bearer s3cret is wrong', 403, 'text/plain'),
      '/huge': (response) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', more).on('error', () => undefined);
        more();
      },
      '/garbage': answering('<html>'),
      '/list': says(['COMPLETE']),
      '/number': says({ status: 'COMPLETE', lastMessage: 7 }),
      '/broken': (response) => void response.socket!.resetAndDestroy(),
      '/no-http': (response) => void response.socket!.end('SSH-2.0\r\n\r\n'),
      '/hang': () => undefined,
    });
  });
  after(() => server.close());

  const call = (path: string, signal = never, webhook = guarded('127.0.0.1')) =>
    webhook(
      {
        url: server.url(path),
        headers: { Authorization: seal('Bearer s3cret') } as Readonly<Record<string, Sealed>>,
        sessionId: '0f8fad5b-d9cb-469f-a165-70867728950e',
        agent: 'Triage',
        inputs: { alarm: 'down', login: { user: 'a', password: seal('pa55') } },
      },
      signal,
    );

  it('is not called where a secret is missing or cannot be opened', async () => {
    const before = server.called.length;
    const webhook = guarded('127.0.0.1');
    const other = secrets({ key: new Uint8Array(32).fill(1) });
    const called = { url: server.url('/complete'), sessionId: '0f8fad5b-d9cb-469f-a165-70867728950e', agent: 'Triage' };
    const login = { password: '********' };
    for (const inputs of [{ login }, { login: { password: other.seal('pa55') } }]) {
      const { status, lastMessage } = await webhook({ ...called, inputs }, never);
      assert.equal(status, 'FAILED');
      assert.match(lastMessage ?? '', /^The agent could not be called: .* secret .*Set it again$/);
    }
    assert.equal(server.called.length, before);
  });

  it('is sent session, agent and inputs with its headers, secrets in clear', async () => {
    assert.deepEqual(await call('/complete'), { status: 'COMPLETE', lastMessage: 'Done' });
    const { headers, body } = server.called.at(-1)!;
    assert.equal(headers.authorization, 'Bearer s3cret');
    assert.deepEqual(body, {
      sessionId: '0f8fad5b-d9cb-469f-a165-70867728950e',
      agent: 'Triage',
      inputs: { alarm: 'down', login: { user: 'a', password: 'pa55' } },
    });
  });

  it('may say something and go on, or say nothing', async () => {
    assert.deepEqual(await call('/later'), { lastMessage: 'Hm' });
    assert.deepEqual(await call('/nothing'), {});
    assert.deepEqual(await call('/null'), {});
  });

  it('is kept to texts of some length, without the secrets that it was sent', async () => {
    const { lastMessage } = await call('/long');
    assert.equal(lastMessage, `${'x'.repeat(mostMessage - 1)}…`);
    assert.equal((await call('/echo')).lastMessage, '******** and ********');
  });

  for (const [path, reason] of [
    ['/redirect', /answered with status 302/],
    ['/refuse', /^The agent answered with status 403$/],
    ['/huge', /too large/],
    ['/garbage', /not JSON/],
    ['/list', /not an object/],
    ['/number', /not a text/],
    ['/lone', /lone surrogate/],
    ['/broken', /broke off/],
    ['/no-http', /not HTTP/],
  ] as const) {
    it(`fails, and says why, at ${path}`, async () => {
      const { status, lastMessage } = await call(path);
      assert.equal(status, 'FAILED');
      assert.match(lastMessage!, reason);
    });
  }

  it('is not followed elsewhere', () => assert.equal(server.called.filter(({ url }) => url === '/complete').length, 1));

  it('fails where nobody listens, and where it may not lead, without a call', async () => {
    const before = server.called.length;
    const url = 'http://127.0.0.1:1/';
    assert.match(
      (await guarded('127.0.0.1')({ url, sessionId: 's', agent: 'a', inputs: {} }, never)).lastMessage!,
      /refused/,
    );
    const { status, lastMessage } = await call('/complete', never, guarded());
    assert.deepEqual([status, server.called.length], ['FAILED', before]);
    assert.match(lastMessage!, /OUTBOUND_ALLOW/);
  });

  it('is broken off by the signal, whose reason is thrown', async () => {
    const aborting = new AbortController();
    const calling = call('/hang', aborting.signal);
    await until(() => server.called.at(-1)?.url === '/hang');
    aborting.abort('ended');
    await assert.rejects(calling, (reason) => reason === 'ended');
  });
});
