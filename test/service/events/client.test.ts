import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { EventStreamEnded, type PlatformEvent, subscribe } from '@automation-platform/client';
import { openCutter } from '../../support/cutter.ts';
import { people } from '../../support/people.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const auth = { username: 'admin', password: adminPassword };
/** The whole run is for the soak: `npm run soak`. */
const disconnects = process.env.SOAK_ROUNDS ? 10_000 : 30;

describe('subscribe() of the package', () => {
  const service = useService();
  before(async () => {
    await people(service);
  });

  const publish = async (n: number, topic = 'counted') => {
    const { status, body } = await service.ask('POST', `/operations-manager/events/tests/${topic}`, { n });
    assert.equal(status, 200);
    return body.data as { id: string; position: number };
  };
  /** Takes events in the background until the signal aborts. */
  const taking = (
    subscription: Omit<Parameters<typeof subscribe>[0], 'auth'>,
    given: typeof auth | { token: string } = auth,
  ) => {
    const taken: PlatformEvent<any>[] = []; // payloads
    const stop = new AbortController();
    const done = (async () => {
      for await (const event of subscribe({ auth: given, signal: stop.signal, ...subscription })) taken.push(event);
    })();
    return {
      taken,
      done,
      stop: async (): Promise<void> => {
        stop.abort();
        await done;
      },
    };
  };

  it('gives the events as they happen, and ends with its signal', async () => {
    const all = taking({ url: service.url, from: 'start', source: 'tests' });
    const { id, position } = await publish(0, 'first');
    await until(() => all.taken.length === 1);
    const [{ data, topic, source, resource, ...event } = assert.fail()] = all.taken;
    assert.deepEqual([source, topic, data], ['tests', 'first', { n: 0 }]);
    assert.deepEqual([event.id, event.position, resource?.kind], [id, position, 'publishedEvent']);
    await all.stop();
  });

  it('takes a token, and a loop that is left', async () => {
    const token = (await service.ask('POST', '/login', { username: 'admin', password: adminPassword })).text;
    await publish(0, 'second');
    for await (const { topic } of subscribe({ url: service.url, auth: { token }, from: 'start', topic: 'second' })) {
      assert.equal(topic, 'second');
      break;
    }
  });

  it('throws when the platform refuses', async () => {
    for (const [given, more, status] of [
      [auth, { from: 1e15 }, 400],
      [{ username: 'admin', password: 'wrong password' }, {}, 401],
      [{ username: 'outsider', password: 'a long enough password' }, {}, 403],
    ] as const) {
      const { done } = taking({ url: service.url, ...more }, given);
      await assert.rejects(done, (error) => error instanceof EventStreamEnded && error.status === status);
    }
  });

  it('throws when the account loses its rights', async () => {
    const { taken, done } = taking(
      { url: service.url, from: 'start' },
      { username: 'reader', password: 'a long enough password' },
    );
    await until(() => taken.length > 0);
    await service.ask('PATCH', '/authorization/accounts/reader', { inactive: true });
    await assert.rejects(done, (error) => error instanceof EventStreamEnded && error.status === undefined);
  });

  it(`gives each event once and in order over ${disconnects} broken connections`, async function () {
    this.timeout(disconnects * 1000);
    let seed = 42;
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    let steady = false;
    // The head of an answer has some 300 bytes, an event as many: connections break in both, and between them.
    const cutter = await openCutter(Number(new URL(service.url).port), () =>
      steady ? Infinity : 1 + Math.floor(random() ** 3 * 9000),
    );
    const { taken, stop } = taking({ url: cutter.url, from: 'start', source: 'tests', topic: 'counted' });
    let published = 0;
    while (cutter.cuts() < disconnects) await publish(published++);
    steady = true;
    await until(() => taken.length >= published);
    assert.deepEqual(
      taken.map(({ data }) => data.n),
      Array.from({ length: published }, (_, n) => n),
    );
    await stop();
    await cutter.close();
  });

  it('goes on when the service has been started again', async () => {
    const first = await startService();
    const { port } = new URL(first.url);
    const { taken, stop } = taking({ url: first.url, from: 'start', topic: 'groupCreated' });
    const group = (of: TestService, name: string) => of.ask('POST', '/authorization/groups', { name });
    await group(first, 'before');
    await until(() => taken.at(-1)?.data.name === 'before');
    const again = await first.restart({ PORT: port });
    await group(again, 'after');
    await until(() => taken.at(-1)?.data.name === 'after');
    const names = taken.map(({ data }) => data.name);
    assert.equal(new Set(names).size, names.length);
    assert.equal(names.indexOf('after'), names.indexOf('before') + 1);
    await stop();
    await again.stop();
    rmSync(first.folder, { recursive: true, force: true });
  });
});
