import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { compressed, encodingFor } from '../../../src/http/engine/send.ts';
import { adminPassword, basic } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

type Raw = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly bytes: Buffer };

const opened = ({ headers, bytes }: Raw): string => {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return bytes.toString();
  return (encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
};

describe('compression', () => {
  const service = useService();
  const large = '/group-mappings/ldap/large';
  const small = '/group-mappings/ldap/small';
  before(async () => {
    await service.ask('PATCH', large, {
      updates: { platformGroups: Array.from({ length: 200 }, (_, i) => `group ${i}`) },
    });
    await service.ask('PATCH', small, { updates: { platformGroups: [] } });
  });

  /** As it comes: fetch asks for codings, and takes them off, by itself. */
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> => {
    const asking = request(service.url + path, {
      method,
      agent: false,
      headers: { Authorization: basic({ user: 'admin', password: adminPassword }), ...headers },
    }).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) };
  };

  it('is as asked for, and the answer is the same', async () => {
    const plain = await ask(large);
    for (const [accepted, encoding] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['gzip;q=0.8, br;q=0.5', 'gzip'],
      ['GZIP ; Q=1', 'gzip'],
      ['*', 'br'],
      ['br;q=0, *', 'gzip'],
    ] as const) {
      const answer = await ask(large, { 'Accept-Encoding': accepted });
      assert.equal(answer.headers['content-encoding'], encoding, accepted);
      assert.equal(opened(answer), plain.bytes.toString(), accepted);
      assert.ok(answer.bytes.length < plain.bytes.length);
      assert.equal(Number(answer.headers['content-length']), answer.bytes.length);
    }
  });

  it('is not where nobody asks, or for what nobody knows, but caches are told that it may be', async () => {
    for (const headers of [
      {},
      ...['', 'identity', 'deflate', 'br;q=0, gzip;q=0', 'br;q=x', 'x-gzip'].map((accepted) => ({
        'Accept-Encoding': accepted,
      })),
    ] as Record<string, string>[]) {
      const answer = await ask(large, headers);
      assert.equal(answer.headers['content-encoding'], undefined, JSON.stringify(headers));
      assert.match(answer.headers.vary!, /Accept-Encoding/);
    }
  });

  it('gives HEAD the headers of GET', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const [get, head] = [await ask(large, headers), await ask(large, headers, 'HEAD')];
    assert.equal(head.bytes.length, 0);
    for (const name of ['etag', 'content-encoding', 'content-length', 'vary'])
      assert.equal(head.headers[name], get.headers[name], name);
  });

  it('is not of what is short, has no body, or is compressed already', async () => {
    const headers = { 'Accept-Encoding': 'br, gzip' };
    for (const [path, method] of [
      [small, 'GET'],
      ['/docs/icon.png', 'GET'],
      ['/', 'GET'],
      [large, 'OPTIONS'],
    ] as const) {
      const answer = await ask(path, headers, method);
      assert.equal(answer.headers['content-encoding'], undefined, `${method} ${path}`);
      assert.match(answer.headers.vary!, /Accept-Encoding/);
    }
    for (const type of [
      'text/event-stream',
      'text/event-stream; charset=utf-8',
      'image/png',
      'application/octet-stream',
    ])
      assert.equal(encodingFor({ body: 'x'.repeat(2000), type }, 'br'), undefined, type);
    const length = (n: number) => encodingFor({ body: 'x'.repeat(n) }, 'br');
    assert.deepEqual([length(1024), length(1025)], [undefined, 'br']);
  });

  it("has tags of its own, which count as the answer's in If-None-Match and If-Match", async () => {
    for (const encoding of ['br', 'gzip']) {
      const plain = (await ask(large)).headers.etag!;
      const headers = { 'Accept-Encoding': encoding };
      const tag = (await ask(large, headers)).headers.etag!;
      assert.equal(tag, `${plain.slice(0, -1)}-${encoding}"`);
      for (const known of [tag, plain, `"other", W/${tag}`]) {
        const {
          status,
          headers: { etag },
          bytes,
        } = await ask(large, { ...headers, 'If-None-Match': known });
        assert.deepEqual([status, etag, bytes.length], [304, tag, 0], known);
        assert.equal(
          (await ask(large, { 'If-None-Match': known })).headers.etag,
          plain,
          'without asking, the tag of the plain answer',
        );
      }
      const platformGroups = Array.from({ length: 200 }, (_, i) => `${encoding} ${i}`);
      assert.equal(
        (await service.ask('PATCH', large, { updates: { platformGroups } }, { 'If-Match': tag })).status,
        200,
      );
      assert.equal(
        (await service.ask('PATCH', large, { updates: { platformGroups: [] } }, { 'If-Match': tag })).status,
        412,
      );
      assert.equal((await ask(large, { ...headers, 'If-None-Match': tag })).status, 200);
    }
  });

  it('takes the tag back that fetch was given', async () => {
    const { headers, body } = await service.ask('GET', large);
    assert.ok(headers.get('etag'));
    const changed = await service.ask(
      'PATCH',
      large,
      { updates: { platformGroups: [...body.platformGroups, 'one more'] } },
      { 'If-Match': headers.get('etag')! },
    );
    assert.equal(changed.status, 200, changed.text);
  });

  it('of refusals is the same', async () => {
    const updates = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`mistyped ${i}`, i]));
    const body = JSON.stringify({ updates });
    const asking = request(service.url + large, {
      method: 'PATCH',
      agent: false,
      headers: {
        Authorization: basic({ user: 'admin', password: adminPassword }),
        'Content-Type': 'application/json',
        'Accept-Encoding': 'gzip',
      },
    }).end(body);
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    assert.equal(response.statusCode, 400);
    assert.match(opened({ status: 400, headers: response.headers, bytes: Buffer.concat(chunks) }), /mistyped/);
  });

  it('leaves the event loop to others', async () => {
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `line ${i} `).join(''));
    const order: string[] = [];
    const work = compressed(body, 'gzip').then(() => order.push('compressed'));
    const turn = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('turn');
        resolve();
      });
    });
    await Promise.all([work, turn]);
    assert.deepEqual(order, ['turn', 'compressed']);
    assert.equal(compressed(body, 'gzip'), compressed(body, 'gzip'), 'what is kept is compressed once');
  });

  it('does not trip over a caller who has gone', async () => {
    const asking = get(`${service.url}/openapi.json`, { agent: false, headers: { 'Accept-Encoding': 'br' } });
    asking.on('error', () => undefined);
    await once(asking, 'socket');
    await once(asking, 'finish');
    asking.destroy();
    assert.equal((await ask('/health/live')).status, 200);
    assert.deepEqual(service.lines, []);
  });
});
