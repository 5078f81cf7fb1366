import assert from 'node:assert/strict';
import { attemptDeviceConfig } from '../../../src/commands/configuration-manager/deviceConfigurations.ts';
import { deviceSources } from '../../../src/commands/configuration-manager/devices.ts';
import {
  addInventoryNodes,
  createInventory,
  updateInventory,
} from '../../../src/commands/inventory-manager/inventories.ts';
import {
  attempt,
  conclude,
  deviceConfiguration,
} from '../../../src/domain/configuration-manager/deviceConfigurations.ts';
import type { Actor } from '../../../src/domain/engine/core.ts';
import { inventoriesNamedIn } from '../../../src/runners/triggers/namedInventories.ts';
import { context, specification } from '../../support/given.ts';
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

describe('A device that one may not see', () => {
  const { node } = nodesOnLog();

  it('takes the same reads as a name that nobody has', async () => {
    const { command, group, tools, model, catchUp } = await node();
    await group('ops');
    await catchUp();
    const nodesOf = (word: string) =>
      ['1', '2'].map((n) => ({ name: `${word}-${n}`, attributes: { host: '192.0.2.1', protocol: 'lab' } }));
    for (const [letter, name, groups] of [
      ['a', 'open', []],
      ['b', 'hidden', ['ops']],
    ] as const) {
      await command(createInventory, letter.repeat(24), { name, groups });
      await command(addInventoryNodes, letter.repeat(24), { nodes: nodesOf(name) });
    }
    await catchUp();
    /** The reads of the read model that a work takes, each with its request and how much it gave. */
    const readsOf = async (work: (sources: ReturnType<typeof deviceSources>) => Promise<unknown>) => {
      const reads: unknown[] = [];
      const counting: Pick<typeof model, 'getMany' | 'list' | 'version'> = {
        version: (...asked) => model.version(...asked),
        getMany: async (collection, ids) => {
          const found = await model.getMany(collection, ids);
          reads.push([collection, ids, found.filter(Boolean).length]);
          return found;
        },
        list: async (collection, query) => {
          const page = await model.list(collection, query);
          reads.push([collection, query, page.entries.length]);
          return page;
        },
      };
      const result = await work(deviceSources({ tools, model: counting }));
      return { reads: JSON.stringify(reads).replaceAll(/hidden-1|nobody-1/g, '*'), count: reads.length, result };
    };
    const works = {
      find: (name: string, actor: Actor) => readsOf(({ find }) => find(name, actor)),
      sourcesOf: (name: string, actor: Actor) =>
        readsOf(async ({ sourcesOf }) => [...(await sourcesOf([name], actor)).values()]),
      list: (name: string, actor: Actor) => {
        const asked = { filter: { name, exact: true }, isWanted: () => true, start: 0, limit: 10, order: 1 } as const;
        return readsOf(async ({ list }) => (await list(asked, actor, [])).list);
      },
    };
    const stranger: Actor = { ...context.actor, id: 'stranger', username: 'stranger', groups: [], admin: false };
    for (const [title, work] of Object.entries(works)) {
      const [seen, hidden, unknown] = [
        await work('hidden-1', context.actor),
        await work('hidden-1', stranger),
        await work('nobody-1', stranger),
      ];
      assert.deepEqual(
        [seen.result, hidden.result].map((some) => (some as unknown[]).length),
        [1, 0],
        title,
      );
      assert.ok(hidden.count > 0, title);
      assert.deepEqual(hidden, unknown, title);
      assert.notEqual(seen.reads, hidden.reads, title);
    }
  });
});
