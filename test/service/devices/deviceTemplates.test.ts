import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

describe('Device templates', () => {
  const service = useService();
  const who = usePeople(service);
  const jobs = builtInOf((...args) => service.ask(...args));
  const path = `${manager}/templates`;
  const create = async (body: object) => ok(await service.ask('POST', path, body)).data;
  const search = async (body: object) => ok(await service.ask('POST', `${path}/search`, body));
  const apply = (body: object, ask = service.ask) => ask('POST', `${path}/apply`, body);

  it('are created, found, changed, and deleted all or none', async () => {
    const options = { deviceOSTypes: ['ios', 'ios'] };
    const made = await create({
      name: 'Uplinks',
      template: 'vlan {{ n }}',
      variables: { n: 1, password: 'p' },
      options,
    });
    assert.deepEqual([made.id, made.deviceOSTypes, made.variables.password], [made._id, ['ios'], '********']);
    await create({ name: 'Downlinks', template: 'x' });
    assert.deepEqual((await search({ name: 'LINKS', options: { start: 1, limit: 1 } })).list[0].name, 'Uplinks');
    assert.deepEqual(await search({ name: made.id }), { list: [made], total: 1 });
    const put = (body: object) => service.ask('PUT', path, body);
    const data = { variables: { n: 2, password: '********' } };
    assert.deepEqual(ok(await put({ id: made.id, data })), { status: 'success', updated: 1 });
    assert.equal(ok(await put({ id: 'Uplinks', data })).updated, 0);
    refused(await put({ id: 'none', data }), 404);
    refused(await service.ask('POST', path, { name: 'Uplinks', template: 'y' }), 409);
    refused(await service.ask('POST', path, { name: 'Empty', template: '' }), 400, /template/);
    refused(await who.reader('POST', path, { name: 'Mine', template: 'y' }), 403);
    refused(await service.ask('DELETE', path, { templateIds: [made.id, 'none'] }), 404);
    const removal = await service.ask('DELETE', `${path}?templateIds=${made.id}`);
    assert.deepEqual(ok(removal), { status: 'success', deleted: 1 });
    assert.equal((await search({ name: made.id })).total, 0);
  });

  it('are taken in as they were given out', async () => {
    const made = await create({ name: 'Given out', template: 'vlan 7', variables: { n: 1 } });
    const take = (templates: readonly object[], more: object = {}) =>
      service.ask('POST', `${manager}/import/templates`, { templates, ...more });
    assert.deepEqual(ok(await take([made])).data[0].data, made);
    refused(await take([{ ...made, template: 'vlan 8' }]), 409);
    assert.equal(
      ok(await take([{ ...made, template: 'vlan 8' }], { overwrite: true })).data[0].data.template,
      'vlan 8',
    );
  });

  it('are rendered with the variables and the device, and applied as any configuration', async () => {
    const template = 'vlan {{ n }}\n name {{ device.name }}-{{ device.ostype }}{{ device.password }}';
    const { id } = await create({
      name: 'Vlan',
      template,
      variables: { n: 71 },
      deviceOSTypes: ['cisco_ios', 'iosxe'],
    });
    const tried = ok(await apply({ deviceName: 'lab-01', templateId: id, options: { dryRun: true } }));
    assert.equal(tried.status, 'dryRun');
    assert.match(tried.diff, /^\+vlan 71$/m);
    const answer = ok(await apply({ deviceName: 'lab-01', templateId: 'Vlan', variables: { n: 72 } }));
    assert.deepEqual(
      [answer.status, answer.chosenAdapter, answer.result[0].value.status],
      ['success', 'lab', 'success'],
    );
    assert.match(answer.diff, /^\+vlan 72\n\+ name lab-01-/m);
    const { id: other } = await create({ name: 'Other', template: 'x', deviceOSTypes: ['junos'] });
    refused(await apply({ deviceName: 'lab-01', templateId: other }), 409, /junos/);
    refused(await apply({ deviceName: 'nobody', templateId: id }), 404);
    refused(await apply({ deviceName: 'lab-01', templateId: id }, who.reader), 403);
    const { id: broken } = await create({ name: 'Broken', template: '{% for %}' });
    refused(await apply({ deviceName: 'lab-01', templateId: broken }), 422);
  });

  it('that render to 100 MB are refused, and nothing is sent', async () => {
    const template = '{% for a in range(10000) %}{{ "vlan 7\\n" * 1500 }}{% endfor %}';
    const { id } = await create({ name: 'Huge', template });
    const attempts = async () =>
      ok(await service.ask('GET', '/audit/events?topic=deviceConfigurationAttempted&limit=1000')).results.length;
    const before = await attempts();
    refused(await apply({ deviceName: 'lab-01', templateId: id }), 422, /template|large|long|more than/i);
    const { jobId } = ok(await service.ask('POST', `${manager}/changes`, { devices: ['lab-01'], template: id }));
    await jobs.inState(jobId, 'error');
    const { list } = ok(await service.ask('GET', `${manager}/changes/${jobId}`));
    assert.equal(list[0].status, 'notSent', JSON.stringify(list));
    assert.equal(await attempts(), before);
  });

  it('make the text of each device of a change of many', async () => {
    const { id } = await create({ name: 'Each', template: 'vlan {{ n }}\n name of-{{ device.name }}' });
    const body = { devices: ['lab-01', 'lab-02'], template: 'Each', variables: { n: 90 } };
    const { jobId } = ok(await service.ask('POST', `${manager}/changes`, body));
    await jobs.inState(jobId, 'complete');
    const { list } = ok(await service.ask('GET', `${manager}/changes/${jobId}`));
    for (const { device, diff } of list) assert.match(diff, new RegExp(`^\\+vlan 90\\n\\+ name of-${device}$`, 'm'));
    refused(await service.ask('POST', `${manager}/changes`, { ...body, config: 'x' }), 400, /template/);
    refused(await service.ask('POST', `${manager}/changes`, { ...body, template: 'none' }), 404);
    ok(await service.ask('DELETE', path, { templateIds: [id] }));
  });
});
