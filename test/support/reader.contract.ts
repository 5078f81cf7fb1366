import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newLeadership } from '@automation-platform/concurrency';
import { NotReadable, RequestError } from '../../src/domain/engine/requestError.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../src/store/port.ts';
import type { Backlog } from '../../src/store/reading/partition.ts';
import { type Reading, reader } from '../../src/store/reading/reader.ts';
import { leading } from './leading.ts';
import { shortPauses } from './pauses.ts';
import { dying } from './stopping.ts';
import { until } from './until.ts';

type Opened = { readonly store: EventStore; readonly close: () => Promise<void> };
type Data = { readonly key: string; readonly n: number };
type Options = {
  readonly store?: EventStore;
  readonly on?: ReturnType<typeof newLeadership>;
  readonly first?: 'beginning' | 'head';
  readonly isLate?: true;
  readonly elapsed?: () => number;
  /** Called before an item is carried out. */
  readonly before?: (data: Data) => unknown;
  /** How an item is acknowledged; at once if not set. */
  readonly acked?: (data: Data) => Promise<void> | undefined;
};

const type = 's:t';
const dataOf = ({ data }: StoredEvent): Data => JSON.parse(data);

/**
 * The promises of every reader of the log, over a log that is opened for each test: each consequence once, in order within
 * its partition, whatever happens to the process.
 */
export const readerContract = (open: () => Promise<Opened>): void => {
  let opened: Opened;
  let ends: (() => unknown)[];
  let written: number;
  beforeEach(async () => {
    opened = await open();
    ends = [];
    written = 0;
  });
  afterEach(async () => {
    await Promise.all(ends.map((end) => end()));
    await opened.close();
  });

  const append = (stream: string, expected: number, data: object, store = opened.store) =>
    store.append(stream, expected, [{ id: randomUUID(), type, data: JSON.stringify(data), metadata: '{}' }]);
  /** Stores events that have consequences, each in the partition of its name. */
  const write = async (...keys: readonly string[]): Promise<number> => {
    let position = 0;
    for (const key of keys) ({ position } = await append(`cause-${written}`, -1, { key, n: written++ }));
    return position;
  };
  /** The consequences that took place, by partition, in the order of the log. */
  const done = async (category = 'done'): Promise<Record<string, readonly number[]>> => {
    const found: Record<string, number[]> = {};
    for await (const { events } of opened.store.readAll(0))
      for (const event of events.filter(({ stream }) => stream.startsWith(`${category}-`))) {
        const { key, n } = dataOf(event);
        found[key] = [...(found[key] ?? []), n];
      }
    return found;
  };
  const isDone = (expected: Record<string, readonly number[]>, category?: string) =>
    until(
      async () => JSON.stringify(sorted(await done(category))) === JSON.stringify(sorted(expected)),
      'it to be done',
    );

  /** Something that is stored once, by whoever comes first. */
  const once = async (store: EventStore, stream: string, data: Data): Promise<void> => {
    try {
      await append(stream, -1, data, store);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
    }
  };

  const backlogIn =
    (store: EventStore) =>
    (key: string, from: number): Backlog<StoredEvent> => {
      let position = from;
      return {
        position: () => position,
        read: async (most, take) => {
          let count = 0;
          for await (const batch of store.readAll(position, [type]))
            for (const event of batch.events) {
              if (count === most) return;
              if (event.stream.startsWith('cause-') && dataOf(event).key === key) {
                take(event, position);
                count++;
              }
              ({ position } = event);
            }
        },
      };
    };

  const run = ({ store = opened.store, ...options }: Options = {}) => {
    const { before = () => undefined, acked = () => undefined } = options;
    const said: string[] = [];
    const log = (message: string): void => void said.push(message);
    const reading: Reading<StoredEvent> = {
      types: [type],
      itemsOf: (event) => (event.stream.startsWith('cause-') ? [event] : []),
      key: (event) => dataOf(event).key,
      take: async (event) => {
        const data = dataOf(event);
        await before(data);
        await once(store, `done-${data.n}`, data);
        const later = acked(data);
        return later && { acked: later };
      },
      retry: {
        park: (event) => once(store, `parked-${dataOf(event).n}`, dataOf(event)),
        onWait: () => log('waits'),
        onFailure: (_, error, tried) => log(`${(error as Error).message} ${tried}`),
      },
    };
    const { on = leading(), first = 'beginning', elapsed, isLate } = options;
    const running = reader({
      store,
      name: 'contract',
      on,
      ready: async () => undefined,
      first,
      begin: () => reading,
      pauses: shortPauses,
      ...(elapsed && { elapsed }),
      ...(isLate && { backlog: backlogIn(store) }),
      failure: 'begins again',
      log,
    });
    running.start();
    ends.push(running.stop);
    return { ...running, said };
  };
  const checkpoint = () => opened.store.checkpoint('contract');
  const passes = (position: number) => until(async () => ((await checkpoint()) ?? 0) >= position, 'the checkpoint');
  /** The reader stops, and has passed a position. */
  const endsAt = async (one: ReturnType<typeof run>, position: number): Promise<void> => {
    await until(() => (one.acked() ?? 0) >= position, 'it to be acknowledged');
    await one.stop();
    assert.ok(((await checkpoint()) ?? 0) >= position, `${await checkpoint()} is before ${position}`);
  };
  const held = () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    ends.push(() => release());
    return { gate, release };
  };

  it('carries out each item once, in order within its partition, and passes it', async () => {
    const head = await write('a', 'b', 'a', 'c', 'b', 'a');
    const one = run();
    await isDone({ a: [0, 2, 5], b: [1, 4], c: [3] });
    const last = await write('a');
    assert.ok(last > head);
    await isDone({ a: [0, 2, 5, 6], b: [1, 4], c: [3] });
    await endsAt(one, last);
  });

  it('holds up no partition by another, and passes no item that is not acknowledged', async () => {
    const before = await write('b');
    const { gate, release } = held();
    const one = run({ before: ({ key }) => (key === 'a' ? gate : undefined) });
    const head = await write('a', 'b', 'a', 'b');
    await isDone({ b: [0, 2, 4] });
    await until(() => one.status().inFlight === 2, 'b to be acknowledged');
    assert.equal(one.acked(), before);
    release();
    await isDone({ a: [1, 3], b: [0, 2, 4] });
    await endsAt(one, head);
  });

  it('begins the next item before one is acknowledged later, and passes neither', async () => {
    const { gate, release } = held();
    const one = run({ acked: ({ n }) => (n === 0 ? gate : undefined) });
    const head = await write('a', 'a');
    await isDone({ a: [0, 1] });
    assert.equal(one.acked(), 0);
    release();
    await until(() => one.acked()! >= head);
  });

  it('begins at the head of a log that it has never read, if it is to, else at its beginning', async () => {
    await write('a');
    const one = run({ first: 'head' });
    await until(async () => (await checkpoint()) !== undefined);
    await write('b');
    await isDone({ b: [1] });
    await one.stop();
    await opened.store.removeCheckpoint('contract');
    run();
    await isDone({ a: [0], b: [1] });
  });

  it('changes nothing when its checkpoint is set back and all is done again', async () => {
    const head = await write('a', 'b', 'a');
    const one = run();
    await isDone({ a: [0, 2], b: [1] });
    await endsAt(one, head);
    await opened.store.setCheckpoint('contract', 0);
    let again = 0;
    const two = run({ before: () => again++ });
    await until(() => again === 3);
    await endsAt(two, head);
    assert.deepEqual(await done(), { a: [0, 2], b: [1] });
  });

  it('tries a failing item six times, parks it, and goes on; at once if another try would not help', async () => {
    const head = await write('a', 'b', 'a', 'c');
    const one = run({
      before: ({ key, n }) => {
        if (n === 0) throw new Error('poison');
        if (key === 'c') throw new RequestError('internal', 'unusable');
      },
    });
    await isDone({ b: [1], a: [2] });
    assert.deepEqual(await done('parked'), { c: [3], a: [0] });
    await endsAt(one, head);
    const tries = [1, 2, 3, 4, 5, 6].map((tried) => `poison ${tried}`);
    assert.deepEqual([...one.said].sort(), [...tries, 'unusable 1'].sort());
  });

  it('waits for what is not the fault of an item: that is no try', async () => {
    let behind = 8;
    const head = await write('a');
    const one = run({
      before: () => {
        if (behind-- > 0) throw new NotReadable('behind');
      },
    });
    await isDone({ a: [0] });
    await endsAt(one, head);
    assert.deepEqual([await done('parked'), one.said], [{}, ['waits']]);
  });

  it('gives a late partition a checkpoint of its own, which the next reader goes by, and takes it back', async () => {
    let now = 0;
    const { gate } = held();
    const one = run({ isLate: true, elapsed: () => now, before: ({ key }) => (key === 'a' ? gate : undefined) });
    const [first, head] = [await write('b'), await write('a', 'b', 'a')];
    await isDone({ b: [0, 2] });
    now += 10_000;
    await passes(head);
    assert.deepEqual(await opened.store.checkpointsOf('contract'), new Map([['contract:a', first]]));
    assert.deepEqual([one.status().behind, one.acked()], [1, first]);
    // It stands still for ever: the next one knows nothing of what it has in memory.
    const later = await write('a', 'b');
    run({ isLate: true, elapsed: () => now });
    await isDone({ a: [1, 3, 4], b: [0, 2, 5] });
    await passes(later);
    await until(async () => (await opened.store.checkpointsOf('contract')).size === 0, 'the partition to come back');
    const last = await write('a');
    await isDone({ a: [1, 3, 4, 6], b: [0, 2, 5] });
    await passes(last);
  });

  it('reads while it leads: another one goes on where it was', async () => {
    const [one, two] = [newLeadership(true), newLeadership()];
    run({ on: one });
    await write('a');
    await isDone({ a: [0] });
    one.set(false);
    await until(async () => (await checkpoint()) !== undefined, 'the end of the term');
    await write('a', 'b');
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    assert.deepEqual(await done(), { a: [0] });
    two.set(true);
    run({ on: two });
    await isDone({ a: [0, 1], b: [2] });
  });

  it('does each thing once on two nodes that both lead', async () => {
    const both = [run(), run()];
    const head = await write(...Array.from({ length: 40 }, (_, n) => `p${n % 5}`));
    const rows = [0, 1, 2, 3, 4, 5, 6, 7];
    await isDone(Object.fromEntries([0, 1, 2, 3, 4].map((p) => [`p${p}`, rows.map((row) => 5 * row + p)])));
    for (const each of both) await endsAt(each, head);
  });

  it('begins anew, and stores no checkpoint, once another process has taken it', async () => {
    // Another process takes the checkpoint as soon as the reader has, before it can store one.
    let takes = 0;
    const store: EventStore = {
      ...opened.store,
      takeCheckpoint: async (name) => {
        takes++;
        return opened.store.takeCheckpoint(name);
      },
      keepCheckpoint: async (...args) => {
        if (takes === 1) throw new WrongRevision('checkpoint-contract', 0, 1);
        return opened.store.keepCheckpoint(...args);
      },
    };
    const one = run({ store });
    await write('a');
    await isDone({ a: [0] });
    await until(() => one.said.length > 0, 'one to begin anew');
    assert.deepEqual([one.said, await checkpoint()], [['begins again'], undefined]);
    const head = await write('a');
    await isDone({ a: [0, 1] });
    await endsAt(one, head);
  });

  it('loses and repeats nothing, at whichever append or checkpoint it dies', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let step = 1; ; step++) {
        await opened.close();
        opened = await open();
        written = 0;
        const head = await write('a', 'b', 'a', 'b');
        const dead = dying(opened.store, step, moment);
        dead.arm();
        const one = run({ store: dead.store });
        const whole = { a: [0, 2], b: [1, 3] };
        const work = isDone(whole).then(() => one.stop());
        const hasDied = await Promise.race([dead.dead.then(() => true), work.then(() => false)]);
        if (hasDied) {
          const next = run();
          await isDone(whole);
          await endsAt(next, head);
        }
        dead.bury();
        await work;
        await one.stop();
        await Promise.all(ends.splice(0).map((end) => end()));
        if (!hasDied) break;
      }
    }
  });
};

const sorted = (found: Record<string, readonly number[]>) => Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1));
