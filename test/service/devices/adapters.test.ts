import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('Adapters over HTTP', () => {
  let service: TestService;
  const path = '/configuration_manager/adapters';
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('are the lab at first', async () => {
    const { results, total } = ok(await service.ask('GET', path));
    assert.deepEqual([total, results[0].name, results[0].devices.length], [1, 'lab', 3]);
  });

  it('are created, shown without secrets, replaced and deleted', async () => {
    const controller = {
      name: 'controller',
      type: 'http',
      properties: { baseUrl: 'https://controller.example.net/api', token: 'recognisable-token', timeout: 5000 },
      devices: [{ name: 'pe-1', host: '198.51.100.1', ostype: 'junos' }],
    };
    const created = await service.ask('POST', path, controller);
    assert.equal(created.body.status, 'Created');
    const { data } = ok(created);
    assert.deepEqual(
      [data.properties, data.devices, data.createdBy],
      [{ ...controller.properties, token: '********' }, controller.devices, 'admin'],
    );
    const got = await service.ask('GET', `${path}/controller`);
    assert.deepEqual(ok(got), data);
    assert.equal(ok(await service.ask('GET', `${path}?multiEquals[device]=pe-1`)).total, 1);

    const position = await positionOf(service);
    const { name: _, ...rest } = controller;
    ok(
      await service.ask('PUT', `${path}/controller`, {
        ...rest,
        properties: { ...rest.properties, token: '********' },
      }),
    );
    assert.equal(await positionOf(service), position, 'nothing has changed');
    refused(
      await service.ask('PUT', `${path}/controller`, {
        ...rest,
        properties: { baseUrl: 'https://elsewhere.example.net', token: '********' },
      }),
      400,
      /properties\/token/,
    );
    assert.equal(ok(await service.ask('PUT', `${path}/controller`, { ...rest, devices: [] })).data.devices.length, 0);
    refused(await service.ask('PUT', `${path}/controller`, rest, { 'If-Match': got.headers.get('etag')! }), 412);
    refused(await service.ask('POST', path, controller), 409);
    assert.equal(ok(await service.ask('DELETE', `${path}/controller`)).data.properties.token, '********');
    refused(await service.ask('GET', `${path}/controller`), 404);
    refused(await service.ask('PUT', `${path}/controller`, rest), 404);
    ok(await service.ask('POST', path, controller));
    assert.ok(!service.lines.join('').includes('recognisable-token'));
  });

  it('refuse properties that the type does not have, by their place', async () => {
    const make = (body: object) => service.ask('POST', path, { name: 'wrong', ...body });
    refused(await make({}), 400, /"\/type"/);
    refused(await make({ type: 'telnet' }), 400, /"\/type"/);
    refused(await make({ type: 'lab', properties: { colour: 'red' } }), 400, /"\/properties\/colour"/);
    refused(await make({ type: 'http' }), 400, /"\/properties"/);
    refused(await make({ type: 'http', properties: {} }), 400, /"\/properties\/baseUrl"/);
    for (const baseUrl of ['ftp://x', 'http://user:pass@x', 'http://x?y', 'x'])
      refused(await make({ type: 'http', properties: { baseUrl } }), 400, /"\/properties\/baseUrl"/);
    refused(
      await make({ type: 'http', properties: { baseUrl: 'http://x', token: 'a\r\nb' } }),
      400,
      /"\/properties\/token"/,
    );
    refused(await make({ type: 'ssh', properties: { password: 'p' } }), 400, /"\/properties\/username"/);
    refused(
      await make({ type: 'ssh', properties: { username: 'u', password: 'p', hostKey: 'md5' } }),
      400,
      /"\/properties\/hostKey"/,
    );
    refused(await make({ type: 'lab', devices: [{ name: 'a', port: 0 }] }), 400, /"\/devices\/0\/port"/);
    refused(await make({ type: 'lab', devices: [{ name: 'a' }, { name: 'a' }] }), 400, /"\/devices\/1\/name"/);
  });

  it('stay away when they have been deleted, also the lab at the next start', async () => {
    ok(await service.ask('DELETE', `${path}/lab`));
    service = await service.restart();
    refused(await service.ask('GET', `${path}/lab`), 404);
  });
});
