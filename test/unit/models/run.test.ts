import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { eventFeed } from '../../../src/events/eventHub.ts';
import { projections } from '../../../src/projections/all.ts';
import { leaseMs, type ReadStore } from '../../../src/projections/engine/port.ts';
import { collectionsOf } from '../../../src/projections/engine/projector.ts';
import { runProjections } from '../../../src/projections/engine/run.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import { openLog } from '../../support/node.ts';
import { until } from '../../support/until.ts';

describe('who projects', () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  let run: ReturnType<typeof runProjections>;
  beforeEach(async () => {
    log = await openLog();
  });
  afterEach(async () => {
    await run.stop();
    await log.close();
  });
  /** Projects into memory, unless another has the lead; loading what is there fails so many times. */
  const start = (failures: number, leads: () => boolean, now?: () => number) => {
    let [failed, moved] = [0, () => undefined as void];
    const memory = memoryReadStore({ collections: collectionsOf(projections) });
    const model: ReadStore = {
      ...memory,
      takeLeadership: async () => leads(),
      onMoved: (listener) => {
        moved = listener;
      },
      resume: async () => {
        if (failed++ < failures) throw new RequestError('unavailable', 'Not now');
        return memory.resume();
      },
    };
    run = runProjections({ store: log.store, model, projections, catchUp: 1000, now, log: () => undefined });
    run.start();
    return { moved: () => moved() };
  };
  const append = async () =>
    (
      await log.store.append('s-1', -1, [
        { id: '2f0c1a4e-5d0f-4d0b-9a52-0f6d6f7a3c11', type: '@platform/t:t', data: '{}', metadata: '{}' },
      ])
    ).position;

  it('begins at once when it takes the lead over, whatever trouble it had before', async () => {
    let leading = false;
    const { moved } = start(5, () => leading);
    await until(() => run.ready());
    leading = true;
    while (!run.leadership.held()) {
      moved();
      await new Promise(setImmediate);
    }
    await run.reached(await append(), 1000);
  });

  it('leads no more than a lease after it has lost the read store, in which another may have taken the lead', async () => {
    let [isAway, asked, time] = [false, 0, 0];
    const leads = (): boolean => {
      asked++;
      if (isAway) throw new RequestError('unavailable', 'No Redis');
      return true;
    };
    start(0, leads, () => time);
    await until(() => run.leadership.held());
    isAway = true;
    const before = asked;
    time += leaseMs - 1;
    await until(() => asked > before, 'a look');
    assert.equal(run.leadership.held(), true);
    time += 1;
    await until(() => !run.leadership.held(), 'the end of the lead');
    isAway = false;
    await until(() => run.leadership.held(), 'the lead again');
  });

  it('has no fault any more once it has caught up, though nothing new comes', async () => {
    start(1, () => true);
    await until(() => run.ready());
    assert.equal(run.fault(), undefined);
  });

  it('tells when it is ready, to whoever has begun to wait before and after', async () => {
    start(2, () => true);
    const { signal } = new AbortController();
    assert.equal(run.ready(), false);
    await run.whenReady(signal);
    assert.equal(run.ready(), true);
    await run.whenReady(signal);
  });

  it('keeps nobody waiting for it to be ready who waits no more', async () => {
    start(Infinity, () => true);
    const stop = new AbortController();
    const waits = run.whenReady(stop.signal);
    stop.abort();
    await waits;
    assert.equal(run.ready(), false);
  });

  it('counts the events that it takes, and not their positions', async () => {
    const { store } = log;
    const wide = (position: number) => 1000 * position;
    const widened = <T extends { readonly position: number }>(one: T): T => ({ ...one, position: wide(one.position) });
    // Positions as in EventStoreDB: far from each other.
    log = {
      ...log,
      store: {
        ...store,
        append: async (...args) => widened(await store.append(...args)),
        head: async () => wide(await store.head()),
        at: async (position) => store.at(position / 1000),
        follow: async function* (after, filter, signal) {
          for await (const batch of store.follow(after / 1000, filter, signal))
            yield { ...widened(batch), events: batch.events.map(widened) };
        },
      },
    };
    start(0, () => true);
    await until(() => run.ready());
    const before = run.taken();
    await run.reached(await append());
    assert.equal(run.taken(), before + 1);
    assert.ok(run.position() >= 1000);
  });

  it('lets nobody wait for what comes after its end', async () => {
    start(0, () => true);
    await until(() => run.ready());
    await run.stop();
    await assert.rejects(
      run.reached(await append()),
      new RequestError('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 }),
    );
  });

  it('keeps nobody from ending who tells of events, though more come while all stops', async () => {
    start(0, () => true);
    await until(() => run.ready());
    const told: number[] = [];
    const telling = eventFeed({
      store: log.store,
      run,
      after: 0,
      categories: new Set(['s']),
      onStored: (events) => told.push(events.length),
      onShown: () => undefined,
      onAny: () => undefined,
      log: () => undefined,
    });
    telling.start();
    const stopped = run.stop();
    await append();
    await until(() => told.length > 0);
    await stopped;
    await telling.stop();
  });
});
