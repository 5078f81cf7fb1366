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
});
