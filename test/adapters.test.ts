import assert from 'node:assert/strict';
import {
  adapter,
  create,
  provideLab,
  remove,
  replace,
  sealProperties,
} from '../src/domain/configuration-manager/adapters.ts';
import { RequestError } from '../src/domain/engine/requestError.ts';
import { secrets } from '../src/secrets.ts';
import { specification } from './given.ts';
import { positionOf } from './hostile.ts';
import { ok, type People, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const given = specification(adapter);
const fingerprint = `SHA256:${'A'.repeat(43)}`;
const lab = { name: 'lab-b', type: 'lab', devices: [{ name: 'b-1' }] } as const;
const made = { topic: 'adapterCreated', data: { ...lab, properties: {} } } as const;
const none = { properties: {} };

describe('An adapter', () => {
  it('is made, replaced as a whole, and goes', () => {
    given()
      .when(create, { ...lab, devices: [...lab.devices] }, none)
      .then(made);
    given(made)
      .when(replace, { type: 'lab', devices: [] }, none)
      .then({ topic: 'adapterReplaced', data: { type: 'lab', properties: {}, devices: [] } });
    given(made)
      .when(replace, { type: 'lab', devices: [...lab.devices] }, none)
      .thenNothing();
    given(made).when(remove, {}).then({ topic: 'adapterDeleted', data: {} });
  });
  it('keeps its name', () =>
    given(made)
      .when(replace, { name: 'other', type: 'lab' }, none)
      .thenRefused('invalid', /"\/name"/));
  it('knows a device once', () =>
    given()
      .when(create, { ...lab, devices: [{ name: 'a' }, { name: 'a' }] }, none)
      .thenRefused('invalid', /devices\/1\/name/));
  it('has properties that fit each other', () => {
    const refusedWith = (type: 'http' | 'ssh', properties: object, path: RegExp) =>
      given()
        .when(
          create,
          { name: 'x', type, properties: {}, devices: [{ name: 'r' }] },
          { properties: properties as Record<string, unknown> },
        )
        .thenRefused('invalid', path);
    refusedWith('http', { baseUrl: 'http://x', token: 't', username: 'u', password: 'p' }, /properties\/auth/);
    refusedWith('http', { baseUrl: 'http://x', username: 'u' }, /properties\/password/);
    refusedWith('http', { baseUrl: 'http://x', password: 'p' }, /properties\/username/);
    refusedWith('ssh', { username: 'u', hostKey: fingerprint }, /properties\/password/);
    refusedWith('ssh', { username: 'u', hostKey: fingerprint, password: 'p', privateKey: 'k' }, /properties\/password/);
    refusedWith(
      'ssh',
      { username: 'u', hostKey: fingerprint, password: 'p', passphrase: 'k' },
      /properties\/passphrase/,
    );
    refusedWith(
      'ssh',
      { username: 'u', hostKey: { other: fingerprint }, password: 'p' },
      /device \\"r.*properties\/hostKey/,
    );
  });
  it('lab is made at the first start, and never again', () => {
    given()
      .when(provideLab, {})
      .then({
        topic: 'adapterCreated',
        data: {
          name: 'lab',
          type: 'lab',
          properties: {},
          devices: [
            { name: 'lab-01', host: '192.0.2.1', ostype: 'cisco-ios-xe' },
            { name: 'lab-02', host: '192.0.2.2', ostype: 'cisco-ios-xe' },
            { name: 'lab-03', host: '192.0.2.3', ostype: 'arista-eos' },
          ],
        },
      });
    given(made).when(provideLab, {}).thenNothing();
    given(made, { topic: 'adapterDeleted', data: {} }).when(provideLab, {}).thenNothing();
  });
});

describe('The secrets of an adapter', () => {
  const { seal } = secrets({ key: Buffer.alloc(32, 'k') });
  const http = (properties: object) => ({ type: 'http' as const, properties: properties as Record<string, unknown> });
  const stored = {
    known: true,
    content: {
      type: 'http' as const,
      properties: sealProperties({ known: false }, http({ baseUrl: 'https://a', token: 'secret' }), seal),
      devices: [],
    },
  };

  it('are sealed, and stay when they are masked or sent again', () => {
    assert.doesNotMatch(JSON.stringify(stored), /"secret"/);
    for (const token of ['********', 'secret'])
      assert.deepEqual(sealProperties(stored, http({ baseUrl: 'https://a', token }), seal), stored.content.properties);
  });
  it('must be sent again when they would go elsewhere', () => {
    for (const baseUrl of ['https://evil', 'http://a'])
      assert.throws(
        () => sealProperties(stored, http({ baseUrl, token: '********' }), seal),
        (error) => error instanceof RequestError && error.faults[0]?.path === '/properties/token',
      );
  });
  it('are told by the property, not by what a device is called', () => {
    const properties = { username: 'u', password: 'p', hostKey: { password: fingerprint } };
    assert.deepEqual(sealProperties({ known: false }, { type: 'ssh', properties }, seal).hostKey, properties.hostKey);
  });
});

describe('Adapters over HTTP', () => {
  let service: TestService;
  let who: People;
  const path = '/configuration_manager/adapters';
  before(async () => {
    service = await startService();
    who = await people(service);
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
    refused(await make({ type: 'ssh', properties: { username: 'u', password: 'p' } }), 400, /"\/properties\/hostKey"/);
    refused(
      await make({ type: 'ssh', properties: { username: 'u', password: 'p', hostKey: 'md5' } }),
      400,
      /"\/properties\/hostKey"/,
    );
    refused(await make({ type: 'lab', devices: [{ name: 'a', port: 0 }] }), 400, /"\/devices\/0\/port"/);
    refused(await make({ type: 'lab', devices: [{ name: 'a' }, { name: 'a' }] }), 400, /"\/devices\/1\/name"/);
  });

  it('refuse who has no role for it', async () => {
    refused(await who.outsider('GET', path), 403, /getAdapters/);
    refused(await who.reader('DELETE', `${path}/lab`), 403, /deleteAdapter/);
  });

  it('stay away when they have been deleted, also the lab at the next start', async () => {
    ok(await service.ask('DELETE', `${path}/lab`));
    service = await service.restart();
    refused(await service.ask('GET', `${path}/lab`), 404);
  });
});
