import assert from 'node:assert/strict';
import { exactText, exactValue } from '@automation-platform/json';
import { ok, refused } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const mask = '********';
const manager = '/configuration_manager';
const id = (digit: string) => digit.repeat(24);

/** A golden configuration as installations publish them: two versions of one tree. */
const published = (name: string, digit: string, more: object = {}) => ({
  status: 'success',
  data: ['initial', 'v2'].map((version, i) => ({
    _id: id(String(i)),
    base: i === 0 ? '' : 'initial',
    created: '2023-05-04T09:00:00.000Z',
    createdBy: 'nora',
    deviceType: 'cisco-ios',
    gbac: { write: [], read: [] },
    name,
    root: {
      attributes: {
        configId: id(digit),
        deviceGroups: [],
        devices: ['r1'],
        export: {},
        remediationWorkflow: null,
        ruleSet: { rules: ['ntp server <!ntp!>'] },
        tasks: [],
      },
      children: [
        { name: 'Bonn', attributes: { devices: ['r2'] }, children: [] },
        { name: 'Bonn', attributes: { configId: 'of another form' } },
      ],
      name: 'base',
    },
    tags: [],
    treeId: id(digit),
    version,
    ...more,
  })),
  taskInstances: [{ _id: id('9'), taskName: 'compare', taskParams: { depth: 2 } }],
});

describe('Golden configurations of other installations', () => {
  const service = useService();

  const take = (tree: unknown, more: object = {}) =>
    service.ask('POST', `${manager}/import/configs`, { trees: [tree], ...more });
  const taken = async (tree: unknown, more: object = {}) => {
    const answer = await take(tree, more);
    const [{ success, data, missingSecrets }] = ok(answer).data;
    assert.ok(success, answer.text);
    return { data, missingSecrets, position: answer.headers.get('x-event-position') };
  };
  const given = async (tree: string, as?: 'imported') =>
    ok(await service.ask('GET', `${manager}/configs/${tree}/export${as ? `?as=${as}` : ''}`));
  const shown = async (tree: string) => ok(await service.ask('GET', `${manager}/configs/${tree}`));

  it('become trees with all their versions and nodes; each node has an id', async () => {
    const { data } = await taken(published('Routers', 'a'));
    const [first, second] = data.versions;
    assert.deepEqual(
      [data._id, data.name, data.deviceType, first.name, second.name],
      [id('a'), 'Routers', 'cisco-ios', 'initial', 'v2'],
    );
    assert.deepEqual(Object.keys(first), ['name', 'root', 'variables']);
    const { configId, children } = first.root;
    assert.equal(configId, id('a'));
    assert.deepEqual(
      children.map(({ name }: { name: string }) => name),
      ['Bonn', 'Bonn'],
    );
    const ids = children.map((child: { configId: string }) => child.configId);
    for (const one of ids) assert.match(one, /^[0-9a-f]{24}$/);
    assert.equal(new Set([configId, ...ids]).size, 3);
    assert.deepEqual(await shown('Routers'), data);
  });

  it('name their tree in any of their versions', async () => {
    const document = published('Named once', '1');
    const [{ treeId: _, ...initial }, v2] = document.data as [(typeof document.data)[0], (typeof document.data)[0]];
    const once = { ...document, data: [initial, v2] };
    assert.equal((await taken(once)).data._id, id('1'));
    assert.deepEqual(await given('Named once', 'imported'), once);
  });

  it('are given back as they came, and in our own words with all that is not ours', async () => {
    const document = published('Whole', 'b', { variables: { ntp: '10.0.0.1' } });
    await taken(document);
    assert.deepEqual(await given('Whole', 'imported'), document);
    const ours = await given('Whole');
    assert.deepEqual(Object.keys(ours), ['_id', 'name', 'deviceType', 'versions', 'status', 'taskInstances']);
    const [version] = ours.versions;
    assert.deepEqual(
      [version._id, version.base, version.variables, version.root.attributes],
      [
        id('0'),
        '',
        { ntp: '10.0.0.1' },
        {
          deviceGroups: [],
          devices: ['r1'],
          export: {},
          remediationWorkflow: null,
          ruleSet: { rules: ['ntp server <!ntp!>'] },
          tasks: [],
        },
      ],
    );
    assert.deepEqual(version.root.children[1].attributes, { configId: 'of another form' });
  });

  it('are no change a second time, in either form', async () => {
    const document = published('Twice', 'c');
    const { position } = await taken(document);
    for (const again of [document, await given('Twice'), await given('Twice', 'imported')])
      assert.equal((await taken(again)).position, position);
    const other = structuredClone(document);
    other.data[1]!.root.attributes.devices = ['r9'];
    refused(await take(other), 409, /"\/trees\/0\/data\/0\/treeId"/);
    await taken(other, { overwrite: true });
    assert.deepEqual(await given('Twice', 'imported'), other);
    refused(await take(published('Twice', 'd')), 409, /"\/trees\/0\/data\/0\/name"/);
  });

  it('are exported with their texts and lines, a document for each version, and that is no change, or comes in anew', async () => {
    await taken(published('Documents', '5'));
    await taken({
      name: 'Own',
      versions: [{ name: 'initial', root: { name: 'base', configId: id('7'), children: [] } }],
    });
    ok(await service.ask('POST', `${manager}/configs`, { name: 'Made', deviceType: 'cisco-ios' }));
    const exported = async (treeId: string) =>
      ok(await service.ask('POST', `${manager}/export/goldenconfigs`, { treeId }));
    const send = (trees: readonly object[], options: object = {}) =>
      service.ask('POST', `${manager}/import/goldenconfigs`, { trees, options });
    for (const name of ['Documents', 'Own', 'Made']) {
      const version = ok(await service.ask('GET', `${manager}/configs/${name}/initial`));
      const { configId } = version.root.attributes;
      const text = { treeId: name, treeVersion: 'initial', nodePath: 'base', updateVariables: true };
      const data = { template: '<e/>ntp server {{ ntp }}', variables: { ntp: '192.0.2.1', password: 'hunter2' } };
      ok(await service.ask('PUT', `${manager}/node/config`, { ...text, data }));
      const document = await exported(name);
      const [{ treeId, root, variables, deviceType, ...item }] = document.data;
      assert.deepEqual([document.status, item.name, item.version, treeId], ['success', name, 'initial', version.id]);
      const { _id, lines, ...rest } = root.attributes.export;
      assert.deepEqual([_id, rest], [configId, { deviceType, template: data.template }]);
      assert.deepEqual(
        lines.map(({ words, severity }: any) => [words.map(({ value }: any) => value).join(' '), severity]),
        [['ntp server 192.0.2.1', 'error']],
      );
      assert.deepEqual(variables, { ntp: '192.0.2.1', password: mask });
      const again = ok(await send([document]));
      assert.deepEqual([again.status, again.data[0].success], ['success', true], 'the export is no change');
      const other = structuredClone(document);
      other.data[0].root.attributes.export.template = 'ntp server 192.0.2.9';
      refused(await send([other]), 409, /trees\/0\/data\/0\/treeId/);
      const { status, data: results } = ok(await send([document, other]));
      assert.deepEqual([status, results.map(({ success }: any) => success)], ['incomplete', [true, false]]);
      ok(await service.ask('DELETE', `${manager}/configs/${name}`));
      const [{ success, missingSecrets }] = ok(await send([document])).data;
      assert.deepEqual([success, missingSecrets], [true, ['/trees/0/data/0/variables/password']]);
      assert.deepEqual(await exported(name), document, 'the import gives the export');
      ok(await send([{ ...other, overWrite: true }]));
      assert.equal((await exported(name)).data[0].root.attributes.export.template, 'ntp server 192.0.2.9');
    }
  });

  it('are exported with what was changed here, in both words, and come in again', async () => {
    const document = published('Changed', 'e');
    await taken(document);
    const path = `${manager}/configs/Changed`;
    ok(await service.ask('PUT', `${manager}/configs/variables/${id('e')}/v2`, { variables: { mtu: 9000 } }));
    const node = ok(await service.ask('POST', `${path}/v2/nodes`, { name: 'Kiel' }));
    ok(await service.ask('POST', `${path}/v2/base%2FKiel/devices`, { devices: ['lab-01'] }));
    ok(await service.ask('POST', `${path}/versions`, { name: 'v3', base: 'initial' }));
    const theirs = await given('Changed', 'imported');
    const [initial, v2] = document.data;
    assert.deepEqual(theirs.data[0], initial);
    assert.deepEqual(theirs.data[1], {
      ...v2,
      root: {
        ...v2!.root,
        children: [
          ...v2!.root.children,
          { name: 'Kiel', attributes: { configId: node.configId, devices: ['lab-01'] }, children: [] },
        ],
      },
      variables: { mtu: 9000 },
    });
    const { name, treeId, version, root } = theirs.data[2];
    assert.deepEqual([name, treeId, version, root.name, root.children.length], ['Changed', id('e'), 'v3', 'base', 2]);
    const ours = await given('Changed');
    const { configId: _, ...attributes } = v2!.root.attributes;
    assert.deepEqual(ours.versions[1].root.attributes, attributes);
    assert.deepEqual(ours.versions[1].variables, { mtu: 9000 });
    const { position } = await taken(theirs);
    assert.equal((await taken(ours)).position, position);
    const elsewhere = await startService();
    try {
      for (const [document, inOtherWords] of [
        [ours, theirs],
        [theirs, ours],
      ]) {
        // The document in its other words is no change, so it does not replace what came in.
        for (const tree of [document, inOtherWords]) {
          ok(await elsewhere.ask('POST', `${manager}/import/configs`, { trees: [tree], overwrite: true }));
          const back = `${manager}/configs/Changed/export?as=imported`;
          assert.deepEqual(ok(await elsewhere.ask('GET', back)), document);
        }
        ok(await elsewhere.ask('DELETE', `${manager}/configs/Changed`));
      }
    } finally {
      await elsewhere.stop();
    }
  });

  it('keep numbers and orders as they were written, in variables too', async () => {
    const text =
      `{"data":[{"version":"1.0","name":"Exact","treeId":"${id('f')}","weight":1.50,` +
      `"variables":{"10":1e3,"2":12345678901234567890,"b":1.0},"root":{"name":"base","children":[]}}]}`;
    ok(await service.ask('POST', `${manager}/import/configs`, `{"trees":[${text}]}`));
    const exact = async (path: string) => exactText(exactValue((await service.ask('GET', path)).text));
    assert.equal(await exact(`${manager}/configs/Exact/export?as=imported`), text);
    const variables = '"variables":{"10":1e3,"2":12345678901234567890,"b":1.0}';
    for (const path of [`${manager}/configs/Exact`, `${manager}/configs/Exact/export`])
      assert.ok((await exact(path)).includes(variables), path);
    ok(await service.ask('PUT', `${manager}/configs/variables/${id('f')}/1.0`, { variables: { b: 2, c: 3 } }));
    const after = '"variables":{"10":1e3,"2":12345678901234567890,"b":2,"c":3}';
    ok(await service.ask('DELETE', `${manager}/configs/variables/${id('f')}/1.0`, { variables: { c: 0 } }));
    for (const path of [`${manager}/configs/Exact`, `${manager}/configs/Exact/export?as=imported`])
      assert.ok((await exact(path)).includes(after.replace(',"c":3', '')), path);
  });

  it('hide their secrets; a mask keeps the secret, or is missing', async () => {
    const secret = (variable: string, param: string, name = 'Secret') => ({
      ...published(name, '7', { variables: { site: 'a', password: variable } }),
      taskInstances: [{ taskParams: { apiKey: param } }],
    });
    const { missingSecrets } = await taken(secret('hunter2', mask));
    assert.deepEqual(missingSecrets, ['/trees/0/taskInstances/0/taskParams/apiKey']);
    const { position } = await taken(secret(mask, mask));
    for (const export_ of [await given('Secret'), await given('Secret', 'imported'), await shown('Secret')])
      assert.doesNotMatch(JSON.stringify(export_), /hunter2/);
    assert.deepEqual(await given('Secret', 'imported'), secret(mask, mask));
    const ours = await taken(await given('Secret'));
    assert.deepEqual([ours.position, ours.missingSecrets], [position, missingSecrets]);
    await taken(secret('hunter3', 'key-1'), { overwrite: true });
    assert.equal((await taken(secret(mask, mask))).missingSecrets, undefined);
    refused(await take(secret('hunter3', mask)), 409);

    const alone = (
      await taken({
        ...secret(mask, mask, 'Alone'),
        data: published('Alone', '8', { variables: { password: mask } }).data,
      })
    ).missingSecrets;
    assert.deepEqual(alone, [
      '/trees/0/data/0/variables/password',
      '/trees/0/data/1/variables/password',
      '/trees/0/taskInstances/0/taskParams/apiKey',
    ]);
    const put = (password: string) =>
      service.ask('PUT', `${manager}/configs/variables/${id('8')}/v2`, { variables: { password } });
    ok(await put(mask));
    ok(await put('known now'));
    assert.deepEqual((await taken(await given('Alone', 'imported'))).missingSecrets, [alone[0], alone[2]]);
  });

  it('are installed by packages, which give them back', async () => {
    const bundles = [{ type: 'golden-config', data: published('Packed', '9', { variables: { token: 'hunter4' } }) }];
    const prebuilt = {
      metadata: {
        name: 'trees',
        version: '1',
        description: '',
        author: 'a',
        license: 'MIT',
        repository: { type: 'local' },
        PlatformDependencies: {},
      },
      manifest: { bundleName: 'trees' },
      bundles,
      readme: '',
    };
    const install = async () => {
      const answer = await service.ask('POST', '/prebuilts/import', { prebuilt });
      return { ...ok(answer).data, position: answer.headers.get('x-event-position') };
    };
    const { installed, refused: none } = await install();
    assert.deepEqual(
      [installed.map(({ _id, name }: { _id: string; name: string }) => [_id, name]), none],
      [[[id('9'), 'Packed']], []],
    );
    const back = await given('Packed', 'imported');
    assert.deepEqual(back, published('Packed', '9', { variables: { token: mask } }));
    const exported = ok(await service.ask('GET', '/prebuilts/trees/export'));
    assert.deepEqual(exported.bundles[0].data, back);
    const { position } = await taken(back);
    assert.equal((await taken(exported.bundles[0].data)).position, position);
  });

  it('are refused with the path when they are no tree', async () => {
    const document = published('Odd', '6');
    const [initial, v2] = document.data;
    const refusals: readonly (readonly [unknown, string])[] = [
      [{ data: [] }, '/data'],
      [{ data: 'x' }, '/data'],
      [{}, '/name'],
      [{ data: [{ ...initial, name: undefined }] }, '/data/0/name'],
      [{ data: [{ ...initial, version: 2 }] }, '/data/0/version'],
      [{ data: [{ ...initial, root: [] }] }, '/data/0/root'],
      [{ data: [initial, { ...v2, version: 'initial' }] }, '/data/1/version'],
      [{ data: [initial, { ...v2, treeId: id('5') }] }, '/data/1/treeId'],
      [{ data: [{ ...initial, root: { name: 'r', children: ['x'] } }] }, '/data/0/root/children/0'],
      [{ name: 'Odd', versions: [] }, '/versions'],
      [{ name: 'Odd', versions: [{ name: 'v', root: { name: 'r', children: [] } }] }, '/versions/0/root'],
    ];
    for (const [tree, at] of refusals) refused(await take(tree), 400, new RegExp(`"/trees/0${at}`));
    refused(await service.ask('GET', `${manager}/configs/Odd`), 404);
    refused(await service.ask('GET', `${manager}/configs/Odd/export`), 404);
  });

  it('are taken one by one, each all or nothing', async () => {
    const answer = await service.ask('POST', `${manager}/import/configs`, {
      trees: [published('One', '4'), { data: [] }, { ...published('Three', '3'), data: published('Three', '3').data }],
    });
    refused(answer, 400, /"\/trees\/1\/data"/);
    const some = ok(
      await service.ask('POST', `${manager}/import/configs`, {
        trees: [published('One', '4'), { data: [{ ...published('x', '2').data[0], root: { children: [1] } }] }],
      }),
    );
    assert.deepEqual(
      some.data.map(({ success }: { success: boolean }) => success),
      [true, false],
    );
  });
});
