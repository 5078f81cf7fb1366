import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { HttpProperties } from '../../../src/domain/configuration-manager/adapterSchemas.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { httpAdapter } from '../../../src/southbound/http.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { deviceAdapterContract, fails } from '../../support/deviceAdapter.contract.ts';
import { until } from '../../support/until.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });
const within = (ms: number) => AbortSignal.timeout(ms);
const patient = () => new AbortController().signal;
const device = { name: 'edge/01' };

describe('The adapter http', () => {
  let server: Server;
  let behave: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  const open = new Set<Socket>();
  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request
        .setEncoding('utf8')
        .on('data', (text: string) => {
          body += text;
        })
        .on('end', () => behave(request, response, body))
        .on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    await once(server, 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  afterEach('no connection is left', () => until(() => open.size === 0, 'the end of all connections'));
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const adapter = (more: Partial<HttpProperties> = {}) =>
    httpAdapter('tested', { baseUrl: `${base()}/api/`, ...more }, guard);
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

  describe('with a controller', () => {
    deviceAdapterContract(async () => {
      let config = '!\n';
      behave = ({ method, url }, response, body) => {
        assert.match(url!, /^\/api\/devices\/edge%2F01\/(configuration|commands)$/);
        if (method === 'GET') return json(response, 200, { config });
        const { config: more, command } = JSON.parse(body);
        if (command !== undefined)
          return json(response, 200, { output: command === 'show version' ? 'Version 1' : '% Invalid input' });
        if (/gibberish/.test(more)) return json(response, 422, { refused: more });
        config += more;
        return json(response, 200, { applied: true });
      };
      return { adapter: adapter(), device };
    });
  });

  it('passes a JSON answer through unchanged, anything else as a JSON string', async () => {
    const exactly = '{"id": 12345678901234567890,\n "a":1.0, "a":2}';
    behave = (_, response) => json(response, 201, exactly);
    assert.deepEqual(await adapter().apply(device, 'x', {}, patient()), { status: 201, text: exactly });
    behave = (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<b>done</b>');
    assert.deepEqual(await adapter().apply(device, 'x', {}, patient()), { status: 200, text: '"<b>done</b>"' });
    behave = (_, response) => json(response, 200, '{"broken":');
    assert.equal((await adapter().apply(device, 'x', {}, patient())).text, '"{\\"broken\\":"');
    behave = (_, response) => json(response, 200, '['.repeat(100_000) + ']'.repeat(100_000));
    JSON.parse((await adapter().apply(device, 'x', {}, patient())).text);
  });

  it('sends configuration, options and the credentials that it has', async () => {
    let seen: unknown[] = [];
    behave = ({ headers }, response, body) => {
      seen = [headers.authorization, JSON.parse(body)];
      json(response, 200, {});
    };
    const sent = { config: 'hostname x', options: { replace: true } };
    for (const [properties, authorization] of [
      [{ token: 't' }, 'Bearer t'],
      [{ username: 'u', password: 'p' }, 'Basic dTpw'],
      [{ auth: 'Custom c' }, 'Custom c'],
      [{}, undefined],
    ] as const) {
      await adapter(properties).apply(device, sent.config, sent.options, patient());
      assert.deepEqual(seen, [authorization, sent]);
    }
  });

  it('does not follow redirects', async () => {
    let asked = 0;
    behave = (_, response) => {
      asked++;
      response.writeHead(307, { Location: `${base()}/elsewhere` }).end();
    };
    assert.equal((await adapter().apply(device, 'x', {}, patient())).status, 307);
    await fails(adapter().configuration(device, patient()), /status 307/);
    assert.equal(asked, 2);
  });

  it('shows no secret that a failing controller repeats', async () => {
    behave = ({ headers }, response) => json(response, 500, { headers });
    const { text } = await adapter({ username: 'u', password: 'hunter2' }).apply(device, 'x', {}, patient());
    assert.doesNotMatch(text, /hunter2|dTpodW50ZXIy/);
    assert.match(text, /Basic \*{8}/);
  });

  it('fails when an answer lacks what was asked for', async () => {
    behave = (_, response) => json(response, 200, { other: 1 });
    await fails(adapter().configuration(device, patient()), /has no config/);
    await fails(adapter().run(device, 'show version', patient()), /has no output/);
  });

  it("does not leave its base by a device's name", () =>
    fails(adapter().configuration({ name: '..' }, patient()), /cannot be in a URL/));
  it('ends in time where there is no answer', () => {
    behave = () => undefined;
    return fails(adapter().apply(device, 'x', {}, within(300)), /no answer in time/);
  });
  it('ends in time where an answer dribbles', () => {
    behave = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    return fails(adapter().apply(device, 'x', {}, within(300)), /no answer in time/);
  });
  it('ends where an answer does not', () => {
    behave = (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    return fails(adapter().apply(device, 'x', {}, patient()), /too large/);
  });
  it('ends where the connection does', () => {
    behave = (request) => request.socket.resetAndDestroy();
    return fails(adapter().apply(device, 'x', {}, patient()), /broke off/);
  });
  it('ends where an answer is no HTTP', () => {
    behave = (request) => {
      request.socket.end('SSH-2.0-x\r\n\r\n');
    };
    return fails(adapter().apply(device, 'x', {}, patient()), /not HTTP/);
  });
  it('ends where nobody listens', () =>
    fails(adapter({ baseUrl: 'http://127.0.0.1:1' }).apply(device, 'x', {}, patient()), /refused/));
  it('does not go where it may not', () =>
    fails(
      adapter({ baseUrl: base().replace('127.0.0.1', '2130706434') }).apply(device, 'x', {}, patient()),
      /127\.0\.0\.2.*OUTBOUND_ALLOW/,
    ));
});
