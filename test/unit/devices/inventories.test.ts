import assert from 'node:assert/strict';
import {
  addNodes,
  clear,
  create,
  type InventoryEvent,
  inventory,
  remove,
  removeNode,
  replaceNodes,
  update,
} from '../../../src/domain/inventory-manager/inventories.ts';
import { deviceOf, propertiesOf } from '../../../src/domain/inventory-manager/nodeDevices.ts';
import { specification } from '../../support/given.ts';

const given = specification(inventory);

const created: InventoryEvent = { topic: 'inventoryCreated', data: { name: 'Lab', description: '', groups: [] } };

const [one, two] = ['one', 'two'].map((name) => ({ name, attributes: { rack: name }, tags: ['t'] })) as [any, any];

// nodes
const added: InventoryEvent = { topic: 'nodesAdded', data: { nodes: [one, two] } };

const cleared: InventoryEvent = { topic: 'nodesCleared', data: { count: 2 } };

/** What `prepare` finds when there are no secrets: the attributes as they are. */
const plain = (nodes: readonly any[]) => nodes.map(({ attributes = {} }) => attributes);

const adding = (...nodes: readonly any[]) => [addNodes, { nodes }, plain(nodes)] as const;

describe('inventories: decisions', () => {
  it('are created with groups that exist', () => {
    given().when(create, { name: 'Lab' }, { unknownGroups: [], attributes: [] }).then(created);
    given()
      .when(create, { name: 'Lab', groups: ['a', { name: 'a' }] }, { unknownGroups: [], attributes: [] })
      .then({ topic: 'inventoryCreated', data: { name: 'Lab', description: '', groups: ['a'] } });
    given()
      .when(create, { name: 'Lab', groups: ['a', 'b'] }, { unknownGroups: ['a', 'b'], attributes: [] })
      .thenRefused('not_found', /a, b/);
  });
  it('get nodes, and nothing for those they have', () => {
    given(created)
      .when(...adding(one, two))
      .then(added);
    given(created, added)
      .when(...adding(one, two))
      .thenNothing();
    given(created, added)
      .when(...adding(two, { name: 'three' }))
      .then({ topic: 'nodesAdded', data: { nodes: [{ name: 'three', attributes: {}, tags: [] }] } });
    given(created)
      .when(...adding())
      .thenNothing();
    given(created)
      .when(...adding({ name: 'a', tags: ['x', 'y', 'x'] }))
      .then({ topic: 'nodesAdded', data: { nodes: [{ name: 'a', attributes: {}, tags: ['x', 'y'] }] } });
  });
  it('refuse other content under a name they have, naming all, and a name given twice', () => {
    given(created, added)
      .when(...adding({ ...one, tags: [] }, { name: 'new' }, { name: 'two' }))
      .thenRefused('conflict', /one, two\).*\/nodes\/0\/name.*\/nodes\/2\/name/);
    given(created)
      .when(...adding(one, two, one))
      .thenRefused('invalid', /\/nodes\/2\/name/);
    given(created)
      .when(...adding(...Array.from({ length: 50 }, () => one)))
      .thenRefused('invalid', /^\["49 nodes/);
  });
  it('are cleared by one event with the count, once', () => {
    given(created, added).when(clear, {}).then(cleared);
    given(created, added, cleared).when(clear, {}).thenNothing();
    given(created).when(clear, {}).thenNothing();
    given(created, added, cleared)
      .when(...adding(one, two))
      .then(added);
  });
  it('go with their nodes', () => {
    given(created, added).when(remove, {}).then({ topic: 'inventoryDeleted', data: {} });
    given(created, added, { topic: 'inventoryDeleted', data: {} }).when(clear, {}).thenNothing();
  });
  it('know nodes of any name', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      given(created)
        .when(...adding({ name }))
        .then({ topic: 'nodesAdded', data: { nodes: [{ name, attributes: {}, tags: [] }] } });
      given(created, { topic: 'nodesAdded', data: { nodes: [{ name, attributes: {}, tags: [] }] } })
        .when(...adding({ name }))
        .thenNothing();
    }
  });
  it('get other content for nodes only where a request says so', () => {
    const other = { ...one, tags: ['other'] };
    given(created, added)
      .when(addNodes, { nodes: [other, { name: 'three' }], overwrite: true }, plain([other, { name: 'three' }]))
      .then(
        { topic: 'nodesChanged', data: { nodes: [other] } },
        { topic: 'nodesAdded', data: { nodes: [{ name: 'three', attributes: {}, tags: [] }] } },
      );
  });
  it('get other nodes by their differences, and nothing for the same', () => {
    const nodes = [{ ...two, tags: ['T', 'u'] }, { name: 'three' }];
    const differences: InventoryEvent[] = [
      { topic: 'nodesRemoved', data: { names: ['one'] } },
      { topic: 'nodesChanged', data: { nodes: [{ ...two, tags: ['t', 'u'] }] } },
      { topic: 'nodesAdded', data: { nodes: [{ name: 'three', attributes: {}, tags: [] }] } },
    ];
    given(created, added)
      .when(replaceNodes, { nodes }, plain(nodes))
      .then(...differences);
    given(created, added, ...differences)
      .when(replaceNodes, { nodes }, plain(nodes))
      .thenNothing();
    given(created, added)
      .when(removeNode, { name: 'two' })
      .then({ topic: 'nodesRemoved', data: { names: ['two'] } });
    given(created, added, ...differences)
      .when(removeNode, { name: 'one' })
      .thenRefused('not_found', /one/);
  });
  it('change their members, and only what is given', () => {
    const refs = { unknownGroups: [] };
    given(created)
      .when(update, { description: 'x', groups: ['a'], tags: ['A', 'a'] }, refs)
      .then({ topic: 'inventoryUpdated', data: { description: 'x', groups: ['a'], tags: ['a'] } });
    given(created).when(update, { name: 'Lab', tags: [] }, refs).thenNothing();
  });
  it('refuse attributes by which no device can be reached, with their place', () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ host: 'a b' }, 'host'],
      [{ host: '' + 'h'.repeat(256) }, 'host'],
      [{ ansible_port: 70_000 }, 'ansible_port'],
      [{ platform_protocol: 'telnet' }, 'platform_protocol'],
      [{ hostKey: 'MD5:aa' }, 'hostKey'],
    ];
    for (const [attributes, name] of wrong)
      given(created)
        .when(...adding({ name: 'a', attributes }))
        .thenRefused('invalid', new RegExp(`/nodes/0/attributes/${name}`));
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`attribute ${i}`, i]));
    given(created)
      .when(...adding({ name: 'a', attributes: many }))
      .then({ topic: 'nodesAdded', data: { nodes: [{ name: 'a', attributes: many, tags: [] }] } });
  });
});

describe('a node as a device', () => {
  const of = (attributes: object) => deviceOf({ name: 'n', attributes: attributes as any }); // any attributes
  it('has a host, and reads the words of other programs', () => {
    assert.equal(of({}), undefined);
    assert.equal(of({ constructor: 'x', hosts: 'y' }), undefined);
    assert.deepEqual(of({ host: 'h' }), { name: 'n', host: 'h', protocol: 'ssh' });
    assert.deepEqual(of({ ansible_host: 'h', ansible_port: '8022', ansible_network_os: 'cisco.ios.ios' }), {
      name: 'n',
      host: 'h',
      port: 8022,
      ostype: 'cisco.ios.ios',
      protocol: 'ssh',
    });
    assert.equal(of({ ansible_host: 'a', platform_host: 'p', itential_host: 'i' })?.host, 'i');
    assert.equal(of({ ansible_host: 'a', host: 'bare' })?.host, 'bare');
    assert.equal(of({ host: 'h', platform: 'eos' })?.ostype, 'eos');
  });
  it('has the login that its attributes say', () =>
    assert.deepEqual(
      propertiesOf({
        attributes: { host: 'h', ansible_user: 'u', ansible_become_password: 'p', timeout: '500', x: 1 },
      }),
      { username: 'u', enablePassword: 'p', timeout: 500 },
    ));
});
