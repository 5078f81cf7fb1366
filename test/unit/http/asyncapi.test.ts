import assert from 'node:assert/strict';
import { formats } from '@automation-platform/bounded-schemas';
import { Ajv } from 'ajv';
import { listedTopics } from '../../../src/domain/topics.ts';
import { areas } from '../../../src/http/areas.ts';
import { asyncapi } from '../../../src/http/documentation/asyncapi.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';

type Json = { readonly [member: string]: any };

// any JSON

/** Every reference in a document. */
const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = value as Json;
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(value).flatMap(referencesIn)];
};

describe('the AsyncAPI document', () => {
  const document = JSON.parse(JSON.stringify(asyncapi(listedTopics, { version: '1.2.3' }))) as Json;

  it('has the members that AsyncAPI 3.0 asks for, and no others', () => {
    const members = (value: Json, ...allowed: readonly string[]) => {
      for (const member of Object.keys(value)) assert.ok(allowed.includes(member), member);
    };
    members(document, 'asyncapi', 'info', 'defaultContentType', 'channels', 'operations', 'components');
    assert.equal(document.asyncapi, '3.0.0');
    assert.equal(typeof document.info.title, 'string');
    assert.equal(document.info.version, '1.2.3');
    for (const channel of Object.values<Json>(document.channels)) {
      members(channel, 'address', 'title', 'description', 'parameters', 'messages');
      const inAddress = [...channel.address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      assert.deepEqual(Object.keys(channel.parameters ?? {}), inAddress);
    }
    for (const operation of Object.values<Json>(document.operations)) {
      members(operation, 'action', 'channel', 'summary', 'security', 'bindings');
      assert.match(operation.action, /^(send|receive)$/);
      assert.match(operation.channel.$ref, /^#\/channels\//);
    }
    members(document.components, 'schemas', 'messages', 'securitySchemes');
    for (const [key, message] of Object.entries<Json>(document.components.messages)) {
      assert.match(key, /^[\w.-]+$/);
      members(message, 'name', 'title', 'summary', 'payload');
    }
  });

  it('refers only to what it has', () => {
    const references = referencesIn(document);
    assert.ok(references.length > listedTopics.length);
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<Json | undefined>((part, name) => part?.[name], document);
      assert.ok(reference.startsWith('#/') && found, reference);
    }
  });

  it('has addresses that are routes', () => {
    const paths = areas.flatMap((area) =>
      area.routes.map((route) => fullPathOf(area, route).replace(/:(\w+)/g, '{$1}')),
    );
    for (const { address } of Object.values<Json>(document.channels)) assert.ok(paths.includes(address), address);
  });

  it('has a message for each topic of the platform, whose schema tells it from others', () => {
    const ajv = new Ajv({ strict: false, formats });
    ajv.addSchema(document, 'asyncapi');
    const checks = (key: string, event: object) =>
      ajv.compile({ $ref: `asyncapi#/components/messages/${key}/payload` })(event);
    const event = {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      position: 7,
      source: '@platform/operations-manager',
      topic: 'jobErrored',
      at: '2026-01-01T00:00:00.000Z',
      actor: { id: 'a', username: 'nora', provenance: 'local' },
      resource: { kind: 'job', id: '7b0c1e2d3a4b5c6d7e8f9a01' },
      revision: 1,
      correlation: 'r',
      causation: 'r',
      data: { error: 'No answer' },
    };
    const key = 'operations-manager.jobErrored';
    assert.equal(checks(key, event), true);
    assert.equal(checks(key, { ...event, topic: 'jobCompleted' }), false);
    assert.equal(checks(key, { ...event, data: {} }), false);
    assert.equal(checks(key, { ...event, position: undefined }), false);
    const { messages } = document.components;
    assert.equal(Object.keys(messages).length, listedTopics.length + 2);
    for (const { source, topic } of listedTopics)
      assert.equal(messages[`${source.replace('@platform/', '')}.${topic}`].name, `${source}:${topic}`);
  });
});
