import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Golden configuration trees over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const path = '/configuration_manager/configs';
  const revisionIn = ({ headers }: { readonly headers: Headers }) => headers.get('etag')?.split('-')[0];
  const make = async (name: string) => ok(await service.ask('POST', path, { name }));

  it('are created with an initial version, and show up by id and name', async () => {
    const answer = await service.ask('POST', path, { name: 'Made', deviceType: 'cisco-ios' });
    const { id, version, root, variables, ...tree } = ok(answer);
    const [
      {
        root: { configId },
      },
    ] = tree.versions;
    assert.deepEqual(
      [id, version, variables, root],
      [
        tree._id,
        'initial',
        {},
        {
          name: 'base',
          attributes: { devices: [], deviceGroups: [], remediationWorkflow: null, configId },
          children: [],
        },
      ],
    );
    assert.match(configId, /^[0-9a-f]{24}$/);
    assert.deepEqual(tree, {
      _id: tree._id,
      name: 'Made',
      deviceType: 'cisco-ios',
      created: tree.created,
      lastUpdated: tree.created,
      versions: [{ name: 'initial', root: { name: 'base', configId, children: [] }, variables: {} }],
    });
    for (const id of [tree._id, 'Made']) {
      const shown = await service.ask('GET', `${path}/${id}`);
      assert.deepEqual(ok(shown), tree);
      // The answer to the creation shows its version, too.
      assert.equal(revisionIn(shown), revisionIn(answer));
    }
    assert.deepEqual(ok(await service.ask('GET', `${path}?multiEquals[deviceType]=cisco-ios`)), {
      results: [tree],
      total: 1,
    });
  });

  it('get versions and nodes', async () => {
    const {
      _id,
      versions: [{ root }],
    } = await make('Growing');
    const bonn = ok(await service.ask('POST', `${path}/${_id}/initial/nodes`, { name: 'Bonn' }));
    assert.deepEqual(bonn, { name: 'Bonn', configId: bonn.configId, children: [] });
    const answer = ok(await service.ask('POST', `${path}/Growing/versions`, { name: 'v 2' }));
    assert.deepEqual(
      [answer.status, answer.message, answer.data.versions.length],
      ['OK', 'Successfully added version', 2],
    );
    const copy = answer.data.versions[1].root;
    const [copied] = copy.children;
    assert.notEqual(copied.configId, bonn.configId);
    const rack = ok(
      await service.ask('POST', `${path}/${_id}/v%202/nodes`, { name: 'Rack 1', parent: copied.configId }),
    );
    const { versions } = ok(await service.ask('GET', `${path}/${_id}`));
    assert.deepEqual(
      versions.map((version: { root: unknown }) => version.root),
      [
        { ...root, children: [bonn] },
        { ...copy, children: [{ ...copied, children: [rack] }] },
      ],
    );
  });

  it('have variables that are set by merging, and deleted all or none', async () => {
    const { _id } = await make('Variables');
    const url = `${path}/variables/${_id}/initial`;
    const variables = async () => ok(await service.ask('GET', `${path}/${_id}`)).versions[0].variables;
    const set = ok(await service.ask('PUT', url, { variables: { ntp: '10.0.0.1', mtu: 1500 } }));
    assert.deepEqual([set.status, set.message, set.data._id], ['OK', 'Successfully set variables', _id]);
    ok(await service.ask('PUT', url, { variables: { mtu: { in: 9000 } } }));
    assert.deepEqual(await variables(), { ntp: '10.0.0.1', mtu: { in: 9000 } });
    refused(await service.ask('DELETE', url, { variables: { ntp: null, dns: null, snmp: null } }), 404, /dns, snmp/);
    assert.deepEqual(Object.keys(await variables()), ['ntp', 'mtu']);
    const deleted = await service.ask('DELETE', url, { variables: { ntp: null } });
    assert.deepEqual(ok(deleted), { status: 'success', message: 'Successfully deleted variables' });
    assert.deepEqual(await variables(), { mtu: { in: 9000 } });
    assert.equal(ok(await service.ask('DELETE', url, { variables: {} })).status, 'success');
  });

  it('are deleted unless plans refer to them, which are named', async () => {
    const {
      _id,
      versions: [
        {
          root: { configId },
        },
      ],
    } = await make('Referred');
    const nodes = [{ treeId: _id, version: 'initial', nodeId: configId }];
    const plans = await Promise.all(
      [
        { name: 'Nightly', nodes },
        { name: 'Secret', nodes, gbac: { write: ['ops'] } },
      ].map(async (body) => ok(await service.ask('POST', '/configuration_manager/compliance_plans', body))._id),
    );
    refused(await service.ask('DELETE', `${path}/${_id}`), 409, /Nightly.*Secret/);
    const answer = await who.stranger('DELETE', `${path}/${_id}`);
    refused(answer, 409, /Nightly/);
    assert.doesNotMatch(answer.text, /Secret/);
    ok(await service.ask('DELETE', '/configuration_manager/compliance_plans', { planIds: plans }));
    assert.equal(ok(await service.ask('DELETE', `${path}/${_id}`)).data.name, 'Referred');
    refused(await service.ask('GET', `${path}/${_id}`), 404);
    await make('Referred');
  });

  it('are changed by the paths of their nodes', async () => {
    const made = await make('Campus');
    assert.deepEqual(
      [made.id, made.version, made.root.attributes.configId, made.variables],
      [made._id, 'initial', made.versions[0].root.configId, {}],
    );
    const group = ok(
      await service.ask('POST', '/configuration_manager/devicegroup', { name: 'Campus group', devices: ['sw-9'] }),
    );
    const base = `${path}/Campus/initial/base`;
    const child = ok(await service.ask('POST', base, { name: 'R&D / Ulm' }));
    assert.deepEqual(Object.keys(child), ['name', 'attributes', 'children']);
    const ulm = `${base}/${encodeURIComponent('R&D / Ulm')}`;
    ok(await service.ask('POST', ulm, { name: 'Rack' }));
    for (const name of ['nodes', 'devices']) refused(await service.ask('POST', ulm, { name }), 400);
    refused(await service.ask('POST', ulm, { name: 'Rack' }), 409);
    refused(await service.ask('POST', `${base}/none`, { name: 'x' }), 404, /nodePath/);

    const { attributes } = ok(await service.ask('POST', `${ulm}/devices`, { devices: ['sw-1', 'sw-2', 'sw-1'] }));
    assert.deepEqual(attributes.devices, ['sw-1', 'sw-2']);
    const groups = { treeId: 'Campus', version: 'initial', nodePath: 'base/R&D / Ulm', deviceGroups: ['Campus group'] };
    const grouped = ok(await service.ask('POST', `${path}/devices/groups`, groups));
    assert.deepEqual(grouped.attributes.deviceGroups, [{ id: group.id, name: 'Campus group' }]);
    refused(await service.ask('DELETE', `/configuration_manager/devicegroups/${group.id}`), 409, /The tree .*Campus/);
    assert.deepEqual(ok(await service.ask('DELETE', `${ulm}/devices`, { devices: ['sw-1'] })).attributes.devices, [
      'sw-2',
    ]);

    const renamed = ok(await service.ask('PUT', ulm, { name: 'Ulm' }));
    assert.deepEqual([renamed.name, renamed.attributes.configId], ['Ulm', child.attributes.configId]);
    const version = ok(await service.ask('GET', `${path}/Campus/initial`));
    assert.deepEqual(version.root.children, [renamed]);
    assert.equal(renamed.children[0].name, 'Rack');
    ok(await service.ask('DELETE', `${path}/devices/groups`, { ...groups, nodePath: '/base/Ulm' }));
    ok(await service.ask('DELETE', `/configuration_manager/devicegroups/${group.id}`));
    ok(await service.ask('DELETE', `${base}/Ulm`));
    refused(await service.ask('DELETE', base), 409);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Campus/initial`)).root.children, []);
  });

  it('and versions keep their names and nodes while a plan names them', async () => {
    const { _id: treeId } = await make('Planned');
    const planned = `${path}/Planned/initial`;
    const { attributes } = ok(await service.ask('POST', `${planned}/base`, { name: 'Bonn' }));
    ok(await service.ask('POST', `${planned}/base/Bonn`, { name: 'Rack' }));
    ok(await service.ask('POST', `${path}/Planned`, { name: 'next', base: 'initial' }));
    const rack = ok(await service.ask('GET', planned)).root.children[0].children[0].attributes.configId;
    const plan = ok(
      await service.ask('POST', '/configuration_manager/compliance_plans', {
        name: 'Of Bonn',
        nodes: [{ treeId, version: 'initial', nodeId: rack }],
      }),
    );
    const answers = [
      await service.ask('PUT', planned, { name: 'first' }),
      await service.ask('DELETE', planned),
      await service.ask('DELETE', `${planned}/base/Bonn`),
    ];
    for (const answer of answers) refused(answer, 409, /Of Bonn/);
    assert.equal(ok(await service.ask('PUT', `${planned}/base/Bonn`, { name: 'Köln' })).name, 'Köln');
    ok(await service.ask('DELETE', `${path}/Planned/next`));
    ok(await service.ask('DELETE', '/configuration_manager/compliance_plans', { planIds: [plan._id] }));
    const first = ok(await service.ask('PUT', planned, { name: 'first', variables: { ntp: '192.0.2.1' } }));
    assert.deepEqual([first.version, first.variables], ['first', { ntp: '192.0.2.1' }]);
    refused(await service.ask('DELETE', `${path}/Planned/first`), 409, /last version/);
    const changed = ok(await service.ask('PUT', `${path}/Planned`, { name: 'Replanned', deviceType: 'arista-eos' }));
    assert.deepEqual([changed.data.name, changed.data.deviceType], ['Replanned', 'arista-eos']);
    assert.equal(
      attributes.configId,
      ok(await service.ask('GET', `${path}/Replanned/first`)).root.children[0].attributes.configId,
    );
  });

  it('are one bare list without a query', async () => {
    const { _id } = await make('Listed');
    const all = ok(await service.ask('GET', path));
    const { created, lastUpdated, ...listed } = all.find(({ id }: { id: string }) => id === _id);
    assert.deepEqual(listed, {
      id: _id,
      name: 'Listed',
      deviceType: null,
      versions: ['initial'],
      gbac: { read: [], write: [] },
      tags: [],
    });
    assert.equal(created, lastUpdated);
    assert.equal(ok(await service.ask('GET', `${path}?limit=1000`)).total, all.length);
  });
});
