import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setPassword } from '../../../src/cli/commands/accountPasswd.ts';
import { readConfig } from '../../../src/config.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { badEvent, faults, spoil } from '../../support/badEvents.ts';
import { ok, refused } from '../../support/people.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const im = '/inventory_manager/v1';
const password = 'a long enough password';

/** What a service does whose log holds events that cannot be read. `forget`: its read models are gone. */
const suite = (settings: () => Record<string, string>, forget: (folder: string) => Promise<unknown>): void => {
  let folder: string;
  let service: TestService;
  let automations: ReadonlyMap<string, string>;
  const ids: Record<string, string> = {};

  const withLog = async (work: (store: EventStore) => Promise<void>): Promise<void> => {
    await service.stop();
    const store = await openSqliteStore({ file: join(folder, 'events.db') });
    try {
      await work(store);
    } finally {
      await store.close();
      service = await startService(settings(), folder);
    }
  };
  const make = async (path: string, body: unknown) => ok(await service.ask('POST', path, body));
  const automation = async (name: string): Promise<string> => (await make(`${om}/automations`, { name })).data._id;
  const names = async (path: string, of: (body: any) => any[]): Promise<string[]> =>
    of(ok(await service.ask('GET', `${path}?limit=1000`))).map(({ name }) => name); // a body is whatever the route says

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    service = await startService(settings(), folder);
    automations = new Map(
      await Promise.all(Object.keys(faults).map(async (fault) => [fault, await automation(`bad ${fault}`)] as const)),
    );
    ids['good'] = await automation('good');
    await make(`${om}/triggers`, {
      type: 'manual',
      name: 'of a bad one',
      enabled: true,
      actionType: 'automations',
      actionId: automations.get('null'),
      formData: null,
      formId: null,
    });
    for (const name of ['whole', 'broken']) {
      await make(`${im}/inventories`, { name });
      await make(`${im}/inventories/${name}/nodes`, { nodes: [{ name: `${name} 1` }, { name: `${name} 2` }] });
      await make('/authorization/accounts', { username: `${name} account`, password, memberOf: ['readers'] });
    }
    const broken = ok(await service.ask('GET', `${im}/inventories/broken`));
    const accounts = ok(await service.ask('GET', '/authorization/accounts?limit=100')).results as {
      _id: string;
      username: string;
    }[];
    await withLog(async (store) => {
      for (const [fault, id] of automations)
        await spoil(
          store,
          `automation-${id}`,
          badEvent('@platform/operations-manager:automationCreated', faults[fault]),
        );
      await spoil(
        store,
        `inventory-${broken._id ?? broken.data?._id ?? broken.result?._id}`,
        badEvent('@platform/inventory-manager:nodesAdded'),
      );
      await spoil(
        store,
        `account-${accounts.find(({ username }) => username === 'broken account')!._id}`,
        badEvent('@platform/authorization:accountPasswordSet', faults['no JSON']),
      );
      // Streams that no service would write.
      await spoil(
        store,
        'inventory-',
        badEvent('@platform/inventory-manager:nodesAdded', [
          '{"nodes":[{"name":"n","attributes":{},"tags":[]}]}',
          faults['null']![1],
        ]),
      );
      await spoil(
        store,
        'inventory-a/b',
        badEvent('@platform/inventory-manager:nodesCleared', ['{}', faults['null']![1]]),
      );
      await spoil(store, 'automation-x', badEvent('@platform/operations-manager:toString', ['{}', faults['null']![1]]));
    });
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const parked = async (): Promise<Record<string, string>> => {
    const { status, parked } = ok(await service.ask('GET', '/health/status'));
    assert.equal(status, 'degraded');
    return parked.documents;
  };

  it('starts, is ready and goes on with all the others', async () => {
    await until(async () => (await service.ask('GET', '/health/ready')).status === 200);
    assert.deepEqual(await names(`${om}/automations`, ({ data }) => data), ['good']);
    assert.equal(ok(await service.ask('GET', `${om}/automations/good`)).data._id, ids['good']);
    assert.equal(
      ok(await service.ask('PATCH', `${om}/automations/good`, { description: 'changed' })).data.description,
      'changed',
    );
    assert.deepEqual(await names(`${im}/inventories/whole/nodes`, ({ results, result }) => results ?? result), [
      'whole 1',
      'whole 2',
    ]);
    ok(await service.as({ user: 'whole account', password })('GET', '/authorization/whoami'));
    assert.equal(ok(await service.ask('GET', `${om}/triggers?limit=10`)).data.length, 1);
  });

  for (const fault of Object.keys(faults)) {
    it(`refuses what cannot be shown, and all changes of it, with a reason: ${fault}`, async () => {
      const id = automations.get(fault)!;
      for (const idOrName of [id, `bad ${fault}`]) {
        const path = `${om}/automations/${encodeURIComponent(idOrName)}`;
        refused(await service.ask('GET', path), 500, /cannot be shown/);
        refused(
          await service.ask('PATCH', path, { description: 'x' }),
          500,
          new RegExp(`Event 1 of automation-${id} `),
        );
        refused(await service.ask('DELETE', path), 500);
      }
      refused(await service.ask('POST', `${om}/automations`, { name: `bad ${fault}` }), 409, /is taken/);
    });
  }

  it('refuses the children of what cannot be shown, and its account', async () => {
    refused(await service.ask('GET', `${im}/inventories/broken/nodes`), 500);
    refused(await service.ask('GET', `${im}/inventories/broken`), 500);
    refused(await service.as({ user: 'broken account', password })('GET', '/authorization/whoami'), 500);
    refused(await service.as({ user: 'no account', password })('GET', '/authorization/whoami'), 401);
  });

  it('says in its health and its metrics what is parked and why, and again after a restart and a rebuild', async () => {
    const documents = await parked();
    const concerned = Object.keys(documents).map((key) => key.slice(0, key.indexOf('/')));
    assert.deepEqual([...new Set(concerned)].sort(), [
      'accounts',
      'automations',
      'credentials',
      'externalIds',
      'formerAccounts',
      'inventories',
    ]);
    for (const id of automations.values())
      assert.match(
        documents[`automations/${id}`]!,
        /^@platform\/operations-manager:automationCreated at position \d+: /,
      );
    assert.equal(concerned.filter((collection) => collection === 'automations').length, automations.size);
    assert.match(
      (await service.ask('GET', '/metrics')).text,
      new RegExp(`^automation_platform_projections_parked ${concerned.length}$`, 'm'),
    );
    await withLog(async () => undefined);
    assert.deepEqual(await parked(), documents);
    await withLog(async () => void (await forget(folder)));
    assert.deepEqual(await parked(), documents);
  });
};

describe('a log with events that cannot be read', () => {
  suite(
    () => ({}),
    async (folder) => {
      rmSync(join(folder, 'read-models.snapshot'), { force: true });
    },
  );
});
describeOwnRedis('a log with events that cannot be read, over Redis', (redis) => {
  suite(
    () => ({ READSTORE_URL: redis().url }),
    () => redis().command('FLUSHALL'),
  );
});

describe('a start on a log whose first events cannot be read', () => {
  it('is a start all the same: without the active profile, a built-in group and an account; passwords can be set offline', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    let service = await startService({}, folder);
    try {
      ok(await service.ask('PUT', '/profiles/strict', { properties: { expressProps: { cacheControl: true } } }));
      ok(await service.ask('PUT', '/profiles/strict/active'));
      ok(await service.ask('POST', '/authorization/accounts', { username: 'ann', password, memberOf: ['readers'] }));
      const { _id: readers } = ok(await service.ask('GET', '/authorization/groups/readers'));
      const { _id: ann } = ok(await service.ask('GET', '/authorization/accounts/ann'));
      await service.stop();
      const store = await openSqliteStore({ file: join(folder, 'events.db') });
      await spoil(store, 'group-lost', badEvent('@platform/authorization:groupCreated', ['{"$sealed":', '{}']));
      await spoil(store, 'secret-key', badEvent('@platform/log:keyChecked', faults['no JSON']));
      await spoil(store, 'profile-strict', badEvent('@platform/profiles:profileUpdated', faults['no JSON']));
      await spoil(store, `group-${readers}`, badEvent('@platform/authorization:groupUpdated', faults['metadata null']));
      await spoil(
        store,
        `account-${ann}`,
        badEvent('@platform/authorization:accountUpdated', faults['nothing at all']),
      );
      await store.close();
      const passwd = (name: string) =>
        setPassword(readConfig({ DATA_DIR: folder }), name, {
          input: Readable.from(['a new password\n']),
          output: new PassThrough(),
        });
      await passwd('admin');
      await assert.rejects(passwd('ann'), /"ann" has an event that cannot be read/);
      service = await startService({}, folder);
      const asked = await service.as({ user: 'admin', password: 'a new password' })('GET', '/health/status');
      assert.deepEqual(
        Object.keys(ok(asked).parked.documents).sort(),
        [
          `accounts/${ann}`,
          `credentials/${ann}`,
          `externalIds/${ann}`,
          `formerAccounts/${ann}`,
          `groups/${readers}`,
          'groups/lost',
          'profiles/strict',
        ].sort(),
      );
      assert.equal(asked.headers.get('cache-control'), null);
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
