import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Automations over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const path = '/operations-manager/automations';
  const make = async (body: object) => ok(await service.ask('POST', path, body)).data;

  it('have unique names, free again after a rename or a delete', async () => {
    const { _id } = await make({ name: 'Unique' });
    refused(await service.ask('POST', path, { name: 'Unique' }), 409, /Unique/);
    ok(await service.ask('PATCH', `${path}/${_id}`, { name: 'Renamed' }));
    await make({ name: 'Unique' });
    ok(await service.ask('DELETE', `${path}/Unique`));
    await make({ name: 'Unique' });
  });

  it('change by what a patch says, and not when someone else was faster', async () => {
    const { _id, lastUpdated } = await make({ name: 'Changing', description: 'Before' });
    const changed = await service.ask('PATCH', `${path}/${_id}`, { description: 'After' }, { 'If-Match': '"0"' });
    assert.equal(ok(changed).data.description, 'After');
    assert.ok(ok(changed).data.lastUpdated >= lastUpdated);
    assert.equal(ok(await service.ask('GET', `${path}/${_id}`)).data.description, 'After');
  });

  it('are for members of their groups only: hidden from others, not counted, closed to readers', async () => {
    const hidden = await make({ name: 'Hidden', componentType: 'hidden', gbac: { write: ['ops'] } });
    const readable = await make({
      name: 'Readable',
      componentType: 'hidden',
      gbac: { read: [{ name: 'operators', provenance: 'local' }], write: ['ops'] },
    });
    const list = `${path}?multiEquals[componentType]=hidden`;
    assert.equal(ok(await who.member('GET', list)).metadata.total, 2);
    assert.deepEqual(ok(await who.stranger('GET', list)).data, [readable]);
    assert.equal(ok(await who.stranger('GET', list)).metadata.total, 1);
    refused(await who.stranger('GET', `${path}/Hidden`), 404);
    refused(await who.stranger('GET', `${path}/${hidden._id}/export`), 404);
    refused(await who.stranger('PATCH', `${path}/${hidden._id}`, { description: 'x' }), 404);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const said = async (name: string) =>
        (await who.stranger(method, `${path}/${name}`, method === 'PATCH' ? {} : undefined)).text.replaceAll(name, '');
      assert.equal(await said('Hidden'), await said('Absent'), 'the words say that it is there');
    }
    refused(await who.stranger('PATCH', `${path}/${readable._id}`, { description: 'x' }), 403);
    refused(await who.stranger('DELETE', `${path}/${readable._id}`), 403);
    ok(await who.member('PATCH', `${path}/${hidden._id}`, { description: 'x' }));
  });

  it('take their triggers with them', async () => {
    const { _id } = await make({ name: 'With triggers' });
    const trigger = ok(
      await service.ask('POST', '/operations-manager/triggers', {
        name: 'T',
        enabled: true,
        actionType: 'automations',
        actionId: _id,
        type: 'endpoint',
        verb: 'POST',
        routeName: 'gone',
        schema: null,
        jst: null,
      }),
    ).data;
    const deleted = ok(await service.ask('DELETE', `${path}/${_id}`));
    assert.deepEqual([deleted.message, deleted.data.name], ['Successfully deleted automation', 'With triggers']);
    refused(await service.ask('GET', `${path}/${_id}`), 404);
    refused(await service.ask('GET', `/operations-manager/triggers/${trigger._id}`), 404);
    const again = await make({ name: 'Again' });
    ok(await service.ask('POST', '/operations-manager/triggers', { ...trigger, _id: undefined, actionId: again._id }));
  });
});
