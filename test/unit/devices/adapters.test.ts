import assert from 'node:assert/strict';
import {
  adapter,
  create,
  provideLab,
  remove,
  replace,
  sealProperties,
} from '../../../src/domain/configuration-manager/adapters.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { secrets } from '../../../src/secrets/secrets.ts';
import { specification } from '../../support/given.ts';

const given = specification(adapter);

const fingerprint = `SHA256:${'A'.repeat(43)}`;

const lab = { name: 'lab-b', type: 'lab', devices: [{ name: 'b-1' }] } as const;

const made = { topic: 'adapterCreated', data: { ...lab, properties: {} } } as const;

const none = { properties: () => ({}) };

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
          { properties: () => properties as Record<string, unknown> },
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
  it('must be sent again when a device without a host key is elsewhere', () => {
    const ssh = (host: string, password: string) => ({
      type: 'ssh' as const,
      properties: { username: 'u', password },
      devices: [{ name: 'r', host }],
    });
    const { properties, devices } = ssh('192.0.2.1', 'secret');
    const sealed = sealProperties({ known: false }, ssh('192.0.2.1', 'secret'), seal);
    const there = { known: true, content: { type: 'ssh' as const, properties: sealed, devices } };
    assert.deepEqual(sealProperties(there, ssh('192.0.2.1', '********'), seal), sealed);
    assert.throws(() => sealProperties(there, ssh('192.0.2.2', '********'), seal), RequestError);
    assert.equal(properties.password, 'secret');
  });
  it('are told by the property, not by what a device is called', () => {
    const properties = { username: 'u', password: 'p', hostKey: { password: fingerprint } };
    assert.deepEqual(sealProperties({ known: false }, { type: 'ssh', properties }, seal).hostKey, properties.hostKey);
  });
});
