import assert from 'node:assert/strict';
import { retries } from '../../../src/commands/engine/retries.ts';
import { gateway } from '../../support/certificates.ts';
import { openFileLog } from '../../support/node.ts';
import { ok, refused } from '../../support/people.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';
import { thing, writer } from '../../support/writer.ts';

type Request = Parameters<TestService['ask']>;

describe('a request that is sent again under its Idempotency-Key', () => {
  describe('finds its resource, on any node:', () => {
    let log: Awaited<ReturnType<typeof openFileLog>>;
    beforeEach(async () => {
      log = await openFileLog();
    });
    afterEach(() => log.close());
    const plain = () => writer(log.store, { reacting: false });
    const idempotency = { key: 'k', request: 'r' };
    const find = (idOrName: string, key = 'k', node = plain()) =>
      retries(node.streams).find({ aggregate: thing, idOrName }, key);

    it('by the name that it had, though it has another, though others have had that since', async () => {
      const [one, two] = [plain(), plain()];
      await one.make('a', 'x');
      await one.rename('a', 'y', { idempotency });
      assert.equal(await find('x', 'k', two), 'a');
      for (const id of ['b', 'c', 'd']) {
        await two.make(id, 'x');
        await two.remove(id);
      }
      for (const node of [one, two, plain()]) assert.equal(await find('x', 'k', node), 'a');
      assert.equal(await find('y'), 'a');
      assert.equal(await find('x', 'another key'), undefined);
      assert.equal(await find('never borne'), undefined);
    });
    it('by id and by name when it is gone', async () => {
      const one = plain();
      await one.make('a', 'x');
      await one.remove('a', { idempotency });
      assert.deepEqual([await find('a'), await find('x')], ['a', 'a']);
    });
    it('by a name that need not be unique, if it was called by it', async () => {
      const one = plain();
      await one.make('a', 'x');
      await one.rename('a', 'y', { idempotency, calledBy: { name: 'nickname' } });
      await one.rename('a', 'z', { idempotency: { key: 'other', request: 'r' }, calledBy: { name: 'y' } });
      assert.deepEqual([await find('nickname'), await find('y', 'other')], ['a', 'a']);
    });
    it('and takes no note of a call that stores nothing', async () => {
      const one = plain();
      await one.make('a', 'x');
      const before = await log.store.head();
      await one.rename('a', 'x', { idempotency, calledBy: { name: 'nickname' } });
      assert.equal(await log.store.head(), before);
    });
  });

  describe('over HTTP', () => {
    let service: TestService;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    const inventories = '/inventory_manager/v1/inventories';
    const automations = '/operations-manager/automations';
    const key = (text: string) => ({ 'Idempotency-Key': text });
    const replays = async (first: { body: unknown }, ...request: Request) => {
      const answer = await service.ask(...request);
      assert.deepEqual(ok(answer), first.body);
      assert.equal(answer.headers.get('idempotency-replayed'), 'true');
    };

    it('of a DELETE is answered as before, by id and by name, also after a restart; without the key there is nothing', async () => {
      for (const [name, by] of [
        ['branches', '_id'],
        ['campus', 'name'],
      ] as const) {
        const made = ok(await service.ask('POST', inventories, { name }));
        const path = `${inventories}/${made.data[by]}`;
        const first = await service.ask('DELETE', path, undefined, key('gone'));
        ok(first);
        await replays(first, 'DELETE', path, undefined, key('gone'));
        const other = ok(await service.ask('POST', inventories, { name }));
        await replays(first, 'DELETE', path, undefined, key('gone'));
        service = await service.restart();
        await replays(first, 'DELETE', path, undefined, key('gone'));
        ok(await service.ask('GET', `${inventories}/${other.data._id}`));
        if (by === '_id') refused(await service.ask('DELETE', path), 404);
        refused(await service.ask('DELETE', `${inventories}/nobody`, undefined, key('gone')), 404);
      }
    });
    it('of a change by a name that it changes is answered as before, and changes nothing of who has the name now', async () => {
      ok(await service.ask('POST', automations, { name: 'old' }));
      const rename = ['PATCH', `${automations}/old`, { name: 'new' }, key('rename')] as const;
      const first = await service.ask(...rename);
      ok(first);
      await replays(first, ...rename);
      refused(await service.ask('PATCH', `${automations}/old`, { name: 'new' }), 404);
      const other = ok(await service.ask('POST', automations, { name: 'old' })).data;
      await replays(first, ...rename);
      service = await service.restart();
      await replays(first, ...rename);
      assert.deepEqual(ok(await service.ask('GET', `${automations}/old`)).data, other);
      refused(
        await service.ask('PATCH', `${automations}/old`, { name: 'other' }, key('rename')),
        422,
        /Idempotency-Key/,
      );
    });
    it('of a change with the mask of a secret is answered as before, though the secret is gone', async () => {
      const [mask, manager] = ['********', '/configuration_manager'];
      const ldap = { urls: ['ldaps://d'], userBase: 'dc=x', bindDn: 'cn=a' };
      const http = { type: 'http', devices: [] };
      const agent = { name: 'masked', inputSchema: {}, runner: 'webhook', url: 'http://h/' };
      const rows: readonly (readonly [method: string, list: string, secret: object, masked: object])[] = [
        ['PUT', `${manager}/credentials`, { username: 'a', password: 's' }, { username: 'b', password: mask }],
        [
          'PUT',
          `${manager}/adapters`,
          { ...http, properties: { baseUrl: 'http://a', token: 's' } },
          { ...http, properties: { baseUrl: 'http://a', token: mask, timeout: 5000 } },
        ],
        [
          'PATCH',
          '/authorization/providers',
          { type: 'ldap', properties: { ...ldap, bindPassword: 's' } },
          { order: 7, properties: { ...ldap, bindPassword: mask } },
        ],
        [
          'PUT',
          '/agent-session-manager/agents',
          { ...agent, headers: { 'X-Key': 's' } },
          { ...agent, description: 'd', headers: { 'X-Key': mask } },
        ],
      ];
      for (const [method, list, secret, masked] of rows) {
        const made = ok(await service.ask('POST', list, { name: 'masked', ...secret }));
        const path = `${list}/${(made.data ?? made)._id ?? 'masked'}`;
        const change = [method, path, masked, key('masked')] as const;
        const first = await service.ask(...change);
        ok(first);
        ok(await service.ask('DELETE', path));
        await replays(first, ...change);
      }
    });
    it('of a change below a model by the names that both had is answered as before', async () => {
      const models = '/lifecycle-manager/resources';
      ok(await service.ask('POST', models, { name: 'model', schema: {} }));
      const create: Request = ['POST', `${models}/model/instances`, { name: 'one', instanceData: {} }, key('create')];
      const change: Request = [
        'PUT',
        `${models}/model/instances/one`,
        { name: 'two', instanceData: {} },
        key('change'),
      ];
      const remove: Request = ['DELETE', `${models}/model/instances/two`, undefined, key('remove')];
      const requests: readonly Request[] = [create, change, remove];
      const answers = new Map<Request, Answer>();
      for (const request of requests) {
        const answer = await service.ask(...request);
        ok(answer);
        answers.set(request, answer);
      }
      const replayAll = async () => {
        for (const [request, first] of answers) await replays(first, ...request);
      };
      ok(await service.ask('PUT', `${models}/model`, { name: 'renamed', schema: {} }));
      await replayAll();
      ok(await service.ask('DELETE', `${models}/renamed`));
      ok(await service.ask('POST', models, { name: 'model', schema: {} }));
      await replayAll();
    });
    it('of a change of the own password is answered as before', async () => {
      ok(await service.ask('POST', '/authorization/accounts', { username: 'bob', password: 'the old password' }));
      const change = [
        'POST',
        '/whoami/password',
        { old: 'the old password', new: 'the new password' },
        key('password'),
      ] as const;
      ok(await service.as({ user: 'bob', password: 'the old password' })(...change));
      const again = await service.as({ user: 'bob', password: 'the new password' })(...change);
      ok(again);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
    });
    it('of a DELETE of a certificate by its alias alone is answered as before', async () => {
      const path = '/gateway_manager/v1/certificates';
      ok(await service.ask('POST', path, { raw_certificate: gateway, alias: 'edge', contract_id: 'c1' }));
      const remove = ['DELETE', `${path}/edge`, undefined, key('certificate')] as const;
      const first = await service.ask(...remove);
      ok(first);
      await replays(first, ...remove);
      ok(await service.ask('POST', path, { raw_certificate: gateway, alias: 'edge', contract_id: 'c2' }));
      await replays(first, ...remove);
    });
  });
});
