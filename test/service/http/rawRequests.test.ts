import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { answerIn, failure, positionOf, rawly, wellFormed } from '../../support/hostile.ts';
import { adminPassword, basic } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const host = 'Host: x\r\n';
const login = `Authorization: ${basic({ user: 'admin', password: adminPassword })}\r\n`;
const close = 'Connection: close\r\n\r\n';
const jsonOf = (length: number | string) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;

describe('bytes on a socket', function () {
  this.timeout(300_000);
  const service = useService();
  let stored: number;
  beforeEach(async () => {
    stored = await positionOf(service);
  });
  afterEach('nothing was stored, nothing is a bug, the service answers', async () => {
    assert.equal(await positionOf(service), stored);
    assert.deepEqual(service.lines, []);
  });

  const sent = async (bytes: string | Buffer) => answerIn(await rawly(service.url, bytes));
  const get = (target: string, headers = login) =>
    sent(Buffer.from(`GET ${target} HTTP/1.1\r\n${host}${headers}${close}`, 'latin1'));

  it('that are no HTTP are refused like everything else', async () => {
    for (const bytes of [
      'hello\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
      `BREW /login HTTP/1.1\r\n${host}${close}`,
      `get / HTTP/1.1\r\n${host}${close}`,
      `GET /a b HTTP/1.1\r\n${host}${close}`,
      `GET / HTTP/9.9\r\n${host}${close}`,
      `GET /authorization/accounts/\xff HTTP/1.1\r\n${host}${close}`,
      `GET /authorization/accounts?a=\xc3\xa4 HTTP/1.1\r\n${host}${close}`,
      `GET /\x00 HTTP/1.1\r\n${host}${close}`,
      `GET / HTTP/1.1\r\n${host}X-Request-Id: a\x00b\r\n${close}`,
      `GET / HTTP/1.1\r\n${host}X-Request-Id: a\rX-Injected: b\r\n${close}`,
      `GET / HTTP/1.1\r\n${host}no colon\r\n${close}`,
      `GET / HTTP/1.1\r\n${host}a b: c\r\n${close}`,
      `POST /login HTTP/1.1\r\n${host}${jsonOf(2)}Transfer-Encoding: chunked\r\n\r\n{}`,
      `POST /login HTTP/1.1\r\n${host}${jsonOf('x')}\r\n{}`,
      `POST /login HTTP/1.1\r\n${host}${jsonOf(-1)}\r\n{}`,
      `POST /login HTTP/1.1\r\n${host}${jsonOf('9'.repeat(40))}\r\n{}`,
      `POST /login HTTP/1.1\r\n${host}${jsonOf(2)}Content-Length: 3\r\n\r\n{}x`,
    ])
      failure(await sent(Buffer.from(bytes, 'latin1')), 'invalid', JSON.stringify(bytes));
  });

  it('with a body of a GET are read where a query may be in the body, and nowhere else', async () => {
    const ask = (path: string, body: string) =>
      sent(`GET /configuration_manager/${path} HTTP/1.1\r\n${host}${login}${jsonOf(body.length)}${close}${body}`);
    failure(await ask('name/devicegroups', '{"groupName":"nowhere"}'), 'not_found', 'a name');
    failure(await ask('name/devicegroups', '{"name":"nowhere"}'), 'invalid', 'another member');
    failure(await ask('name/devicegroups', '{'), 'invalid', 'no JSON');
    failure(await ask('name/devicegroups?groupName=a', '{"groupName":"a"}'), 'invalid', 'in both');
    assert.equal((await ask('deviceGroups', '{')).status, 200);
  });

  it('that flood headers are refused', async () => {
    failure(await get('/health/live', `X-A: ${'a'.repeat(20_000)}\r\n`), 'invalid', 'one large header');
    failure(
      await get('/health/live', Array.from({ length: 5000 }, (_, i) => `x${i}: 1\r\n`).join('')),
      'invalid',
      'many headers',
    );
    failure(await get(`/${'x'.repeat(20_000)}`), 'invalid', 'a long target');
    assert.equal((await get('/health/live', Array.from({ length: 500 }, () => 'a: 1\r\n').join(''))).status, 200);
  });

  it('with targets that are no paths of the API are refused', async () => {
    for (const target of [
      '//health/live',
      '/health//live',
      '/./health/live',
      '/health/../metrics',
      '/docs/../../etc/passwd',
      '/\\health/live',
      '/health/live/',
      '/health/live;x=1',
      '/authorization/accounts/admin/../../roles',
      'http://x//health/live',
    ])
      failure(await get(target), 'not_found', target);
    for (const target of ['http://[::1/health/live', 'http://x:99999/health/live', 'foo://x', 'http://', '*']) {
      failure(await get(target, ''), 'unauthenticated', target);
      failure(await get(target), 'invalid', target, 'path');
    }
    for (const target of ['/%', '/%zz', '/authorization/accounts/%ff', '/authorization/accounts/%c0%af'])
      failure(await get(target), 'invalid', target, 'path');
    for (const target of [
      '/authorization/accounts?%',
      '/authorization/accounts?a=%ff',
      '/authorization/accounts?skip=0?limit=1',
      '/authorization/accounts?=',
      '/authorization/accounts??',
    ])
      failure(await get(target), 'invalid', target);
  });

  it('with the target in full are answered', async () => {
    const answer = await get('http://anything.example/health/live');
    wellFormed(answer, 'absolute form');
    assert.equal(answer.text, '{"status":"up"}');
  });

  it('with methods that reach further than this service get nowhere', async () => {
    failure(await sent(`TRACE /health/live HTTP/1.1\r\n${host}${login}${close}`), 'method_not_allowed', 'TRACE');
    const connecting = `CONNECT elsewhere.example:80 HTTP/1.1\r\n${host}${login}${close}`;
    failure(await sent(`${connecting}GET /health/live HTTP/1.1\r\n${host}${close}`), 'method_not_allowed', 'CONNECT');
  });

  it('without Host, or with an expectation that nobody can meet, are refused', async () => {
    failure(await sent(`GET /health/live HTTP/1.1\r\n${login}${close}`), 'invalid', 'no Host', 'Host');
    wellFormed(await sent(`GET /health/live HTTP/1.0\r\n${login}${close}`), 'HTTP/1.0 has none');
    const expecting = (what: string) => `Expect: ${what}\r\n${jsonOf(100_000)}\r\n`;
    for (const what of ['the-unexpected', '200-ok, more'])
      failure(
        await sent(`POST /login HTTP/1.1\r\n${host}${login}${expecting(what)}`),
        'expectation_failed',
        what,
        'Expect',
      );
  });

  it('cannot put headers into answers', async () => {
    const answer = await get(
      '/authorization/accounts/x%0d%0aX-Injected:%20b',
      `${login}X-Request-Id: one\r\nX-Injected: b\r\n`,
    );
    failure(answer, 'invalid', 'line breaks', 'id');
    assert.deepEqual([answer.headers.get('x-request-id'), answer.headers.get('x-injected')], ['one', null]);
    const twice = await get('/health/live', 'X-Request-Id: one\r\nX-Request-Id: two\r\n');
    assert.match(twice.headers.get('x-request-id')!, /^[0-9a-f-]{36}$/);
    const folded = await get('/health/live', 'X-Request-Id: one\r\n two\r\n');
    assert.doesNotMatch(folded.headers.get('x-request-id') ?? '', /one/);
  });

  it('with several requests at once get their answers in order', async () => {
    const request = (id: number, path: string, more = '') =>
      `GET ${path} HTTP/1.1\r\n${host}${login}X-Request-Id: r${id}\r\n${more}`;
    const text = await rawly(
      service.url,
      `${request(1, '/metrics')}\r\n${request(2, '/nowhere')}\r\n${request(3, '/authorization/accounts')}\r\n${request(4, '/health/live', close)}`,
    );
    assert.deepEqual(
      [...text.matchAll(/^X-Request-Id: (.*)\r$/gm)].map(([, id]) => id),
      ['r1', 'r2', 'r3', 'r4'],
    );
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
      ['200', '404', '200', '200'],
    );
  });

  it('cannot hide a request in a refused body', async () => {
    const hidden = `GET /health/live HTTP/1.1\r\n${host}X-Request-Id: hidden\r\n\r\n`;
    const next = `GET /health/live HTTP/1.1\r\n${host}X-Request-Id: next\r\n${close}`;
    for (const [headers, status] of [
      ['', '401'],
      [login, '415'],
    ] as const) {
      const text = await rawly(
        service.url,
        `POST /authorization/groups HTTP/1.1\r\n${host}${headers}Content-Type: text/plain\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}${next}`,
      );
      assert.deepEqual(
        [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, found]) => found),
        [status, '200'],
      );
      assert.doesNotMatch(text, /hidden/);
    }
  });

  it('of a body longer than it was said to be are no second change', async () => {
    const text = await rawly(
      service.url,
      `POST /authorization/groups HTTP/1.1\r\n${host}${login}${jsonOf(1)}\r\n{"name":"smuggled"}`,
    );
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.equal((await service.ask('GET', '/authorization/groups/smuggled')).status, 404);
  });

  it('that end in the middle of a body change nothing', async () => {
    const { port } = new URL(service.url);
    for (const end of ['end', 'destroy'] as const) {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      await new Promise((written) => {
        socket.write(`POST /authorization/groups HTTP/1.1\r\n${host}${login}${jsonOf(100)}\r\n{"name":"half"`, written);
      });
      socket.resume()[end]();
      await once(socket, 'close');
    }
    assert.equal((await service.ask('GET', '/authorization/groups/half')).status, 404);
  });

  it('in endless chunks are too large', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await sent(
      `POST /authorization/groups HTTP/1.1\r\n${host}${login}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(32)}0\r\n\r\n`,
    );
    failure(answer, 'too_large', 'chunks');
    assert.equal(answer.headers.get('connection'), 'close');
  });
});
