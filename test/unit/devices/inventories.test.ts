import {
  addNodes,
  clear,
  create,
  type InventoryEvent,
  inventory,
  remove,
} from '../../../src/domain/inventory-manager/inventories.ts';
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
    given().when(create, { name: 'Lab' }, { unknownGroups: [] }).then(created);
    given()
      .when(create, { name: 'Lab', groups: ['a', { name: 'a' }] }, { unknownGroups: [] })
      .then({ topic: 'inventoryCreated', data: { name: 'Lab', description: '', groups: ['a'] } });
    given()
      .when(create, { name: 'Lab', groups: ['a', 'b'] }, { unknownGroups: ['a', 'b'] })
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
});
