import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { positionOf } from '../../support/hostile.ts';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, refused } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

/** How many nodes one request adds; in a soak, as many as it may. */
const atOnce = process.env.SOAK_ROUNDS ? 10_000 : 2000;

describe('inventories over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const base = '/inventory_manager/v1';
  const make = async (name: string, nodes: readonly unknown[] = []): Promise<string> => {
    const { data } = ok(await service.ask('POST', `${base}/inventories`, { name }));
    if (nodes.length > 0) ok(await service.ask('POST', `${base}/inventories/${data._id}/nodes`, { nodes }));
    return data._id;
  };
  const add = (id: string, nodes: readonly unknown[], headers = {}) =>
    service.ask('POST', `${base}/inventories/${encodeURIComponent(id)}/nodes`, { nodes }, headers);
  const nodesOf = async (id: string, query = '') =>
    ok(await service.ask('GET', `${base}/inventories/${encodeURIComponent(id)}/nodes${query}`));
  const clearing = (identifier: string, headers = {}) =>
    service.ask('DELETE', `${base}/nodes/clear/${encodeURIComponent(identifier)}`, undefined, headers);
  const names = ({ results }: { readonly results: readonly { readonly name: string }[] }) =>
    results.map(({ name }) => name);
  it('are created, shown with usernames, listed and deleted', async () => {
    const made = ok(
      await service.ask('POST', `${base}/inventories`, {
        name: 'Shown',
        description: 'All',
        groups: ['ops', { name: 'readers' }],
      }),
    );
    const { _id, created, lastUpdated } = made.result;
    assert.match(_id, /^[0-9a-f]{24}$/);
    const doc = {
      _id,
      name: 'Shown',
      description: 'All',
      groups: ['ops', 'readers'],
      nodeCount: 0,
      created,
      createdBy: 'admin',
      lastUpdated,
      lastUpdatedBy: 'admin',
    };
    const success = (message: string, more: object) => ({ status: 'Success', message, ...more });
    assert.deepEqual(made, success('Successfully created inventory', { result: doc, data: doc }));
    for (const id of [_id, 'Shown'])
      assert.deepEqual(
        ok(await service.ask('GET', `${base}/inventories/${id}`)),
        success('Successfully retrieved inventory', { result: doc, ...doc }),
      );
    const page = { data: [doc], totalRecords: 1, currentPage: 1, pageSize: 25, totalPages: 1 };
    assert.deepEqual(
      ok(await service.ask('GET', `${base}/inventories?multiEquals[groups]=ops`)),
      success('Successfully retrieved inventories', { result: page, results: [doc], total: 1 }),
    );
    refused(await service.ask('DELETE', '/authorization/groups/ops'), 409, /inventory.*Shown/);
    assert.equal(ok(await service.ask('DELETE', `${base}/inventories/Shown`)).data.name, 'Shown');
    for (const path of [`inventories/${_id}`, `inventories/${_id}/nodes`])
      refused(await service.ask('GET', `${base}/${path}`), 404);
  });

  it('get nodes, which are listed in the one dialect', async () => {
    const id = await make('Listed');
    await make('Other', [{ name: 'Edge-1', tags: ['edge'] }]);
    const first = await add('Listed', [
      { name: 'edge-2', tags: ['edge', 'fra'] },
      { name: 'Edge-1', attributes: { host: '192.0.2.1', port: 22 }, tags: ['edge'] },
      { name: 'core-1' },
    ]);
    assert.deepEqual(ok(first), { status: 'Success', message: 'Added 3 nodes', result: { nodesAdded: 3 } });
    assert.deepEqual(ok(await add(id, [{ name: 'core-1' }, { name: 'core-2' }])).result, { nodesAdded: 1 });
    const all = await nodesOf('Listed');
    assert.deepEqual([names(all), all.total], [['core-1', 'core-2', 'Edge-1', 'edge-2'], 4]);
    const { created, _id, ...node } = all.results[2];
    assert.equal(_id, hash('sha256', `node ${id} Edge-1`, 'hex').slice(0, 24));
    assert.deepEqual(node, {
      inventory_id: id,
      name: 'Edge-1',
      attributes: { host: '192.0.2.1', port: 22 },
      tags: ['edge'],
    });
    assert.match(created, /^20.*Z$/);
    assert.deepEqual(
      [
        names(await nodesOf(id, '?order=-1&skip=1&limit=2')),
        names(await nodesOf(id, '?multiStartsWith[name]=EDGE')),
        names(await nodesOf(id, '?multiEquals[tags]=fra')),
      ],
      [['Edge-1', 'core-2'], ['Edge-1', 'edge-2'], ['edge-2']],
    );
    assert.equal((await nodesOf(id, '?multiEquals[tags]=edge')).total, 2);
    assert.equal(ok(await service.ask('GET', `${base}/inventories/${id}`)).nodeCount, 4);
    const { results, total } = await nodesOf(id, '?skip=999999999999999&limit=1000');
    assert.deepEqual([results, total], [[], 4]);
  });

  it('are cleared by id or name, and clearing an empty one stores nothing', async () => {
    const id = await make('Cleared', [{ name: 'a' }, { name: 'b' }]);
    await make('Kept', [{ name: 'a' }]);
    const answer = await clearing('Cleared');
    assert.deepEqual(ok(answer), {
      status: 'Success',
      message: 'Deleted 2 nodes',
      result: { inventory: { id, name: 'Cleared' }, statistics: { nodesDeleted: 2 } },
    });
    const again = await clearing(id);
    assert.deepEqual(ok(again), {
      status: 'Success',
      message: 'Deleted 0 nodes',
      result: { inventory: { id, name: 'Cleared' }, statistics: { nodesDeleted: 0 } },
    });
    assert.equal(again.headers.get('x-event-position'), answer.headers.get('x-event-position'));
    assert.deepEqual([(await nodesOf(id)).total, (await nodesOf('Kept')).total], [0, 1]);
    assert.deepEqual(ok(await add(id, [{ name: 'b', tags: ['other'] }])).result, { nodesAdded: 1 });
    assert.deepEqual(names(await nodesOf(id)), ['b']);
    refused(await clearing('none'), 404, /No such inventory/);
  });

  it("are meant by their id, where an identifier is one's id and another one's name", async () => {
    const id = await make('Meant', [{ name: 'a' }]);
    const other = await make(id, [{ name: 'b' }]);
    assert.equal(ok(await clearing(id)).result.inventory.name, 'Meant');
    assert.equal((await nodesOf(other)).total, 1);
  });

  it('keep secrets among attributes sealed, and the mask keeps what is there', async () => {
    const node = {
      name: 'n',
      attributes: { host: 'h', login: { user: 'u', password: 'very-secret-7' }, list: [{ token: 'hidden-8' }] },
    };
    const id = await make('Sealed', [node]);
    const shown = { host: 'h', login: { user: 'u', password: '********' }, list: [{ token: '********' }] };
    assert.deepEqual((await nodesOf(id)).results[0].attributes, shown);
    assert.deepEqual(ok(await add(id, [node])).result, { nodesAdded: 0 });
    assert.deepEqual(ok(await add(id, [{ ...node, attributes: shown }])).result, { nodesAdded: 0 });
    refused(
      await add(id, [{ ...node, attributes: { ...node.attributes, login: { user: 'u', password: 'other' } } }]),
      409,
      /"n"/,
    );
    refused(
      await add(id, [{ name: 'm', attributes: { password: '********' } }]),
      400,
      /\/nodes\/0\/attributes\/password/,
    );
    // The mask keeps no secret that would be sent elsewhere.
    const path = `${base}/inventories/${id}/nodes/n`;
    ok(await service.ask('PATCH', path, { attributes: { ...shown, site: 'x' } }));
    refused(
      await service.ask('PATCH', path, { attributes: { ...shown, host: 'elsewhere' } }),
      400,
      /\/attributes\/login\/password/,
    );
    for (const overwrite of [false, true])
      refused(
        await service.ask('POST', `${base}/inventories/${id}/nodes`, {
          nodes: [{ ...node, attributes: { ...shown, host: 'elsewhere' } }],
          overwrite,
        }),
        400,
        /\/nodes\/0\/attributes\/login\/password/,
      );
    const kept =
      keptFiles(service.folder)
        .map(({ bytes }) => bytes.toString('latin1'))
        .join('') + service.lines.join('');
    assert.ok(kept.includes('"host":"h"'));
    for (const secret of ['very-secret-7', 'hidden-8']) assert.ok(!kept.includes(secret));
  });

  it('are refused with more secrets than there may be, by the place', async () => {
    const id = await make('Strict', [{ name: 'a' }]);
    refused(
      await add(id, [{ name: 'b', attributes: { list: Array.from({ length: 10_001 }, () => ({ key: 'k' })) } }]),
      400,
      /nodes\/0\/attributes\/list\/10000\/key/,
    );
    assert.deepEqual(names(await nodesOf(id)), ['a']);
  });

  it('compare nodes in a dry run, and store nothing', async () => {
    const secret = (name: string, password: string) => ({ name, attributes: { host: 'x', password } });
    await make('Dry', [secret('same', 'p'), secret('other', 'p'), { name: 'gone' }]);
    const before = await positionOf(service);
    const bulk = (nodes: readonly object[], more = {}) =>
      service.ask('POST', `${base}/nodes/bulk`, { inventory_identifier: 'Dry', nodes, ...more });
    const target = [secret('same', 'p'), secret('other', 'q'), { name: 'constructor' }];
    const { result } = ok(await bulk(target, { dryRun: true }));
    assert.deepEqual(result, { added: ['constructor'], changed: ['other'], removed: ['gone'] });
    refused(await bulk([{ name: 'a' }, { name: 'a' }], { dryRun: true }), 400, /more than once/);
    refused(await bulk([{ name: 'a', attributes: { credential: 'none' } }], { dryRun: true }), 404, /none/);
    assert.equal(await positionOf(service), before);
    assert.deepEqual(ok(await bulk(target)).result, { data: { nodeCount: 3 } });
    const nothing = { added: [], changed: [], removed: [] };
    assert.deepEqual(ok(await bulk(target, { dryRun: true })).result, nothing);
  });

  it('show nodes, tags and counts of all that the caller sees', async () => {
    ok(await service.ask('DELETE', `${base}/inventories/Dry`));
    const inventory = async (name: string, tags: string[], groups: string[], nodes: object[]) =>
      ok(await service.ask('POST', `${base}/inventories`, { name, tags, groups, devices: nodes }));
    const tagged = (name: string, ...tags: string[]) => ({ name, tags, attributes: { token: 'secret' } });
    const before = ok(await service.ask('GET', `${base}/stats`)).result;
    await inventory('x one', ['Blue'], [], [tagged('n1', 'red', 'BLUE'), tagged('n2', 'red')]);
    await inventory('x two', ['blue'], ['ops'], [tagged('n1', 'red'), tagged('n3', 'green')]);
    const seen = async (path: string, ask: typeof service.ask = service.ask) =>
      ok(await ask('GET', `${base}${path}`)).result;
    const position = await positionOf(service);
    for (const [ask, more] of [
      [service.ask, true],
      [who.member, true],
      [who.stranger, false],
    ] as const) {
      const { data, totalRecords, totalPages } = await seen('/nodes?search=N&tags=RED&pageSize=2', ask);
      assert.deepEqual([totalRecords, totalPages, data.length], more ? [3, 2, 2] : [2, 1, 2]);
      assert.deepEqual(data[0].attributes, { token: '********' });
      const second = await seen('/nodes?tags=red&pageSize=2&page=2', ask);
      assert.deepEqual(
        second.data.map(({ name }: any) => name),
        more ? ['n1'] : [],
      );
      const descending = await seen('/nodes?tags=red&sortOrder=desc&pageSize=1', ask);
      assert.deepEqual(
        descending.data.map(({ name }: any) => name),
        more ? ['n1'] : ['n2'],
      );
      const tags = (await seen('/tags?pageSize=1000', ask)).data.filter(({ name }: any) =>
        /^(red|blue|green)$/.test(name),
      );
      assert.deepEqual(
        tags.map(({ name, inventories, nodes }: any) => [name, inventories, nodes]),
        more
          ? [
              ['blue', 2, 1],
              ['green', 0, 1],
              ['red', 0, 3],
            ]
          : [
              ['blue', 1, 1],
              ['red', 0, 2],
            ],
      );
      const found = ok(await ask('POST', `${base}/tags/search`, { tagIdentifiers: ['Green', 'blue'] })).result;
      assert.deepEqual(
        [found.inventories.map(({ name }: any) => name), found.nodes.map(({ name }: any) => name), found.totalNodes],
        more ? [['x one', 'x two'], ['n1', 'n3'], 2] : [['x one'], ['n1'], 1],
      );
      const { totalInventories, totalNodes, totalActions } = await seen('/stats', ask);
      // The inventory Shown is one of ops and readers.
      if (ask === service.ask)
        assert.deepEqual(
          [totalInventories, totalNodes, totalActions],
          [before.totalInventories + 2, before.totalNodes + 4, 0],
        );
      const earlier = await seen(`/nodes?tags=red&asOf=${position}`, ask);
      assert.equal(earlier.totalRecords, more ? 3 : 2);
    }
    const [all, some] = [await seen('/stats'), await seen('/stats', who.stranger)];
    assert.ok(all.totalNodes - some.totalNodes >= 2);
    ok(await service.ask('DELETE', `${base}/inventories/x%20two/nodes/n3`));
    assert.ok(!(await seen('/tags?pageSize=1000')).data.some(({ name }: any) => name === 'green'));
    refused(await service.ask('GET', `${base}/nodes?pageSize=1001`), 400, /pageSize/);
    refused(await service.ask('POST', `${base}/tags/search`, { tagIdentifiers: [] }), 400, /tagIdentifiers/);
  });

  it('admit one of two who add the same name at once', async () => {
    const id = await make('Raced');
    const answers = await Promise.all(['x', 'y'].map((tag) => add(id, [{ name: 'same', tags: [tag] }])));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    assert.equal((await nodesOf(id)).total, 1);
  });

  it(`with ${3 * atOnce} nodes are filled, listed and cleared, and are the same after a restart`, async function () {
    this.timeout(300_000);
    const big = await startService();
    const {
      data: { _id },
    } = ok(await big.ask('POST', `${base}/inventories`, { name: 'Big' }));
    for (let i = 0; i < 3; i++)
      assert.equal(
        ok(
          await big.ask('POST', `${base}/inventories/${_id}/nodes`, {
            nodes: Array.from({ length: atOnce }, (_, n) => ({ name: `node ${i * atOnce + n}`, tags: [`t${n % 10}`] })),
          }),
        ).result.nodesAdded,
        atOnce,
      );
    const again = await big.restart();
    const page = ok(
      await again.ask('GET', `${base}/inventories/Big/nodes?multiEquals[tags]=t3&skip=${0.3 * atOnce - 10}&limit=20`),
    );
    assert.deepEqual([page.total, page.results.length], [0.3 * atOnce, 10]);
    refused(
      await again.ask('POST', `${base}/inventories/Big/nodes`, { nodes: [{ name: `node ${3 * atOnce - 1}` }] }),
      409,
      new RegExp(`node ${3 * atOnce - 1}`),
    );
    assert.equal(ok(await again.ask('DELETE', `${base}/nodes/clear/Big`)).message, `Deleted ${3 * atOnce} nodes`);
    assert.equal(ok(await again.ask('GET', `${base}/inventories/Big/nodes`)).total, 0);
    await again.stop();
  });
});
