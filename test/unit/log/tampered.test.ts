import assert from 'node:assert/strict';
import type { EventStore } from '../../../src/store/port.ts';
import { noticingTampered, Tampered, tamperedStreams } from '../../../src/store/tampered.ts';

describe('the touched streams that a node remembers', () => {
  it('are logged once, are no more than 1000, and are forgotten when they can be read from the beginning', async () => {
    const logged: string[] = [];
    const touched = tamperedStreams((message, { stream }) => logged.push(`${message} ${String(stream)}`));
    for (let n = 0; n < 1500; n++) touched.note(`automation-${n}`, 'Stream was deleted');
    touched.note('automation-1499', 'Stream was deleted');
    assert.deepEqual([touched.reasons().size, logged.length], [1000, 1500]);
    const event = { id: '', type: '', data: '', metadata: '', stream: 'automation-1499', revision: 0, position: 1 };
    const reading = (events: readonly (typeof event)[]) =>
      noticingTampered(
        {
          read: async function* () {
            if (events.length > 0) yield events;
          },
        } as unknown as EventStore,
        touched,
      );
    const read = async (store: EventStore, from?: number): Promise<void> => {
      for await (const _ of store.read('automation-1499', from));
    };
    await assert.rejects(read(reading([])), Tampered);
    await read(reading([{ ...event, revision: 1 }]), 1);
    assert.equal(touched.has('automation-1499'), true);
    await read(reading([event]));
    assert.equal(touched.has('automation-1499'), false);
  });
});
