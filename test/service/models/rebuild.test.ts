import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWorker } from '../../../src/process/startWorker.ts';
import { projections } from '../../../src/projections/all.ts';
import { countedEvents } from '../../../src/projections/countedEvents.ts';
import type { Entry } from '../../../src/projections/engine/port.ts';
import { collectionsOf } from '../../../src/projections/engine/projector.ts';
import { runProjections } from '../../../src/projections/engine/run.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import { readSnapshot, writeSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import type { SnapshotWork } from '../../../src/projections/snapshots/snapshotWorker.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { gateway, issuing } from '../../support/certificates.ts';
import { positionOf } from '../../support/hostile.ts';
import { startService, type TestService } from '../../support/service.ts';

/** Some of everything: created, changed, deleted, created again. */
const live = async ({ ask }: TestService): Promise<void> => {
  const ok = async (...args: Parameters<TestService['ask']>) => {
    const answer = await ask(...args);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  for (let i = 0; i < 20; i++)
    await ok('PATCH', `/group-mappings/ldap/m${i}`, { updates: { platformGroups: [`g${i % 3}`] } });
  for (let i = 0; i < 20; i += 2)
    await ok('PATCH', `/group-mappings/ldap/m${i}`, { updates: { platformGroups: [`g${i % 5}`, 'x'] } });
  for (let i = 0; i < 20; i += 5) await ok('DELETE', `/group-mappings/ldap/m${i}`);
  await ok('PATCH', '/group-mappings/ldap/m5', { updates: { platformGroups: ['again'] } });
  await ok('POST', '/authorization/accounts', {
    username: 'someone',
    password: 'some password',
    memberOf: ['readers'],
  });
  await ok('PATCH', '/authorization/accounts/someone', { firstname: 'Some' });
  const {
    data: { _id: actionId },
  } = await ok('POST', '/operations-manager/automations', { name: 'a', description: 'd' });
  await ok('POST', '/operations-manager/triggers', {
    type: 'manual',
    name: 't',
    enabled: true,
    actionType: 'automations',
    actionId,
    formData: null,
    formId: null,
  });
  await ok('PATCH', '/operations-manager/automations/a', {
    description: 'other',
    gbac: { read: ['readers'], write: ['operators'] },
  });
  const {
    data: { _id },
  } = await ok('POST', '/operations-manager/automations', { name: 'gone' });
  await ok('POST', '/operations-manager/triggers', {
    type: 'endpoint',
    name: 't',
    enabled: true,
    actionType: 'automations',
    actionId: _id,
    verb: 'POST',
    routeName: 'gone',
    schema: null,
    jst: null,
  });
  await ok('DELETE', `/operations-manager/automations/${_id}`);
  const tree = await ok('POST', '/configuration_manager/configs', { name: 'tree', deviceType: 'ios' });
  const treeId = tree._id ?? tree.data._id;
  await ok('PUT', `/configuration_manager/configs/variables/${treeId}/initial`, {
    variables: { a: 1, b: { c: [true] } },
  });
  await ok('POST', '/configuration_manager/compliance_plans', { name: 'plan' });
  for (const name of ['one', 'two', 'three']) {
    await ok('POST', '/inventory_manager/v1/inventories', { name });
    for (let i = 0; i < 3; i++)
      await ok('POST', `/inventory_manager/v1/inventories/${name}/nodes`, {
        nodes: [0, 1, 2, 3, 4]
          .map((n) => ({ name: `${name} ${i * 3 + n}`, attributes: { password: 'x' }, tags: ['t'] }))
          .slice(i === 0 ? 0 : 2),
      });
  }
  await ok('DELETE', '/inventory_manager/v1/nodes/clear/two');
  await ok('POST', '/inventory_manager/v1/inventories/two/nodes', { nodes: [{ name: 'two 1', tags: ['again'] }] });
  await ok('DELETE', '/inventory_manager/v1/inventories/three');
  await ok('POST', '/gateway_manager/v1/certificates', { raw_certificate: `${gateway}${issuing}`, alias: 'g' });
};

/** Everything that a read store holds, with what it is sorted, filtered and guarded by. */
const contents = (entries: Iterable<readonly [string, Entry]>): unknown[] =>
  [...entries]
    .map(([collection, entry]) => [collection, entry])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Read models built from nothing but the log. */
const rebuilt = async (file: string): Promise<unknown[]> => {
  const store = await openSqliteStore({ file });
  const model = memoryReadStore({ collections: collectionsOf(projections) });
  const run = runProjections({
    store,
    model,
    projections,
    counted: countedEvents(),
    catchUp: 100_000,
    log: (message, about) => assert.fail(`${message} ${JSON.stringify(about)}`),
  });
  run.start();
  await run.reached(await store.head(), 10_000);
  const all = contents(model.entries());
  await run.stop();
  await store.close();
  return all;
};

describe('read models', function () {
  this.timeout(300_000);
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(async () => {
    if (existsSync(service.folder)) rmSync(service.folder, { recursive: true, force: true });
  });

  const lists = [
    '/group-mappings',
    '/authorization/accounts',
    '/authorization/groups',
    '/operations-manager/automations',
    '/operations-manager/events',
    '/operations-manager/triggers',
    '/configuration_manager/configs',
    '/inventory_manager/v1/inventories',
    '/inventory_manager/v1/inventories/one/nodes',
    '/inventory_manager/v1/inventories/two/nodes',
  ];
  const answers = async ({ ask }: TestService) =>
    Promise.all(lists.map(async (path) => (await ask('GET', `${path}?limit=1000`)).body));

  it('built anew from the log are equal to the live ones, and building them fires nothing', async () => {
    await live(service);
    const before = await answers(service);
    const again = await service.restart();
    const head = await positionOf(again);
    assert.deepEqual(await answers(again), before);
    assert.equal(await positionOf(again), head, 'nothing was stored by building');
    await again.stop();
    const [one, two] = [
      await rebuilt(join(service.folder, 'events.db')),
      await rebuilt(join(service.folder, 'events.db')),
    ];
    assert.ok(one.length > 20);
    assert.deepEqual(one, two);
  });

  it('from a snapshot and the rest of the log are equal to those from the log alone', async () => {
    await live(service);
    const log = join(service.folder, 'events.db');
    const file = join(service.folder, 'read-models.snapshot');
    const reader = await openSqliteReader(log);
    const origin = { log: reader.id, version: 'v' };
    await reader.close();
    const snapshot = async () => {
      const worker = startWorker('projections/snapshots/snapshotWorker', {
        log: { file: log },
        file,
        origin,
      } satisfies SnapshotWork);
      const [code] = await once(worker, 'exit');
      assert.equal(code, 0);
    };
    await snapshot();
    const first = (await readSnapshot(file, origin))!.checkpoint.position;
    assert.ok(
      (await service.ask('PATCH', '/group-mappings/ldap/after', { updates: { platformGroups: ['y'] } })).status === 200,
    );
    await service.ask('DELETE', '/group-mappings/ldap/m1');
    assert.equal(
      (await service.ask('DELETE', '/inventory_manager/v1/nodes/clear/one')).body.result.statistics.nodesDeleted,
      11,
    );
    await snapshot();
    assert.ok((await readSnapshot(file, origin))!.checkpoint.position > first);
    await service.restart().then((again) => again.stop());

    const model = memoryReadStore({ collections: collectionsOf(projections), load: () => readSnapshot(file, origin) });
    const { position } = await model.resume();
    assert.ok(position > 0);
    const store = await openSqliteStore({ file: log });
    const run = runProjections({
      store,
      model,
      projections,
      counted: countedEvents(),
      catchUp: 100_000,
      log: () => assert.fail('projecting stopped'),
    });
    run.start();
    await run.reached(await store.head(), 10_000);
    const fromSnapshot = contents(model.entries());
    await run.stop();
    await store.close();
    assert.deepEqual(fromSnapshot, await rebuilt(log));
  });

  it('ignore a snapshot that is damaged, or of another log or version', async () => {
    await service.stop();
    const file = `${service.folder}.snapshot`;
    const entry: Entry = {
      id: 'a',
      text: '{"a":"ü"}',
      revision: 3,
      sorts: { name: 'a' },
      filters: { f: ['x'] },
      guard: 'g',
    };
    const origin = { log: 'l', version: 'v' };
    await writeSnapshot(file, origin, { position: 7, event: 'e' }, [['c', entry]]);
    const read = (await readSnapshot(file, origin))!;
    const changes = [];
    for await (const some of read.changes) changes.push(...some);
    assert.deepEqual([read.checkpoint, changes], [{ position: 7, event: 'e' }, [{ collection: 'c', id: 'a', entry }]]);
    assert.equal(await readSnapshot(file, { ...origin, log: 'other' }), undefined);
    assert.equal(await readSnapshot(file, { ...origin, version: 'other' }), undefined);
    const bytes = readFileSync(file);
    bytes[40]! ^= 1;
    writeFileSync(file, bytes);
    assert.equal(await readSnapshot(file, origin), undefined);
    rmSync(file);
    assert.equal(await readSnapshot(file, origin), undefined);
  });
});
