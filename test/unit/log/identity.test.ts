import assert from 'node:assert/strict';
import { identityStream } from '@automation-platform/event-log';
import { ensureIdentity, identityEvent, readIdentity } from '../../../src/store/identity.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { openFileLog } from '../../support/node.ts';
import { gather } from '../../support/store.contract.ts';

describe('the id of the log, in the log', () => {
  let log: EventStore;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ store: log, close } = await openFileLog());
  });
  afterEach(() => close());

  it('is written once, and read from then on', async () => {
    assert.equal(await readIdentity(log), undefined);
    assert.equal(await ensureIdentity(log, () => 1000), log.id);
    assert.equal(await ensureIdentity({ ...log, id: 'another' }), log.id);
    assert.equal(await readIdentity(log), log.id);
    const [written, ...others] = await gather(log.read(identityStream));
    assert.deepEqual([JSON.parse(written!.metadata).at, others], ['1970-01-01T00:00:01.000Z', []]);
  });
  it('is that of the first of several who write it at once', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((id) => ensureIdentity({ ...log, id })));
    assert.equal(new Set(ids).size, 1);
    assert.equal((await gather(log.read(identityStream))).length, 1);
  });
  it('is made up where a log has none of its own', async () => {
    const { id: _, ...withoutId } = log;
    const made = await ensureIdentity(withoutId);
    assert.match(made, /^[0-9a-f-]{36}$/);
    assert.equal(await ensureIdentity(withoutId), made);
  });
  it('is an event whose id and text are those of any retry', () => {
    const now = new Date('2026-01-01T00:00:00Z');
    assert.deepEqual(identityEvent('x', now), identityEvent('x', now));
    assert.notEqual(identityEvent('x', now).id, identityEvent('y', now).id);
  });
});
