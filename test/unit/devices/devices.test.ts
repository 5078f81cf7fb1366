import assert from 'node:assert/strict';
import { attemptDeviceConfig } from '../../../src/commands/configuration-manager/deviceConfigurations.ts';
import { createInventory, updateInventory } from '../../../src/commands/inventory-manager/inventories.ts';
import {
  attempt,
  conclude,
  deviceConfiguration,
} from '../../../src/domain/configuration-manager/deviceConfigurations.ts';
import { inventoriesNamedIn } from '../../../src/runners/triggers/namedInventories.ts';
import { specification } from '../../support/given.ts';
import { nodesOnLog } from '../../support/node.ts';

describe('An attempt to configure a device', () => {
  const given = specification(deviceConfiguration);
  const about = { adapter: 'lab', device: 'lab-01', digest: 'd', lines: 3, inventory: null };
  const attempted = { topic: 'deviceConfigurationAttempted', data: about } as const;
  const answer = { $sealed: 's', tag: 't' };
  const applied = { topic: 'deviceConfigurationApplied', data: { ...about, status: 200, answer } } as const;

  it('is made, and has one outcome', () => {
    given().when(attempt, about).then(attempted);
    given(attempted).when(conclude, { status: 200 }, { answer }).then(applied);
    given(attempted)
      .when(conclude, { status: 200, unverified: true }, { answer })
      .then({ topic: 'deviceConfigurationApplied', data: { ...applied.data, unverified: true } });
    given(attempted)
      .when(conclude, { status: 422 }, { answer })
      .then({ topic: 'deviceConfigurationFailed', data: { ...about, status: 422, answer } });
    given(attempted)
      .when(conclude, { status: null, reason: 'gone' }, { answer: null })
      .then({ topic: 'deviceConfigurationFailed', data: { ...about, status: null, answer: null, reason: 'gone' } });
    given(attempted, applied).when(conclude, { status: null, reason: 'late' }, { answer: null }).thenNothing();
    given().when(conclude, { status: 200 }, { answer }).thenNothing();
  });
});

describe('The inventory that an event of a change names', () => {
  const { node } = nodesOnLog();

  it('is known by its id, in earlier events by its name, and there is none for an adapter', async () => {
    const { command, tools, catchUp } = await node();
    const [campus, other] = ['a', 'b'].map((letter) => letter.repeat(24)) as [string, string];
    const about = { adapter: 'Campus', device: 'sw-1', digest: 'd', lines: 1 };
    await command(createInventory, campus, { name: 'Campus' });
    await command(attemptDeviceConfig, 'c1', { ...about, inventory: campus });
    await command(attemptDeviceConfig, 'c2', { ...about, inventory: null });
    await catchUp();
    const named = () => Promise.all(['c1', 'c2'].map((id) => inventoriesNamedIn(`deviceConfiguration-${id}`, tools)));
    assert.deepEqual(await named(), [[campus], []]);
    await command(updateInventory, campus, { name: 'Former' });
    await command(createInventory, other, { name: 'Campus' });
    await catchUp();
    assert.deepEqual(await named(), [[campus], []]);
    const earlier = { ...tools, state: async () => ({ about }) } as unknown as typeof tools; // an event without inventory
    assert.deepEqual(await inventoriesNamedIn('deviceConfiguration-c3', earlier), [other]);
  });
});
