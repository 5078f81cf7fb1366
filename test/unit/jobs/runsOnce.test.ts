import assert from 'node:assert/strict';
import type { Members } from '@automation-platform/json';
import { inventories } from '../../../src/projections/inventory-manager/inventories.ts';
import { eventRun } from '../../../src/runners/jobs/builtIn/eventRun.ts';
import { inventoryRuns } from '../../../src/runners/jobs/builtIn/inventoryRuns.ts';
import { readAs } from '../../../src/runners/jobs/builtIn/readAs.ts';
import type { Run } from '../../../src/runners/jobs/builtIn/run.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog } from '../../support/node.ts';

/** A run of an operation; each time its claim was lost, the same run begins again. */
const runOf = <Inputs extends Members>(key: string, inputs: Inputs) =>
  ({
    key,
    inputs,
    started: { id: 'e', data: { depth: 3 }, metadata: { actor: context.actor, operation: 'startJob', requestId: 'r' } },
    step: async () => context.actor,
    names: () => undefined,
  }) as unknown as Run<Inputs>;

describe('A task that writes, though its run begins again after a lost claim', () => {
  const { node } = nodesOnLog();

  it('publishes an event once', async () => {
    const { handle } = await node();
    const publish = eventRun({ handle });
    const event = { source: 'lab', topic: 'done', payload: { n: 1 } };
    const first = await publish(runOf('j.t.1', event));
    assert.deepEqual(await publish(runOf('j.t.1', event)), first);
    assert.notDeepEqual(await publish(runOf('j.t.2', event)), first);
  });

  it('changes an inventory once, whatever has become of it since', async () => {
    const { handle, tools, retries, reader, settled } = await node();
    const runs = inventoryRuns({ handle, tools, retries, read: readAs({ ...reader, catchUp: settled }) });
    const identifier = 'Bonn';
    const create = () => runs.create(runOf('j.create.1', { name: identifier }));
    const nodes = [{ name: 'a' }, { name: 'b' }];
    const populate = (run = 1) => runs.populate(runOf(`j.fill.${run}`, { inventory_identifier: identifier, nodes }));
    const clear = () => runs.clear(runOf('j.clear.1', { identifier }));
    const remove = (run: number) => runs.remove(runOf(`j.remove.${run}`, { identifier }));
    const made = await create();
    const filled = await populate();
    const cleared = await clear();
    await populate(2);
    assert.deepEqual(await clear(), cleared);
    const [now] = await tools.query(inventories);
    assert.equal(now?.nodeCount, 2, 'it was not cleared again');
    const removed = await remove(1);
    assert.deepEqual(
      [await create(), await populate(), await clear(), await remove(1)],
      [made, filled, cleared, removed],
    );
    assert.deepEqual(await tools.query(inventories), []);
    await assert.rejects(remove(2), /no inventory "Bonn"/);
  });
});
