import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Counted, DeniedRequest, HandOut } from '../../../src/domain/authorization/requestRecords.ts';
import { decode, splitStream } from '../../../src/store/event.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { textsKept } from '../../support/logged.ts';
import { ok, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const recorded = async <Row>(folder: string, topic: string): Promise<readonly (Row & { readonly count: number })[]> => {
  const log = await openSqliteReader(join(folder, 'events.db'));
  const found: Counted<Row>[] = [];
  for await (const { events } of log.readAll(0))
    for (const event of events.map(decode)) {
      if (event.topic !== topic) continue;
      const data = event.data as Counted<Row>;
      assert.equal(event.source, '@platform/authorization');
      assert.equal(splitStream(event.stream).id, data.first.slice(0, 10), 'the stream of the day in UTC');
      assert.ok(data.first <= data.last);
      found.push(data);
    }
  await log.close();
  return found.flatMap(({ rows }) => rows);
};

describe('records of requests over HTTP', function () {
  this.timeout(300_000);
  let service: TestService;
  let stopped: boolean;
  beforeEach(async () => {
    service = await startService();
    stopped = false;
  });
  afterEach(() => service.stop());

  /** The service stops, as at SIGTERM, and starts again: then everything is in the log. */
  const restarted = async () => {
    assert.ok(!stopped);
    stopped = true;
    service = await service.restart();
  };
  const denials = () => recorded<DeniedRequest>(service.folder, 'requestsDenied');
  const handOuts = () => recorded<HandOut>(service.folder, 'exported');
  const idOf = async (username: string): Promise<string> =>
    ok(await service.ask('GET', `/authorization/accounts/${username}`))._id;

  it('count what was refused with 401, 403 and 429, by account, address, operation and code', async () => {
    const { reader, outsider } = await people(service);
    for (let i = 0; i < 3; i++) refused(await reader('POST', '/operations-manager/automations', { name: 'a' }), 403);
    refused(await outsider('GET', '/operations-manager/automations'), 403);
    refused(await service.as(null)('GET', '/operations-manager/automations'), 401);
    refused(await service.as(null)('GET', '/nowhere'), 401);
    refused(await reader('GET', '/operations-manager/automations/none'), 404);
    refused(await service.ask('POST', '/operations-manager/automations', {}), 400);
    const [readers, outsiders] = [await idOf('reader'), await idOf('outsider')];
    await restarted();
    const address = '127.0.0.1';
    const key = (row: object) => JSON.stringify(row);
    assert.deepEqual(
      (await denials()).toSorted((a, b) => key(a).localeCompare(key(b))),
      [
        { account: readers, address, operation: 'createAutomation', code: 'forbidden', count: 3 },
        { account: outsiders, address, operation: 'getAutomations', code: 'forbidden', count: 1 },
        { account: null, address, operation: 'getAutomations', code: 'unauthenticated', count: 1 },
        { account: null, address, operation: null, code: 'unauthenticated', count: 1 },
      ].toSorted((a, b) => key(a).localeCompare(key(b))),
    );
  });

  it('name the account that was meant by a failed login, and never what was sent', async () => {
    await people(service);
    const [typedName, typedPassword] = ['my-password-in-the-wrong-field', 'this-is-no-password-either'];
    const meant = await idOf('member');
    for (let i = 0; i < 12; i++)
      await service.as({ user: 'member', password: typedPassword })('GET', '/authorization/whoami');
    await service.ask('POST', '/login', { username: typedName, password: typedPassword }, {}, null);
    refused(await service.as({ user: typedName, password: typedPassword })('GET', '/authorization/whoami'), 401);
    await restarted();
    const rows = (await denials()).map(({ account, operation, code, count }) => [account, operation, code, count]);
    assert.deepEqual(rows, [
      [meant, 'whoami', 'unauthenticated', 10],
      [meant, 'whoami', 'limited', 2],
      [null, 'login', 'unauthenticated', 1],
      [null, 'whoami', 'unauthenticated', 1],
    ]);
    assert.deepEqual(textsKept(service, [typedName, typedPassword]), []);
  });

  it('do not double logins that succeed, and know the account of a login that has ended', async () => {
    await people(service);
    const body = { username: 'member', password: 'a long enough password' };
    const { text: token } = await service.ask('POST', '/login', body, {}, null);
    const id = await idOf('member');
    ok(await service.ask('PATCH', '/authorization/accounts/member', { inactive: true }));
    refused(
      await service.ask('GET', '/authorization/whoami', undefined, { Authorization: `Bearer ${token}` }, null),
      401,
    );
    await restarted();
    assert.deepEqual(
      (await denials()).map(({ account, code }) => [account, code]),
      [[id, 'unauthenticated']],
    );
  });

  it('count exports of each kind by resource', async () => {
    const made = async (path: string, body: object) => {
      const answer = ok(await service.ask('POST', path, body));
      return answer.data ?? answer.created;
    };
    const automation = (await made('/operations-manager/automations', { name: 'a' }))._id;
    const template = (await made('/mop/createTemplate', { mop: { name: 'm', commands: [] } }))._id;
    for (let i = 0; i < 2; i++) ok(await service.ask('GET', `/operations-manager/automations/${automation}/export`));
    ok(await service.ask('POST', '/mop/export', { options: { name: 'm' } }));
    refused(await service.ask('GET', '/operations-manager/automations/none/export'), 404);
    const account = await idOf('admin');
    await restarted();
    const address = '127.0.0.1';
    assert.deepEqual(await handOuts(), [
      {
        account,
        address,
        operation: 'exportAutomation',
        resource: { kind: 'automation', id: automation },
        count: 2,
      },
      {
        account,
        address,
        operation: 'exportTemplate',
        resource: { kind: 'commandTemplate', id: template },
        count: 1,
      },
    ]);
  });

  it('are none while the active profile says so; the log itself goes on', async () => {
    ok(await service.ask('PUT', '/profiles/quiet', { properties: { auditProps: { audit: false } } }));
    ok(await service.ask('PUT', '/profiles/quiet/active'));
    refused(await service.as(null)('GET', '/operations-manager/automations'), 401);
    const { data } = ok(await service.ask('POST', '/operations-manager/automations', { name: 'a' }));
    ok(await service.ask('GET', `/operations-manager/automations/${data._id}/export`));
    await restarted();
    assert.deepEqual([await denials(), await handOuts()], [[], []]);
    ok(await service.ask('GET', `/operations-manager/automations/${data._id}`));
  });
});
