import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { wrapForeign } from '@automation-platform/event-log';
import { keysInPem, newKey, type SigningKey, type SigningKeys, signAll } from '@automation-platform/log-proof';
import { encode } from '../../src/store/event.ts';
import type { NewEvent } from '../../src/store/port.ts';
import { proofEvent } from '../../src/store/proofEvent.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { context } from './given.ts';
import { newEvent } from './store.contract.ts';

/** A new key that signs. */
export const signingKey = (): SigningKey => keysInPem(newKey())[0] ?? assert.fail('no key');
export const keysOf = (own: SigningKey): SigningKeys => ({ own, earlier: [] });

const every = 250;

const about = {
  $correlationId: 'r',
  $causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
  actor: context.actor,
  operation: 'test',
  requestId: 'r',
  schemaVersion: 1,
};

/** Numbers below a limit, the same in each run. */
export const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** A writer of linked events, which knows where each stream ends. */
export const linkedWriter = () => {
  const ends = new Map<string, { revision: number; hash: string }>();
  return (stream: string, data: unknown): { readonly expected: number; readonly event: NewEvent } => {
    const { revision, hash } = ends.get(stream) ?? { revision: -1, hash: '' };
    const place = { stream, revision: revision + 1, id: randomUUID(), source: '@platform/mop' };
    const { hash: linked, ...event } = encode(place, { topic: 'commandTemplateChanged', data }, about, hash);
    ends.set(stream, { revision: revision + 1, hash: linked });
    return { expected: revision, event };
  };
};

/** Signs what a log has after its last signature, as the service does. */
export const signRest = (store: SqliteStore, keys: SigningKeys): Promise<void> =>
  signAll({ store, keys, now: () => 0, newId: randomUUID, write: proofEvent, most: Infinity });

export const foreign = (n: number): NewEvent =>
  wrapForeign({
    ...newEvent(),
    type: 'noted',
    data: Buffer.from(`{"n":${n}}`),
    metadata: Buffer.from('{}'),
    contentType: 'application/json',
    created: new Date(0),
  });

/** A log with linked events of 30 streams, those of another program, and parts of payloads. It ends without a signature. */
export const writeLog = async (file: string, keys: SigningKeys): Promise<void> => {
  const store = await openSqliteStore({ file });
  const write = linkedWriter();
  const some = numbers(1);
  let strange = -1;
  for (let n = 0; n < 1100; n++) {
    if (n % 40 === 17) await store.append('stranger-1', strange++, [foreign(n)]);
    else if (n % 200 === 50) await store.append(`payload-${n}`, -1, [{ ...newEvent(`part ${n}`), metadata: '{}' }]);
    else {
      const stream = `commandTemplate-${some(30)}`;
      const { expected, event } = write(stream, { text: `what happened as number ${n}` });
      await store.append(stream, expected, [event]);
    }
    if (n % every === every - 1) await signRest(store, keys);
  }
  await store.close();
};
