import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Device groups over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const area = '/configuration_manager';
  const importing = (groups: object[], headers = {}) =>
    service.ask('POST', `${area}/import/groups`, { groups }, headers);
  const shown = async (name: string) =>
    ok(await service.ask('GET', `${area}/devicegroups/${encodeURIComponent(name)}`));

  it('are created in either form, and show up by id and name', async () => {
    const { id, ...rest } = ok(
      await service.ask('POST', `${area}/devicegroup`, {
        groupName: 'Leaves',
        groupDescription: 'Data centre',
        deviceNames: 'leaf-01, leaf-02,, leaf-01',
      }),
    );
    assert.deepEqual(rest, { name: 'Leaves', message: 'Successfully created device group', status: 'success' });
    const { created, lastUpdated, ...group } = await shown('Leaves');
    assert.deepEqual(group, {
      id,
      _id: id,
      name: 'Leaves',
      description: 'Data centre',
      devices: ['leaf-01', 'leaf-02'],
      createdBy: 'admin',
      lastUpdatedBy: 'admin',
    });
    ok(await service.ask('POST', `${area}/devicegroup`, { name: 'Spines', devices: ['spine-01'] }));
    assert.deepEqual((await shown('Spines')).devices, ['spine-01']);
    const { results, total } = ok(await service.ask('GET', `${area}/deviceGroups?multiEquals[device]=leaf-02`));
    assert.deepEqual([total, results], [1, [await shown(id)]]);
    refused(await service.ask('POST', `${area}/devicegroup`, { name: 'Leaves' }), 409, /Leaves/);
  });

  it('are refused where a field is wrong, by its name', async () => {
    refused(await service.ask('POST', `${area}/devicegroup`, { groupName: 'x' }), 400, /"\/deviceNames"/);
    refused(
      await service.ask('POST', `${area}/devicegroup`, { groupName: 'x', deviceNames: `a,${'b'.repeat(257)}` }),
      400,
      /"\/deviceNames"/,
    );
    refused(await importing([{ name: 'x', device: [] }]), 400, /"\/groups\/0\/device"/);
  });

  it('are imported all or none', async () => {
    const groups = [
      { name: 'Bonn', description: 'Site', devices: ['bn-1', 'bn-2'] },
      { name: 'Köln', devices: ['k-1'] },
    ];
    const answer = await importing(groups);
    assert.deepEqual(ok(answer), { status: 'success', message: 'Successfully imported device groups' });
    assert.deepEqual((await shown('Köln')).devices, ['k-1']);
    const position = await positionOf(service);
    ok(await importing(groups));
    assert.equal(await positionOf(service), position, 'the same again is no change');

    refused(
      await importing([{ name: 'Trier' }, { name: 'Bonn' }, { name: 'Köln', description: 'other', devices: ['k-1'] }]),
      409,
      /Bonn.*Köln/,
    );
    refused(await importing([{ name: 'Trier' }, { name: 'Trier' }]), 400, /groups\/1\/name/);
    refused(await service.ask('GET', `${area}/devicegroups/Trier`), 404);
  });

  it('are taken in as lists and exports give them, with ids, times and authors', async () => {
    ok(await service.ask('POST', `${area}/devicegroup`, { name: 'Listed', devices: ['r1'] }));
    const { results } = ok(await service.ask('GET', `${area}/deviceGroups?limit=1000`));
    const before = await positionOf(service);
    ok(await importing(results));
    assert.equal(await positionOf(service), before);
    const theirs = {
      _id: '64f1c2b8e4b0123456789abc',
      name: 'Theirs',
      description: null,
      devices: ['r2'],
      created: '2023-09-03T14:00:00+02:00',
      createdBy: { username: 'somebody' },
      lastUpdatedBy: 'member',
    };
    ok(await importing([theirs]));
    const kept = ok(await who.reader('GET', `${area}/devicegroups/Theirs/export`));
    const created = '2023-09-03T12:00:00.000Z';
    assert.deepEqual(kept, {
      ...theirs,
      id: theirs._id,
      description: '',
      created,
      createdBy: 'somebody',
      lastUpdated: created,
    });
    const { position, deleted } = { position: await positionOf(service), deleted: `${area}/devicegroups/Listed` };
    ok(await importing([kept]));
    assert.equal(await positionOf(service), position);
    refused(await importing([{ ...kept, name: 'Other' }]), 409, /"\/groups\/0\/_id"/);
    refused(await importing([{ ...kept, devices: [] }]), 409, /"\/groups\/0"/);
    refused(await importing([kept, { ...kept, name: 'Other' }]), 400, /"\/groups\/1\/_id"/);
    const listed = await shown('Listed');
    ok(await service.ask('DELETE', deleted));
    ok(await importing([listed]));
    assert.deepEqual(await shown('Listed'), listed);
  });

  const at = (name: string, rest = ''): string => `${area}/deviceGroups/${encodeURIComponent(name)}${rest}`;
  const make = async (name: string, more: object = {}): Promise<string> =>
    ok(await service.ask('POST', `${area}/devicegroup`, { name, ...more })).id;

  it('change, in details or bare, under both spellings of the path', async () => {
    const id = await make('Old', { description: 'one', devices: ['r1'] });
    const updated = { status: 'success', message: 'Successfully updated device group' };
    assert.deepEqual(ok(await service.ask('PUT', at('Old'), { details: { devices: ['r2', 'r2'] } })), updated);
    const before = await positionOf(service);
    assert.deepEqual(
      ok(await service.ask('PUT', `${area}/devicegroups/${id}`, { name: 'Old', description: null, devices: ['r2'] })),
      updated,
    );
    assert.equal(await positionOf(service), before, 'the same again is no change');
    ok(await service.ask('PUT', at(id), { name: 'New', description: '' }));
    const { name, description, devices } = await shown(id);
    assert.deepEqual([name, description, devices], ['New', '', ['r2']]);
    refused(await service.ask('PUT', at('Old'), { name: 'x' }), 404);
    refused(await service.ask('PUT', at('New'), { name: 'Leaves' }), 409, /Leaves/);
    refused(await service.ask('PUT', at('New'), { details: { device: [] } }), 400, /"\/details\/device"/);
    refused(await who.reader('PUT', at('New'), { name: 'x' }), 403);
    ok(await service.ask('DELETE', at('New')));
  });

  it('gain and lose devices, each once', async () => {
    const id = await make('Joined', { devices: ['r1'] });
    ok(await service.ask('POST', at(id, '/devices'), { devices: ['r2', 'r1', 'r2', 'constructor'] }));
    assert.deepEqual((await shown(id)).devices, ['r1', 'r2', 'constructor']);
    const before = await positionOf(service);
    ok(await service.ask('POST', at(id, '/devices'), { devices: ['r2'] }));
    ok(await service.ask('DELETE', at(id, '/devices'), { devices: ['nobody'] }));
    assert.equal(await positionOf(service), before);
    ok(await service.ask('DELETE', at(id, '/devices'), { devices: ['r1', 'nobody'] }));
    assert.deepEqual((await shown(id)).devices, ['r2', 'constructor']);
    const many = Array.from({ length: 10_000 }, (_, n) => `d${n}`);
    refused(await service.ask('POST', at(id, '/devices'), { devices: many }), 400, /10000 devices/);
    ok(await service.ask('DELETE', at(id)));
  });

  it('that plans or trees name keep their names, and are not deleted', async () => {
    const [kept, named, free] = [await make('Kept'), await make('Named'), await make('Free')];
    const tree = ok(await service.ask('POST', `${area}/configs`, { name: 'Tree' }));
    const node = { treeId: tree._id, version: 'initial', nodePath: 'base', deviceGroups: ['Kept'] };
    ok(await service.ask('POST', `${area}/configs/devices/groups`, node));
    const { configId: nodeId } = tree.versions[0].root;
    const nodes = [{ treeId: tree._id, version: 'initial', nodeId, deviceGroups: ['Named'] }];
    const plan = ok(await service.ask('POST', `${area}/compliance_plans`, { name: 'Plan', nodes }));
    for (const [name, by] of [
      ['Kept', /"Tree"/],
      ['Named', /"Plan"/],
    ] as const) {
      refused(await service.ask('PUT', at(name), { name: 'Other' }), 409, by);
      refused(await service.ask('DELETE', at(name)), 409, by);
      ok(await service.ask('PUT', at(name), { description: 'x', devices: ['r1'] }));
    }
    const all = { groupIds: [free, kept, named] };
    refused(await service.ask('DELETE', `${area}/deviceGroups`, all), 409, /"Tree".*"Plan"/);
    refused(await service.ask('DELETE', `${area}/deviceGroups?groupIds=${free}&groupIds=none`), 404, /none/);
    refused(await service.ask('DELETE', `${area}/deviceGroups?groupIds=${free}`, all), 400, /groupIds/);
    assert.equal((await shown('Free'))._id, free, 'none is deleted');
    ok(await service.ask('DELETE', `${area}/compliance_plans`, { planIds: [plan._id] }));
    ok(await service.ask('DELETE', `${area}/configs/devices/groups`, node));
    assert.deepEqual(ok(await service.ask('DELETE', `${area}/devicegroups?groupIds=${kept}&groupIds=${named}`)), {
      status: 'success',
      deleted: 2,
    });
    assert.deepEqual(ok(await service.ask('DELETE', `${area}/deviceGroups`, { groupIds: [free, free] })).deleted, 1);
    for (const name of ['Kept', 'Named', 'Free']) refused(await service.ask('GET', at(name)), 404);
  });

  it('are searched, found by device, exported and taken back', async () => {
    const groups = Array.from({ length: 101 }, (_, n) => ({
      name: `site ${String(n).padStart(3, '0')}`,
      devices: [`s${n}`],
    }));
    ok(await importing(groups));
    const found = ok(await who.reader('POST', `${area}/deviceGroups/search`, { name: 'SITE' }));
    assert.deepEqual([found.total, found.results.length, found.results[0].name], [101, 100, 'site 000']);
    const page = { name: 'site', options: { start: 100, limit: 100 } };
    assert.deepEqual(
      ok(await service.ask('POST', `${area}/deviceGroups/search`, page)).results.map(({ name }: any) => name),
      ['site 100'],
    );
    refused(await service.ask('POST', `${area}/deviceGroups/search`, { options: { limit: 101 } }), 400, /limit/);
    const ofDevice = ok(await service.ask('GET', `${area}/groups/device/s7`));
    assert.deepEqual(ofDevice, [await shown('site 007')]);
    assert.deepEqual(ok(await service.ask('GET', `${area}/groups/device/nobody`)), []);
    const ids = ['site 001', 'site 002'].map((name) => found.results.find((one: any) => one.name === name).id);
    const packed = ok(await service.ask('POST', `${area}/export/groups`, { groupIds: ids }));
    assert.deepEqual(packed, { groups: [await shown('site 001'), await shown('site 002')] });
    assert.ok(ok(await service.ask('POST', `${area}/export/groups`)).groups.length > 101);
    refused(await service.ask('POST', `${area}/export/groups`, { groupIds: ['none'] }), 404, /none/);
    ok(await service.ask('DELETE', `${area}/deviceGroups`, { groupIds: ids }));
    ok(await service.ask('POST', `${area}/import/groups`, packed));
    assert.deepEqual(await shown(ids[0]), packed.groups[0]);
    const all = ok(await service.ask('GET', `${area}/deviceGroups`));
    const before = await positionOf(service);
    ok(await importing(all));
    assert.equal(await positionOf(service), before, 'the import takes the bare list');
  });

  describe('that are queries', () => {
    const lab = (name: string, tags: string[], attributes: object = {}) => ({
      name,
      tags,
      attributes: { host: '192.0.2.9', protocol: 'lab', ...attributes },
    });
    const devices = async (name: string, ask = service.ask): Promise<unknown> => ok(await ask('GET', at(name))).devices;

    before(async () => {
      for (const [name, nodes, groups] of [
        ['open', [lab('q1', ['core', 'fra'], { platform: 'eos' }), lab('q2', ['core'])], []],
        ['ops only', [lab('q3', ['core', 'fra'], { ostype: 'eos' })], ['ops']],
      ] as const)
        ok(await service.ask('POST', '/inventory_manager/v1/inventories', { name, devices: nodes, groups }));
    });

    it('have the devices that fit all of it, as each caller sees them', async () => {
      await make('Core', { query: { tags: ['Core'] } });
      await make('Frankfurt', { query: { tags: ['fra', 'core'], ostype: 'eos' } });
      await make('Closed', { query: { inventory: 'ops only' } });
      const seen = async (ask = service.ask) => [
        await devices('Core', ask),
        await devices('Frankfurt', ask),
        await devices('Closed', ask),
      ];
      assert.deepEqual(await seen(), [['q1', 'q2', 'q3'], ['q1', 'q3'], ['q3']]);
      assert.deepEqual(await seen(who.member), [['q1', 'q2', 'q3'], ['q1', 'q3'], ['q3']]);
      assert.deepEqual(await seen(who.stranger), [['q1', 'q2'], ['q1'], []]);
      const listed = ok(await who.stranger('GET', `${area}/deviceGroups`)).find((one: any) => one.name === 'Core');
      assert.deepEqual([listed.devices, listed.query], [['q1', 'q2'], { tags: ['core'] }]);
      const named = async (device: string, ask = service.ask) =>
        ok(await ask('GET', `${area}/groups/device/${device}`)).map(({ name }: any) => name);
      assert.deepEqual(await named('q3'), ['Closed', 'Core', 'Frankfurt']);
      assert.deepEqual(await named('q3', who.stranger), []);
      assert.deepEqual(await named('q1', who.stranger), ['Core', 'Frankfurt']);
    });

    it('stand for their devices in runs of command templates, as the caller sees them', async () => {
      ok(
        await service.ask('POST', '/mop/createTemplate', {
          mop: { name: 'version', commands: [{ command: 'show version', rules: [] }] },
        }),
      );
      const run = (body: object, ask = service.ask) =>
        ask('POST', '/mop/RunCommandTemplate', { template: 'version', ...body });
      const asked = async (body: object, ask = service.ask) => [
        ...new Set(ok(await run(body, ask)).commands_results.map(({ device }: any) => device)),
      ];
      assert.deepEqual(await asked({ devices: ['q2'], deviceGroups: ['Core'] }), ['q2', 'q1', 'q3']);
      assert.deepEqual(await asked({ deviceGroups: ['Core', 'Frankfurt'] }, who.stranger), ['q1', 'q2']);
      refused(await run({ deviceGroups: ['Closed'] }, who.stranger), 409, /no devices/);
      refused(await run({ deviceGroups: ['none'] }), 404);
      refused(await run({}), 400, /devices/);
    });

    it('are found by their name alone', async () => {
      const named = (name: string, ask = service.ask) => ask('GET', `${area}/name/devicegroups?groupName=${name}`);
      assert.deepEqual(ok(await named('Core', who.stranger)).devices, ['q1', 'q2']);
      refused(await named('none'), 404);
      refused(await service.ask('GET', `${area}/name/devicegroups`), 400, /groupName/);
    });

    it('show the devices of the moment', async () => {
      await make('Moment', { query: { inventory: 'open', tags: ['fra'] } });
      const position = await positionOf(service);
      const node = '/inventory_manager/v1/inventories/open/nodes/q2';
      ok(await service.ask('PATCH', node, { tags: ['core', 'fra'] }));
      assert.deepEqual(await devices('Moment'), ['q1', 'q2']);
      assert.deepEqual(ok(await who.stranger('GET', at('Moment', `?asOf=${position}`))).devices, ['q1']);
      assert.deepEqual(ok(await who.stranger('GET', at('Closed', `?asOf=${position}`))).devices, []);
      ok(await service.ask('PATCH', node, { tags: ['core'] }));
    });

    it('have no list beside, and become one', async () => {
      const query = { tags: ['core'] };
      refused(await service.ask('POST', `${area}/devicegroup`, { name: 'Both', devices: [], query }), 400, /query/);
      refused(await service.ask('PUT', at('Core'), { devices: [], query }), 400, /query/);
      refused(await service.ask('POST', `${area}/devicegroup`, { name: 'None', query: {} }), 400, /"\/query"/);
      refused(await service.ask('POST', `${area}/devicegroup`, { name: 'Odd', query: { tag: 'x' } }), 400, /query/);
      refused(await service.ask('POST', at('Core', '/devices'), { devices: ['r1'] }), 409, /query/);
      refused(await service.ask('DELETE', at('Core', '/devices'), { devices: ['r1'] }), 409, /query/);
      await make('Either', { devices: ['r1'] });
      ok(await service.ask('PUT', at('Either'), { details: { query } }));
      assert.deepEqual(await devices('Either'), ['q1', 'q2', 'q3']);
      const packed = ok(await service.ask('GET', at('Either', '/export')));
      assert.deepEqual([packed.devices, packed.query], [[], query]);
      const before = await positionOf(service);
      ok(await importing([packed, ok(await service.ask('GET', at('Core')))]));
      assert.equal(await positionOf(service), before, "the devices of a query are nobody's list");
      ok(await service.ask('PUT', at('Either'), { devices: ['r2'] }));
      const { devices: listed, query: none } = await shown('Either');
      assert.deepEqual([listed, none], [['r2'], undefined]);
    });
  });
});
