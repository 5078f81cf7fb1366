import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { projections } from '../../../src/projections/all.ts';
import { parkedSpec } from '../../../src/projections/engine/parked.ts';
import type { Checkpoint } from '../../../src/projections/engine/port.ts';
import { collectionsOf, projector } from '../../../src/projections/engine/projector.ts';
import { checkpointAt, resume, runProjections } from '../../../src/projections/engine/run.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { openLog } from '../../support/node.ts';
import { until } from '../../support/until.ts';

describe('read models that were made before', () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  beforeEach(async () => {
    log = await openLog();
    for (const stream of ['s-1', 's-2', 's-3'])
      await log.store.append(stream, -1, [{ id: randomUUID(), type: 'tool:done', data: '{}', metadata: '{}' }]);
  });
  afterEach(() => log.close());

  const entry = {
    id: 'a',
    text: JSON.stringify({ document: 'a', stream: 's', reason: 'r' }),
    revision: 0,
    sorts: { name: 'a' },
    filters: {},
  };
  const modelAt = async (checkpoint: Checkpoint) => {
    const model = memoryReadStore({ collections: collectionsOf(projections) });
    await model.takeLeadership();
    await model.resume();
    assert.equal(await model.apply([{ collection: parkedSpec.name, id: 'a', entry }], 0, checkpoint), true);
    return model;
  };
  /** Where projecting goes on from, and whether the documents are still there. */
  const resumed = async (checkpoint: Checkpoint, store: EventStore = log.store) => {
    const model = await modelAt(checkpoint);
    const told: string[] = [];
    const { position } = await resume(
      store,
      model,
      projector(projections, { read: model.forRunner.get, log: () => undefined }),
      (message) => told.push(message),
    );
    return { position, kept: (await model.get(parkedSpec.name, 'a')) !== undefined, told: told.length };
  };
  const scavenged = (gone: number): EventStore => ({
    ...log.store,
    at: async (position) => (position === gone ? undefined : log.store.at(position)),
  });

  it('are kept where the log has the event that they name, or has none there any more', async () => {
    const { id: event } = (await log.store.at(2))!;
    const kept = { position: 2, kept: true, told: 0 };
    assert.deepEqual(await resumed({ position: 2, event }), kept);
    assert.deepEqual(await resumed({ position: 2, event }, scavenged(2)), kept);
    assert.deepEqual(await resumed({ position: 2, event: '' }), kept, 'a position that is of no event');
  });

  it('are made anew where the log has another event, or is shorter', async () => {
    const head = await log.store.head();
    const anew = { position: 0, kept: false, told: 1 };
    assert.deepEqual(await resumed({ position: 2, event: randomUUID() }), anew);
    assert.deepEqual(await resumed({ position: head + 1, event: randomUUID() }), anew);
    assert.deepEqual(await resumed({ position: head + 1, event: '' }), anew);
  });

  it('name no event that is not where they are', async () => {
    const last = (await log.store.at(2))!;
    assert.deepEqual(checkpointAt(2, [last]), { position: 2, event: last.id });
    assert.deepEqual(
      [checkpointAt(3, [last]), checkpointAt(3, [])],
      [
        { position: 3, event: '' },
        { position: 3, event: '' },
      ],
    );

    // A log that tells of positions whose events are for nobody.
    const head = await log.store.head();
    const quiet: EventStore = {
      ...log.store,
      follow: async function* (after, filter, signal) {
        for await (const { events, position } of log.store.follow(after, filter, signal))
          yield { position, events: events.filter((event) => event.position < head) };
      },
    };
    const memory = memoryReadStore({ collections: collectionsOf(projections) });
    const checkpoints: Checkpoint[] = [];
    const model = {
      ...memory,
      apply: (...args: Parameters<typeof memory.apply>) => {
        checkpoints.push(args[2]);
        return memory.apply(...args);
      },
    };
    const run = runProjections({ store: quiet, model, projections, catchUp: 1, log: () => undefined });
    run.start();
    await until(() => run.ready());
    await run.stop();
    assert.deepEqual(checkpoints.at(-1), { position: head, event: '' });
    assert.deepEqual(await resumed(checkpoints.at(-1)!), { position: head, kept: true, told: 0 });
  });
});
