import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { bodyReader } from '../../../src/http/engine/body.ts';
import { failureBody, statusOf } from '../../../src/http/engine/errors.ts';

const limits = { maxBytes: 1024 * 1024, maxImportBytes: 4 * 1024 * 1024 };

describe('the body reader, in a Koa server', () => {
  let server: Server;
  let url: URL;

  before(async () => {
    const read = bodyReader(limits);
    const koa = new Koa().use(async (ctx) => {
      try {
        ctx.body = await read(ctx, ctx.path === '/import' ? { large: true } : {});
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        ctx.status = statusOf[error.code];
        ctx.type = 'application/json';
        ctx.body = failureBody(error);
      }
    });
    server = createServer(koa.callback()).listen(0);
    await once(server, 'listening');
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  type Sent = { method?: string; path?: string; headers?: Record<string, string>; chunked?: boolean };
  const send = async (
    body: string | Buffer | undefined,
    { method = 'POST', path = '/', headers, chunked = false }: Sent = {},
  ) => {
    const type = { 'Content-Type': 'application/json', ...headers };
    const bytes = Buffer.from(body ?? '');
    const req = request(new URL(path, url), {
      method,
      headers: body === undefined ? {} : chunked ? type : { ...type, 'Content-Length': bytes.length },
      agent: false,
    });
    req.end(body === undefined ? undefined : bytes);
    const [res] = await once(req, 'response');
    let text = '';
    for await (const chunk of res.setEncoding('utf8')) text += chunk;
    return {
      status: res.statusCode as number,
      headers: res.headers as Record<string, string>,
      body: JSON.parse(text),
      text,
    };
  };
  const refused = async (status: number, words: RegExp, body: string | Buffer, sent: Sent = {}) => {
    const got = await send(body, sent);
    assert.equal(got.status, status, got.text);
    assert.match(got.text, words);
    return got;
  };

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    it(`reads the JSON and the text of a ${method}`, async () => {
      assert.deepEqual((await send('{"a": [1, "ä😀"]}', { method })).body, {
        value: { a: [1, 'ä😀'] },
        text: '{"a": [1, "ä😀"]}',
      });
    });

  it('takes no body for {}, with and without a length', async () => {
    for (const sent of [undefined, '']) assert.deepEqual((await send(sent)).body, { value: {}, text: '' });
    assert.deepEqual((await send('', { chunked: true })).body, { value: {}, text: '' });
    assert.deepEqual((await send('', { headers: { 'Content-Type': 'text/plain' } })).body, { value: {}, text: '' });
  });

  it('leaves null and scalars to the schema', async () => {
    for (const value of [null, 1, 'x', true, false])
      assert.deepEqual((await send(JSON.stringify(value))).body, { value, text: JSON.stringify(value) });
  });

  it('takes parameters of the content type that mean the same', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'Application/JSON',
      'application/json; profile=x',
    ])
      assert.equal((await send('{}', { headers: { 'Content-Type': type } })).status, 200, type);
  });

  it('drops a byte order mark', async () => {
    assert.deepEqual((await send('\ufeff{"a":1}')).body, { value: { a: 1 }, text: '{"a":1}' });
  });

  it('refuses what is not JSON by its type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/merge-patch+json',
      'application/vnd.api+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'nonsense',
    ])
      await refused(415, /unsupported_media/, '{}', { headers: { 'Content-Type': type } });
  });

  it('refuses compressed bodies and says what it takes', async () => {
    const { headers } = await refused(415, /Content-Encoding/, gzipSync('{}'), {
      headers: { 'Content-Encoding': 'gzip' },
    });
    assert.equal(headers['accept-encoding'], 'identity');
    assert.equal((await send('{}', { headers: { 'Content-Encoding': 'identity' } })).status, 200);
  });

  it('refuses malformed JSON without repeating it', async () => {
    for (const body of [
      '{"password":"hunter2"',
      '{"password":"hunter2",}',
      'hunter2',
      "{'password':'hunter2'}",
      '[1,2',
      ' ',
      '{"a":1}hunter2',
      '{"a":"hunter2\n"}',
      'NaN',
      '01',
    ]) {
      const { text } = await refused(400, /"invalid"/, body);
      assert.doesNotMatch(text, /hunter2/);
    }
  });

  it('refuses bytes that are no UTF-8, but takes the replacement character itself', async () => {
    for (const bytes of [[0xff], [0xc3], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0x80]])
      await refused(400, /UTF-8/, Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]));
    assert.equal((await send('{"a":"\ufffd"}')).status, 200);
  });

  it('puts characters together that arrive in two pieces', async () => {
    const bytes = Buffer.from('{"a":"€"}');
    const req = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, agent: false });
    req.write(bytes.subarray(0, 7));
    await new Promise((sent) => {
      setImmediate(sent);
    });
    req.end(bytes.subarray(7));
    const [res] = await once(req, 'response');
    assert.equal(res.statusCode, 200);
    res.resume();
  });

  it('refuses what JSON.parse lets pass, with its place', async () => {
    for (const [body, path] of [
      ['{"a":{"b":1,"b":2}}', '/a/b'],
      ['{"a":[{"__proto__":{}}]}', '/a/0/__proto__'],
      ['{"\\u005f_proto__":1}', '/__proto__'],
      [`${'['.repeat(65)}${']'.repeat(65)}`, '/0'.repeat(64)],
      ['[9007199254740993]', '/0'],
      ['{"x":"\\ud800"}', '/x'],
    ] as const) {
      const { body: answer } = await refused(400, /invalid/, body);
      assert.equal(answer.metadata.errors[0].path, path);
    }
  });

  it('refuses 2 MiB by their length before anything else, and closes the connection', async () => {
    const { headers } = await refused(413, /too_large/, Buffer.alloc(2 * 1024 * 1024, 0x20), {
      headers: { 'Content-Type': 'text/plain' },
    });
    assert.equal(headers.connection, 'close');
  });

  it('refuses 2 MiB whose length nobody told', async () => {
    const { headers } = await refused(413, /too_large/, `"${'x'.repeat(2 * 1024 * 1024)}"`, { chunked: true });
    assert.equal(headers.connection, 'close');
  });

  it('takes what has just the size that is allowed, and imports of more', async () => {
    assert.equal((await send(`"${'x'.repeat(limits.maxBytes - 2)}"`)).status, 200);
    await refused(413, /too_large/, `"${'x'.repeat(limits.maxBytes - 1)}"`);
    assert.equal((await send(`"${'x'.repeat(2 * 1024 * 1024)}"`, { path: '/import' })).status, 200);
    await refused(413, /4194304/, `"${'x'.repeat(limits.maxImportBytes)}"`, { path: '/import' });
  });

  it('answers a client that announces too much and sends nothing', async () => {
    const socket = connect(Number(url.port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n');
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += chunk;
    assert.match(text, /^HTTP\/1\.1 413 /);
  });
});
