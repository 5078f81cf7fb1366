import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Golden configuration trees over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const path = '/configuration_manager/configs';
  const make = async (name: string) => ok(await service.ask('POST', path, { name }));

  it('are created with an initial version, and show up by id and name', async () => {
    const answer = await service.ask('POST', path, { name: 'Made', deviceType: 'cisco-ios' });
    const tree = ok(answer);
    const [
      {
        root: { configId },
      },
    ] = tree.versions;
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
      assert.equal(shown.headers.get('etag'), answer.headers.get('etag'));
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
});
