import assert from 'node:assert/strict';
import { link, type NewEvent, type StoredEvent, withHash } from '@automation-platform/event-log';
import {
  digestStream,
  keysInPem,
  newKey,
  type ProofLog,
  type Source,
  signAll,
  verifyLog,
  type WriteProof,
} from '../../src/index.ts';

/** A log in memory. */
const memoryLog = () => {
  const events: StoredEvent[] = [];
  const log: ProofLog = {
    append: async (stream, expected, news: readonly NewEvent[]) => {
      for (const [n, event] of news.entries())
        events.push({ ...event, stream, revision: expected + 1 + n, position: events.length + 1 });
      return { revision: expected + news.length, position: events.length };
    },
    read: async function* (stream, from = 0) {
      yield events.filter((event) => event.stream === stream && event.revision >= from);
    },
    readAll: async function* (after) {
      yield { events: events.slice(after), position: events.length };
    },
  };
  return { events, log };
};

const write: WriteProof = ({ topic, data }, { revision, previous, id, at }) => {
  const event = { id, type: `log:${topic}`, data: JSON.stringify(data), metadata: JSON.stringify({ at }) };
  const hash = link({ ...event, stream: digestStream, revision }, previous);
  return { ...event, metadata: withHash(event.metadata, hash), hash };
};

describe('a signed log', () => {
  const [own] = keysInPem(newKey());
  let events: StoredEvent[];

  beforeEach(async () => {
    const { events: stored, log } = memoryLog();
    let previous = '';
    for (let n = 0; n < 250; n++) {
      const event = { id: `e${n}`, type: 'orders:made', data: JSON.stringify({ n }), metadata: '{"by":"me"}' };
      previous = link({ ...event, stream: 'orders-1', revision: n }, previous);
      await log.append('orders-1', n - 1, [{ ...event, metadata: withHash(event.metadata, previous) }]);
    }
    let made = 0;
    const newId = (): string => `proof${made++}`;
    await signAll({ store: log, keys: { own: own!, earlier: [] }, now: () => 0, newId, write });
    events = stored;
  });

  const verified = (some: readonly StoredEvent[]) => {
    const source: Source = {
      id: 'log',
      head: some.at(-1)?.position ?? 0,
      lookUps: { dense: true },
      noted: undefined,
      findings: [],
      signed: undefined,
      proofs: async () => some.filter(({ stream }) => stream === digestStream),
      at: async (position) => some.find((event) => event.position === position),
      events: async function* () {
        yield some;
      },
      close: async () => undefined,
    };
    const signal = new AbortController().signal;
    return verifyLog({ source, linked: () => true, key: own!.key, anchor: undefined, signal, told: () => undefined });
  };

  it('is proved by its signatures', async () => {
    const { findings, coverage } = await verified(events);
    assert.deepEqual(findings, []);
    assert.deepEqual(coverage, { verified: 251, signed: 250, uncovered: 1 });
  });

  it('shows an event that was altered, even with a new link, and one that is missing', async () => {
    const altered = events.map((event) => (event.id === 'e120' ? { ...event, data: '{"n":0}' } : event));
    const { findings } = await verified(altered);
    assert.deepEqual(findings[0]?.finding, 'altered');
    assert.equal(findings[0]?.position, 121);
    const gone = await verified(events.filter(({ id }) => id !== 'e7'));
    assert.ok(gone.findings.some(({ finding, position }) => finding === 'missing' && position === 8));
  });
});
