import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const services = [
  { id: 'a', name: 'A' },
  { id: 'b', name: 'A' },
];

describe('service groups over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const path = '/gateway_manager/v1/service-groups';
  const make = (serviceGroup: object) => service.ask('POST', path, { serviceGroup });

  it('are created, and shown whole by id and name', async () => {
    const serviceGroup = {
      name: 'Shown',
      cluster_id: 'eu',
      description: 'd',
      is_default: true,
      groups: ['ops'],
      services,
    };
    const made = await who.member('POST', path, {
      serviceGroup: { ...serviceGroup, groups: [{ name: 'ops', provenance: 'local' }] },
    });
    const { id } = ok(made);
    assert.deepEqual(ok(made), { state: 'Success', message: 'Successfully created service group', id });
    for (const key of [id, 'Shown']) {
      const { state, result } = ok(await service.ask('GET', `${path}/${key}`));
      const { created, last_updated, ...shown } = result;
      assert.deepEqual(
        [state, shown],
        ['Success', { _id: id, ...serviceGroup, created_by: 'member', last_updated_by: 'member' }],
      );
      assert.equal(new Date(created).toISOString(), last_updated);
    }
    assert.deepEqual(ok(await service.ask('GET', `${path}?multiEquals[services]=svc-x`)).total, 0);
    assert.deepEqual(
      ok(await service.ask('GET', `${path}?multiEquals[cluster_id]=eu`)).results.map(
        ({ name }: { name: string }) => name,
      ),
      ['Shown'],
    );
  });

  it('have every field also when little was said', async () => {
    const { id } = ok(await make({ name: 'Little' }));
    const { created, last_updated, ...rest } = ok(await service.ask('GET', `${path}/${id}`)).result;
    assert.deepEqual(rest, {
      _id: id,
      name: 'Little',
      cluster_id: '',
      description: '',
      created_by: 'admin',
      last_updated_by: 'admin',
      is_default: false,
      groups: [],
      services: [],
    });
    assert.equal(created, last_updated);
  });

  it('are the default of a cluster one at a time', async () => {
    ok(await make({ name: 'First', cluster_id: 'us', is_default: true }));
    refused(await make({ name: 'Second', cluster_id: 'us', is_default: true }), 409, /default of cluster us/);
    ok(await make({ name: 'Second', cluster_id: 'us' }));
    ok(await make({ name: 'Elsewhere', cluster_id: 'asia', is_default: true }));
    ok(await service.ask('DELETE', `${path}/First`));
    ok(await make({ name: 'Third', cluster_id: 'us', is_default: true }));
  });

  it('are deleted, and keep a group from being deleted before', async () => {
    ok(await service.ask('POST', '/authorization/groups', { name: 'leaving' }));
    const { id } = ok(await make({ name: 'Going', groups: ['leaving'] }));
    refused(await service.ask('DELETE', '/authorization/groups/leaving'), 409, /service group.*Going/);
    refused(await service.ask('DELETE', `${path}/${id}`, undefined, { 'If-Match': '"7"' }), 412);
    const { status, data } = ok(await service.ask('DELETE', `${path}/${id}`));
    assert.deepEqual([status, data.name, data.created_by], ['OK', 'Going', 'admin']);
    for (const method of ['GET', 'DELETE']) refused(await service.ask(method, `${path}/${id}`), 404);
    ok(await service.ask('DELETE', '/authorization/groups/leaving'));
    ok(await make({ name: 'Going' }));
  });
});
