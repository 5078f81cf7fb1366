import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

describe('Automations over HTTP', () => {
  const service = useService();
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
