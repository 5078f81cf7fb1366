import assert from 'node:assert/strict';
import { failure, positionOf } from '../../support/hostile.ts';
import { ok } from '../../support/people.ts';
import type { TestService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('checks, conditions and positions over HTTP', function () {
  this.timeout(300_000);
  const service = useService();
  const some = usePeople(service);
  afterEach(() => assert.deepEqual(service.lines, []));

  describe('a request that is wrong in every way', () => {
    let open: string;
    let guarded: string;
    let stored: number;
    const automations = '/operations-manager/automations';
    const tooMuch = 'x'.repeat(2 * 1024 * 1024);
    const stale = { 'If-Match': '"99"' };
    const used = { 'Idempotency-Key': 'used' };
    const wrong = { ...stale, ...used, 'Content-Type': 'text/plain' };

    before(async () => {
      const made = async (body: object) =>
        `${automations}/${ok(await service.ask('POST', automations, body)).data._id}`;
      open = await made({ name: 'open' });
      guarded = await made({ name: 'guarded', gbac: { read: ['ops', 'admins'], write: ['admins'] } });
      for (const path of [open, guarded]) ok(await service.ask('PATCH', path, { description: 'once' }, used));
      ok(await some.member('PATCH', open, { description: 'again' }, used));
      stored = await positionOf(service);
    });
    afterEach(async () => assert.equal(await positionOf(service), stored));

    const step = (title: string, code: string, request: () => ReturnType<TestService['ask']>): void => {
      it(`${title}: ${code}`, async () => failure(await request(), code, title));
    };
    step('without login, also of an unknown path', 'unauthenticated', () =>
      service.ask('PROPFIND', '/nowhere/%', undefined, wrong, null),
    );
    step('without login, with a parameter that is no id', 'unauthenticated', () =>
      service.ask('GET', `${automations}/a%0d%0a`, undefined, wrong, null),
    );
    step('then of an unknown path', 'not_found', () => some.outsider('PATCH', '/nowhere', tooMuch, wrong));
    step('then with an unknown method', 'method_not_allowed', () => some.outsider('PUT', guarded, tooMuch, wrong));
    step('then without a role', 'forbidden', () =>
      some.outsider('PATCH', `${automations}/a%0d%0a?x=%`, tooMuch, wrong),
    );
    step('then too large', 'too_large', () => some.stranger('PATCH', `${automations}/a%0d%0a?x=%`, tooMuch, wrong));
    step('then not JSON', 'unsupported_media', () => some.stranger('PATCH', `${automations}/a%0d%0a?x=%`, '{', wrong));
    step('then malformed', 'invalid', () => some.stranger('PATCH', guarded, '{', { ...stale, ...used }));
    step('or with an unknown field', 'invalid', () =>
      some.stranger('PATCH', guarded, { nobody: 1 }, { ...stale, ...used }),
    );
    step('or with an unknown parameter', 'invalid', () =>
      some.stranger('PATCH', `${guarded}?x=1`, { name: 'open' }, { ...stale, ...used }),
    );
    step('or with a key that is none', 'invalid', () =>
      some.stranger('PATCH', guarded, { name: 'open' }, { ...stale, 'Idempotency-Key': 'x'.repeat(201) }),
    );
    step('then of a resource that is not there', 'not_found', () =>
      some.member('PATCH', `${automations}/nothing`, { name: 'open' }, { ...stale, ...used }),
    );
    step('or that they may not read', 'not_found', () =>
      some.stranger('PATCH', guarded, { name: 'open' }, { ...stale, ...used }),
    );
    step('then that they may not write', 'forbidden', () =>
      some.member('PATCH', guarded, { name: 'open' }, { ...stale, ...used }),
    );
    step('then with the key of another request', 'unprocessable', () =>
      service.ask('PATCH', guarded, { name: 'open' }, { ...stale, ...used }),
    );
    step('then stale', 'stale', () =>
      service.ask('PATCH', guarded, { name: 'open' }, { ...stale, 'Idempotency-Key': 'fresh' }),
    );
    step('at last in conflict', 'conflict', () =>
      service.ask('PATCH', guarded, { name: 'open' }, { 'Idempotency-Key': 'fresh' }),
    );

    it('does not use up its key', async () => {
      const again = await service.ask('PATCH', guarded, { description: 'once' }, { 'Idempotency-Key': 'fresh' });
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, null]);
    });
    it('answers a retry as it was answered, however stale it is by now', async () => {
      const again = await some.member('PATCH', open, { description: 'again' }, { ...used, ...stale });
      assert.deepEqual(
        [again.status, again.headers.get('idempotency-replayed'), again.body.data.description],
        [200, 'true', 'again'],
      );
    });
  });

  describe('a GET with If-None-Match', () => {
    const path = '/group-mappings/local/conditional';
    before(async () => {
      ok(await service.ask('PATCH', path, { updates: { platformGroups: ['a'] } }));
    });
    const get = (tags: string, of = path, method = 'GET') =>
      service.ask(method, of, undefined, { 'If-None-Match': tags });

    it('is 304 without a body when a tag is the one, weak or strong, alone or among others', async () => {
      for (const of of [
        path,
        '/group-mappings',
        '/group-mappings?expand=platformGroups',
        '/authorization/methods',
        '/openapi.json',
        '/docs',
      ]) {
        const etag = (await service.ask('GET', of)).headers.get('etag')!;
        assert.match(etag, /^"[\w-]+"$/, of);
        for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag},"y"`, '*', `  ${etag}`]) {
          for (const method of ['GET', 'HEAD']) {
            const answer = await get(tags, of, method);
            assert.deepEqual(
              [answer.status, answer.text, answer.headers.get('etag')],
              [304, '', etag],
              `${of} ${tags}`,
            );
            assert.equal(answer.headers.get('vary'), 'Authorization, Cookie, Accept-Encoding');
          }
        }
      }
    });
    it('is 200 when none is, or what is sent is no tag', async () => {
      const etag = (await service.ask('GET', path)).headers.get('etag')!;
      for (const tags of [
        '"x"',
        '"x", "y"',
        etag.slice(1, -1),
        etag.slice(0, -1),
        `${etag}${etag}`,
        '""',
        'W/',
        ',',
        '**',
        'x'.repeat(5000),
      ])
        assert.equal((await get(tags)).status, 200, tags);
    });
    it('is 200 again once the resource has changed, and so is its list', async () => {
      const of = [path, '/group-mappings', '/group-mappings?expand=platformGroups'];
      const tags = await Promise.all(of.map(async (one) => (await service.ask('GET', one)).headers.get('etag')!));
      ok(await service.ask('PATCH', path, { updates: { platformGroups: ['b'] } }));
      for (const [i, one] of of.entries()) assert.equal((await get(tags[i]!, one)).status, 200, one);
    });
    it('is 404 of what is not there', async () => {
      failure(await get('*', '/group-mappings/local/nothing'), 'not_found', path);
    });
  });

  describe('a change with If-Match', () => {
    const path = '/group-mappings/local/matched';
    let etag: string;
    const patch = (headers: Record<string, string>, group = 'b') =>
      service.ask('PATCH', path, { updates: { platformGroups: [group] } }, headers);
    beforeEach(async () => {
      ok(await patch({}, 'a'));
      etag = (await service.ask('GET', path)).headers.get('etag')!;
    });

    it('goes through with the tag that GET gives, or *', async () => {
      const first = await patch({ 'If-Match': etag });
      assert.equal(first.status, 200, first.text);
      assert.notEqual(first.headers.get('etag'), etag);
      assert.equal((await service.ask('GET', path)).headers.get('etag'), first.headers.get('etag'));
      assert.equal((await patch({ 'If-Match': '*' }, 'c')).status, 200);
    });
    it('is stale with any other, and with what is none', async () => {
      for (const tag of [
        '"99"',
        `"${Number(etag.slice(1, -1)) - 1}"`,
        'garbage',
        '"',
        'W/',
        '"x"',
        '"1e0"',
        '"0x1"',
        '9'.repeat(1000),
        '"9007199254740993"',
      ])
        failure(await patch({ 'If-Match': tag }), 'stale', tag, 'If-Match');
    });
    it('is stale with If-None-Match: * when the resource is there', async () => {
      failure(await patch({ 'If-None-Match': '*' }), 'stale', path, 'If-Match');
      assert.equal(
        (
          await service.ask(
            'PATCH',
            '/group-mappings/local/fresh',
            { updates: { platformGroups: [] } },
            { 'If-None-Match': '*' },
          )
        ).status,
        200,
      );
    });
  });

  describe('positions', () => {
    const path = '/group-mappings/local/positions';
    it('are told of every change, of nothing else', async () => {
      const change = await service.ask('PATCH', path, { updates: { platformGroups: ['x'] } });
      assert.equal(Number(change.headers.get('x-event-position')), await positionOf(service));
      assert.equal((await service.ask('GET', path)).headers.get('x-event-position'), null);
      assert.equal((await service.ask('PATCH', path, { updates: {} })).headers.get('x-event-position'), null);
    });
    it('let a reader wait for them, and every reader sees what was answered', async () => {
      for (let i = 0; i < 50; i++) {
        const change = await service.ask('PATCH', path, { updates: { platformGroups: [`g${i}`] } });
        const headers: Record<string, string> =
          i % 2 ? {} : { 'X-Min-Position': change.headers.get('x-event-position')! };
        assert.deepEqual(ok(await some.reader('GET', path, undefined, headers)).platformGroups, [`g${i}`]);
      }
    });
  });
});
