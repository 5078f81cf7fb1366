import assert from 'node:assert/strict';
import { filters } from '@automation-platform/bounded-schemas';
import type { Tools } from '../../../src/commands/engine/define.ts';
import {
  explainer,
  recorded,
  type TestEvent,
  type TestedTrigger,
} from '../../../src/commands/operations-manager/triggerTests.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

describe('An event of some depth', () => {
  const viewer = { actor: { id: 'a', username: 'a', provenance: 'local', groups: [], admin: true } };
  const content: TestedTrigger['content'] = {
    ...{ type: 'eventSystem', name: 'T', enabled: true, actionType: 'automations', actionId: '1' },
    ...{ source: 's', topic: 't', schema: null, jst: null },
  };
  /** The state of a stream: jobs have the depth that is in their id. */
  const state: Tools['state'] = async ({ category, initial }, id) => {
    const known: unknown =
      category === 'job' ? { ...initial, started: { depth: Number(id) } } : { ...initial, exists: true };
    return known as typeof initial;
  };
  const stored = (stream: string, depth?: number): StoredEvent => ({
    ...{ id: 'e', type: 's:t', stream, revision: 0, position: 7, data: '{}' },
    metadata: JSON.stringify({ at: 'now', depth }),
  });
  const reasons = async (event: TestEvent) => {
    const explain = explainer({
      filters: filters(1),
      variables: async () => ({}),
      state,
      viewerOf: async () => viewer,
      sees: async () => true,
    });
    const signal = new AbortController().signal;
    return (
      await explain({ id: '1', content, account: 'a' }, event, {
        account: 'a',
        actor: async () => viewer.actor,
        signal,
      })
    ).reasons;
  };

  it('has that of the job in whose stream it is, else what it says itself, else 0', async () => {
    const depth = async (event: StoredEvent) => (await recorded(event, state)).depth;
    assert.equal(await depth(stored('publishedEvent-x')), 0);
    assert.equal(await depth(stored('publishedEvent-x', 3)), 3);
    assert.equal(await depth(stored('job-5')), 5);
    assert.equal(await depth(stored('automation-5')), 0);
  });

  it('fires nothing from 8 on', async () => {
    assert.deepEqual(await reasons(await recorded(stored('publishedEvent-x', 7), state)), []);
    const [reason, ...more] = await reasons(await recorded(stored('job-8'), state));
    assert.deepEqual(more, []);
    assert.deepEqual(reason, {
      code: 'depth',
      message: '8 triggers have fired one after the other; the next does not',
    });
  });
});
