import assert from 'node:assert/strict';
import { createResourceGroup, updateResourceGroup } from '../../../src/commands/lifecycle-manager/resourceGroups.ts';
import { createInstance, deleteInstance } from '../../../src/commands/lifecycle-manager/resourceInstances.ts';
import { createResourceModel, deleteResourceModel } from '../../../src/commands/lifecycle-manager/resourceModels.ts';
import { workflowCommands } from '../../../src/commands/operations-manager/workflows.ts';
import { transformationCommands } from '../../../src/commands/template-builder/transformations.ts';
import { idsIn } from '../../../src/domain/lifecycle-manager/idSets.ts';
import { resourceGroup } from '../../../src/domain/lifecycle-manager/resourceGroups.ts';
import { resourceInstance } from '../../../src/domain/lifecycle-manager/resourceInstances.ts';
import { resourceModel } from '../../../src/domain/lifecycle-manager/resourceModels.ts';
import { transformation as transformationAggregate } from '../../../src/domain/template-builder/transformations.ts';
import { resourceInstances } from '../../../src/projections/lifecycle-manager/resourceInstances.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { stopping } from '../../support/stopping.ts';
import { transformation } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';
import { outcome } from '../../support/writer.ts';

describe('Resource models on two nodes', function () {
  this.timeout(300_000);
  const { log, node } = nodesOnLog({ reacting: true });
  const [m, g, a, b] = ['d', 'e', 'a', 'b'].map((letter) => letter.repeat(24)) as [string, string, string, string];
  const action = { _id: '00af', name: 'Deploy', type: 'create', workflow: 'Deploy' };
  const model = (one: TestNode) => one.command(createResourceModel, m, { name: 'VLAN', schema: {}, actions: [action] });
  const instance = (one: TestNode, id: string, name = id) =>
    one.command(createInstance, id, { modelId: m, name, instanceData: {} });
  const there = async ({ tools }: TestNode, id = a) => ({
    model: (await tools.state(resourceModel, m)).exists,
    instance: (await tools.state(resourceInstance, id)).exists,
  });
  const won = (result: unknown): boolean => typeof result === 'object';

  // Turn, name, instance.
  for (const n of [1, 2, 3]) {
    it(`never leave an instance without its model: one comes and stops before append ${n}, the model goes`, async () => {
      const held = stopping(log.store, n);
      const [slow, quick] = [await node(held.store), await node()];
      await model(quick);
      await slow.catchUp();
      held.arm();
      const creating = outcome(instance(slow, a));
      await held.atStop;
      const deleted = await outcome(quick.command(deleteResourceModel, m, { withInstances: false }));
      held.resume();
      const created = await creating;
      assert.deepEqual(await there(quick), { model: !won(deleted), instance: won(created) });
      assert.notEqual(won(deleted), won(created), 'one of the two went through');
    });
  }

  // Turn, model.
  for (const n of [1, 2]) {
    it(`never leave an instance without its model: the model goes and stops before append ${n}, an instance comes`, async () => {
      const held = stopping(log.store, n);
      const [slow, quick] = [await node(held.store), await node()];
      await model(quick);
      await slow.catchUp();
      held.arm();
      const deleting = outcome(slow.command(deleteResourceModel, m, { withInstances: false }));
      await held.atStop;
      const created = await outcome(instance(quick, a));
      held.resume();
      const deleted = await deleting;
      assert.deepEqual([created && won(created), deleted], [true, 'conflict']);
      assert.deepEqual(await there(quick), { model: true, instance: true });
    });
  }

  it('make one instance of a name, however many want it', async () => {
    const [one, two] = [await node(), await node()];
    await model(one);
    await two.catchUp();
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, i) => outcome(instance(i % 2 ? one : two, `${i}`.repeat(24), 'wanted'))),
    );
    assert.equal(results.filter(won).length, 1, JSON.stringify(results));
  });

  for (const n of [1, 2]) {
    it(`never keep an instance in a group that is gone: it comes in and stops before append ${n}, and is deleted`, async () => {
      const held = stopping(log.store, n);
      const [slow, quick] = [await node(held.store), await node()];
      await model(quick);
      for (const id of [a, b]) await instance(quick, id);
      await quick.command(createResourceGroup, g, { modelId: m, name: 'All', instances: [b] });
      await slow.catchUp();
      held.arm();
      const adding = outcome(slow.command(updateResourceGroup, g, { instancesToAdd: [a] }));
      await held.atStop;
      await quick.command(deleteInstance, a);
      held.resume();
      assert.equal(await adding, 'not_found');
      assert.deepEqual(idsIn((await quick.tools.state(resourceGroup, g)).members), [b]);
    });

    it(`never keep an instance in a group that is gone: it is deleted and stops before append ${n}, and comes in`, async () => {
      const held = stopping(log.store, n);
      const [slow, quick] = [await node(held.store), await node()];
      await model(quick);
      for (const id of [a, b]) await instance(quick, id);
      await quick.command(createResourceGroup, g, { modelId: m, name: 'All', instances: [b] });
      await slow.catchUp();
      held.arm();
      const deleting = slow.command(deleteInstance, a);
      await held.atStop;
      await quick.command(updateResourceGroup, g, { instancesToAdd: [a] });
      held.resume();
      await deleting;
      assert.deepEqual(idsIn((await quick.tools.state(resourceGroup, g)).members), [b]);
    });
  }

  it('remove what a deleted model leaves behind, also after the node that decided it has stopped', async () => {
    const dying = await node(log.store, { reacting: false });
    await model(dying);
    for (const id of [a, b]) await instance(dying, id);
    await dying.command(createResourceGroup, g, { modelId: m, name: 'All', instances: [a, b] });
    assert.equal((await dying.command(deleteResourceModel, m, { withInstances: true })).changed, true);
    const finishing = await node();
    await until(async () => !(await finishing.tools.state(resourceGroup, g)).exists);
    assert.deepEqual(
      [await there(finishing, a), await there(finishing, b)],
      [
        { model: false, instance: false },
        { model: false, instance: false },
      ],
    );
    assert.equal(await finishing.tools.count(resourceInstances, { field: 'modelId', op: 'equals', value: m }), 0);
  });
});

describe('Workflows and the transformations that they name, on two nodes', function () {
  this.timeout(300_000);
  const { log, node } = nodesOnLog({ reacting: true });
  const [w, t] = ['c', 'd'].map((letter) => letter.repeat(24)) as [string, string];
  const document = workflow({ shape: ours('transformation', { tr_id: 'Site' }) }, ['start -> shape', 'shape -> end']);
  const made = (one: TestNode) =>
    one.command(transformationCommands.create, t, transformation('Site', { incoming: [], outgoing: [], steps: [] }));
  const save = (one: TestNode) => one.command(workflowCommands.create, w, { ...document, name: 'Uses it' });
  const remove = (one: TestNode) => one.command(transformationCommands.remove, t);

  // Turn, name, workflow; turn, transformation.
  for (const [first, appends] of [
    ['the workflow', 3],
    ['the deletion', 2],
  ] as const)
    for (let n = 1; n <= appends; n++)
      it(`never lose one that a saved workflow names: ${first} stops before append ${n}`, async () => {
        const held = stopping(log.store, n);
        const [slow, quick] = [await node(held.store), await node()];
        await made(quick);
        await slow.catchUp();
        held.arm();
        const isSaving = first === 'the workflow';
        const stopped = outcome(isSaving ? save(slow) : remove(slow));
        await held.atStop;
        const other = await outcome(isSaving ? remove(quick) : save(quick));
        held.resume();
        const results = [await stopped, other];
        const [saved, deleted] = isSaving ? results : results.toReversed();
        assert.ok(typeof saved === 'object', `${String(saved)}: a workflow may name what is gone`);
        const { exists } = await quick.tools.state(transformationAggregate, t);
        assert.equal(exists, deleted === 'conflict');
        if (typeof deleted === 'object') assert.ok(deleted.position < saved.position, 'it went before');
      });
});
