import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Groups over HTTP', () => {
  const models = '/lifecycle-manager/resources';
  const path = `${models}/VLAN/groups`;
  const service = useService();
  const some = usePeople(service);
  const ids: Record<string, string> = {};
  before(async () => {
    for (const model of ['VLAN', 'Other']) {
      ok(await service.ask('POST', models, { name: model, schema: {} }));
      for (const name of ['a', 'b', 'c', `only in ${model}`])
        ids[`${model} ${name}`] = ok(
          await service.ask('POST', `${models}/${model}/instances`, { name, instanceData: {} }),
        ).data._id;
    }
  });
  afterEach(() => assert.deepEqual(service.lines, []));
  const patch = (group: string, body: object, headers: Record<string, string> = {}) =>
    service.ask('PATCH', `${path}/${group}`, body, headers);

  it('are made, listed, found and deleted', async () => {
    const answer = ok(
      await some.member('POST', path, { name: 'Edge', description: 'At the edge', instances: ['a', ids['VLAN b']] }),
    );
    assert.deepEqual(answer.metadata, { added: 2, removed: 0, total: 2 });
    const { data } = answer;
    assert.deepEqual(Object.keys(data).sort(), [
      '_id',
      'created',
      'createdBy',
      'description',
      'lastUpdated',
      'lastUpdatedBy',
      'modelId',
      'name',
    ]);
    assert.equal(data.createdBy.username, 'member');
    assert.deepEqual(ok(await some.reader('GET', `${path}/Edge`)).data, data);
    assert.deepEqual(ok(await some.reader('GET', path)).data, [data]);
    refused(await service.ask('POST', path, { name: 'Edge' }), 409, /name/);
    ok(await service.ask('POST', `${models}/Other/groups`, { name: 'Edge' }));
    refused(await service.ask('GET', `${models}/Other/groups/${data._id}`), 404);
    refused(await some.reader('DELETE', `${path}/Edge`), 403);
    ok(await service.ask('DELETE', `${path}/Edge`));
    refused(await service.ask('GET', `${path}/Edge`), 404);
  });

  it('change their members by id or name, of model and group by either', async () => {
    const {
      data: { _id, modelId },
    } = ok(await service.ask('POST', path, { name: 'Core' }));
    assert.deepEqual(ok(await patch('Core', { instancesToAdd: ['a', ids['VLAN b']] })).metadata, {
      added: 2,
      removed: 0,
      total: 2,
    });
    const both = ok(
      await service.ask('PATCH', `${models}/${modelId}/groups/${_id}`, {
        instancesToAdd: ['c', 'a'],
        instancesToRemove: ['b', 'only in VLAN'],
      }),
    );
    assert.deepEqual(both.metadata, { added: 1, removed: 1, total: 2 });
    const again = await patch('Core', { instancesToAdd: ['c', 'a'], instancesToRemove: ['b'] });
    assert.deepEqual([ok(again).metadata, again.body.data], [{ added: 0, removed: 0, total: 2 }, both.data]);
    assert.deepEqual(ok(await patch('Core', {})).metadata, { added: 0, removed: 0, total: 2 });
  });

  it('refuse strangers and those of other models, naming all, and change nothing', async () => {
    const before = ok(await service.ask('GET', `${path}/Core`)).data;
    const answer = await patch('Core', {
      instancesToAdd: ['b', 'nobody', ids['Other a']],
      instancesToRemove: ['only in Other'],
    });
    refused(answer, 404);
    assert.deepEqual(
      answer.body.metadata.errors.map(({ path }: { path: string }) => path),
      ['/instancesToAdd/1', '/instancesToAdd/2', '/instancesToRemove/0'],
    );
    refused(
      await patch('Core', { instancesToAdd: ['a'], instancesToRemove: [ids['VLAN a']] }),
      400,
      /\/instancesToRemove\/0/,
    );
    refused(await patch('Core', { instancesToAdd: [{ _id: ids['VLAN a'] }] }), 400, /\/instancesToAdd\/0/);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Core`)).data, before);
  });

  it('lose instances that are deleted', async () => {
    ok(await service.ask('DELETE', `${models}/VLAN/instances/a`));
    assert.deepEqual(ok(await patch('Core', {})).metadata, { added: 0, removed: 0, total: 1 });
    ok(await service.ask('POST', `${models}/VLAN/instances`, { name: 'a', instanceData: {} }));
    assert.deepEqual(
      ok(await patch('Core', { instancesToAdd: ['a'] })).metadata,
      { added: 1, removed: 0, total: 2 },
      'a new one of that name is another one',
    );
  });
});
