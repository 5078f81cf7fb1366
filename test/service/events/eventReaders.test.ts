import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Principal } from '../../../src/http/authentication/principal.ts';
import type { EventAccess } from '../../../src/http/events/eventAccess.ts';
import { eventStream } from '../../../src/http/events/eventStream.ts';
import { readerPlaces } from '../../../src/http/events/readerPlaces.ts';
import { usualPatience } from '../../../src/http/events/readers.ts';
import { eventStreamRoutes } from '../../../src/http/operations-manager/events.ts';
import type { LogReads, StoredEvent } from '../../../src/store/port.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { until } from '../../support/until.ts';

const metadata = JSON.stringify({ at: '2026-01-01T00:00:00.000Z', actor: {}, $correlationId: 'c', $causationId: 'c' });
const eventAt = (position: number, data = 'x'): StoredEvent => ({
  id: `id ${position}`,
  type: 'tests:happened',
  stream: `thing-${position}`,
  revision: 0,
  position,
  data: JSON.stringify(data),
  metadata,
});

/** Accounts with the same letters have the same rights. */
const principal = (id: string): Principal => ({
  actor: { id, username: id, provenance: 'local', groups: [], admin: id.startsWith('admin') },
  firstname: '',
  email: '',
  roles: [],
  groups: [],
  rights: id.replace(/\d+$/, ''),
  may: () => true,
});

type Bounds = NonNullable<Parameters<typeof eventStream>[0]['bounds']>;

/** The stream of events over a log in memory, for a server that opens it for whoever asks. Paths are `/<account>/<after>`. */
const world = async (bounds: Bounds, pageLength = 10, perAccount = 20) => {
  const events: StoredEvent[] = [];
  const judged: string[] = [];
  const gone = new Set<string>();
  let reading = 0;
  let mostReading = 0;
  let hold: Promise<void> | undefined;
  let away = false;
  const access = {
    aboutOf: ({ stream }) => ({ kind: 'thing', id: stream.slice(6) }),
    waitUntilShown: async () => {
      if (away) throw new RequestError('unavailable', 'away');
    },
    judge: async ({ stream }) => {
      judged.push(stream);
      return ({ actor }) => actor.admin || Number(stream.slice(6)) % 2 === 0;
    },
    isForSomebody: () => true,
    sees: async () => true,
    seesInAudit: async () => true,
    seesType: () => true,
    viewerOf: async (id) => (gone.has(id) ? undefined : principal(id)),
  } as EventAccess;
  const log: LogReads = {
    read: async function* () {},
    head: async () => events.at(-1)?.position ?? 0,
    readAll: async function* (after: number) {
      reading++;
      mostReading = Math.max(mostReading, reading);
      try {
        const until = events.length;
        for (let from = after; from < until; from += pageLength) {
          if (hold) await hold;
          const page = events.slice(from, Math.min(from + pageLength, until));
          yield { events: page, position: page.at(-1)!.position };
        }
      } finally {
        reading--;
      }
    },
  };
  const places = readerPlaces({ perAccount, perNode: 1000 });
  const stream = eventStream({ access, log, after: 0, places, warn: (message) => assert.fail(message), bounds });
  const responses = new Set<ServerResponse>();
  const server: Server = createServer((req, res) => {
    const [, account = '', after] = req.url!.split('/');
    responses.add(res);
    res.on('close', () => responses.delete(res));
    res.writeHead(200);
    stream.open(res, { account }, { source: undefined, topic: undefined, resource: undefined }, Number(after));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const readers: { close: () => void }[] = [];

  return {
    stream,
    judged,
    mostReading: () => mostReading,
    reading: () => reading,
    /** How many bytes the server holds for the connection for which it holds most. */
    held: () => Math.max(...[...responses].map((res) => res.writableLength)),
    heldByAll: () => [...responses].reduce((sum, res) => sum + res.writableLength, 0),
    connections: () => responses.size,
    gone,
    away: (is: boolean) => {
      away = is;
    },
    /** Readers of the log stand still until the promise resolves. */
    holdUntil: (promise: Promise<void>) => {
      hold = promise;
    },
    /** Stores events; `told`: the log has told the node of them. */
    store: (count: number, { told = true, data = 'x' } = {}) => {
      for (let n = 0; n < count; n++) {
        const event = eventAt(events.length + 1, data);
        events.push(event);
        if (told) stream.stored(event);
      }
    },
    open: async (path: string) => {
      const asking = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { agent: false });
      asking.on('error', () => undefined);
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      let text = '';
      const ids: number[] = [];
      let line = '';
      let closed = false;
      answer
        .setEncoding('utf8')
        .on('error', () => undefined)
        .on('close', () => {
          closed = true;
        });
      const listen = () =>
        void answer.on('data', (piece: string) => {
          text += piece;
          const lines = (line + piece).split('\n');
          line = lines.pop()!;
          for (const one of lines) if (/^id: \d+$/.test(one)) ids.push(Number(one.slice(4)));
        });
      const reader = {
        listen,
        pause: () => void answer.pause(),
        resume: () => void answer.resume(),
        text: () => text,
        ids: () => ids,
        comments: () => [...text.matchAll(/^: (\d+)$/gm)].map(([, id]) => Number(id)),
        dropped: () => /^event: dropped\ndata: (.*)$/m.exec(text)?.[1],
        closed: () => closed,
        close: () => asking.destroy(),
      };
      readers.push(reader);
      return reader;
    },
    close: async () => {
      for (const reader of readers) reader.close();
      stream.stop();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const upTo = (last: number, from = 1, by = 1): number[] => {
  const numbers: number[] = [];
  for (let n = from; n <= last; n += by) numbers.push(n);
  return numbers;
};

describe('readers of the stream of events', () => {
  let closing: (() => Promise<void>) | undefined;
  const opened = async (bounds: Bounds = {}, pageLength?: number, perAccount?: number) => {
    const made = await world(bounds, pageLength, perAccount);
    closing = made.close;
    return made;
  };
  afterEach(async () => {
    await closing?.();
    closing = undefined;
  });
  const listening = async (from: Awaited<ReturnType<typeof world>>, path: string) => {
    const reader = await from.open(path);
    reader.listen();
    return reader;
  };

  it('get all events once, whether they read the log, the newest in memory, or hear them', async () => {
    const it = await opened({ window: { events: 40, characters: 1e6 } });
    it.store(100);
    const readers = [await listening(it, '/admin1/0')];
    for (let n = 0; n < 30; n++) {
      it.store(7);
      readers.push(await listening(it, `/admin${n}/${n * 8}`));
      await pause(1);
    }
    it.store(50);
    for (const [n, reader] of readers.entries()) {
      await until(() => reader.ids().at(-1) === 360);
      assert.deepEqual(reader.ids(), upTo(360, n === 0 ? 1 : (n - 1) * 8 + 1));
    }
  });

  it('see what their own rights let them see, and share the decision', async () => {
    const it = await opened();
    const readers: Awaited<ReturnType<typeof listening>>[] = [];
    for (let n = 0; n < 20; n++) readers.push(await listening(it, `/${n % 2 ? 'admin' : 'other'}${n}/0`));
    await pause(20);
    it.judged.length = 0;
    it.store(10);
    for (const [n, reader] of readers.entries()) {
      const expected = n % 2 ? upTo(10) : upTo(10, 2, 2);
      await until(() => reader.ids().length === expected.length);
      assert.deepEqual(reader.ids(), expected);
    }
    assert.deepEqual(
      [...it.judged].sort(),
      upTo(10)
        .map((n) => `thing-${n}`)
        .sort(),
      'each event was judged once',
    );
  });

  it('read the log eight at once; the others wait, and their connections are kept', async () => {
    let go = () => undefined as void;
    const it = await opened({ commentMs: 20 });
    it.store(25);
    it.holdUntil(new Promise((resolve) => (go = resolve)));
    const readers: Awaited<ReturnType<typeof listening>>[] = [];
    for (let n = 0; n < 20; n++) readers.push(await listening(it, '/admin/0'));
    await until(() => readers.every((reader) => reader.comments().length > 3));
    assert.equal(it.mostReading(), 8);
    go();
    for (const reader of readers) {
      await until(() => reader.ids().length === 25);
      assert.deepEqual(reader.ids(), upTo(25));
    }
    assert.equal(it.mostReading(), 8);
  });

  it('make room for others when they do not take what was read', async () => {
    const it = await opened({ readersOfLog: 1 });
    it.store(300, { data: 'y'.repeat(100_000) });
    await it.open('/admin/0');
    const other = await listening(it, '/admin/290');
    await until(() => other.ids().length === 10);
    assert.equal(other.dropped(), undefined);
  });

  it('are dropped as slow when they are live and take nothing for the time, with the last event that they got', async () => {
    const it = await opened({ takingMs: 300 });
    const [slow, fast] = [await it.open('/admin1/0'), await listening(it, '/admin2/0')];
    await pause(20);
    for (let n = 0; n < 100; n++) {
      it.store(1, { data: 'z'.repeat(100_000) });
      await until(() => fast.ids().length === n + 1);
    }
    await until(() => it.stream.readers() === 1);
    slow.listen();
    await until(slow.closed);
    const ids = slow.ids();
    assert.deepEqual(ids, upTo(ids.length));
    assert.ok(ids.length < 100);
    assert.deepEqual(JSON.parse(slow.dropped()!), { reason: 'slow', position: ids.length });
    assert.equal(fast.dropped(), undefined);
  });

  it('are dropped in the same way while they catch up, and lose nothing when they take it before', async () => {
    const it = await opened({ takingMs: 200, partingMs: 10_000 });
    it.store(300, { data: 'z'.repeat(100_000) });
    const [late, paused] = [await it.open('/admin1/0'), await listening(it, '/admin2/0')];
    for (let n = 0; n < 10; n++) {
      paused.pause();
      await pause(40);
      paused.resume();
      await pause(5);
    }
    await until(() => it.stream.readers() === 1);
    late.listen();
    await until(late.closed);
    assert.deepEqual(JSON.parse(late.dropped()!), { reason: 'slow', position: late.ids().at(-1) });
    assert.deepEqual(late.ids(), upTo(late.ids().length));
    await until(() => paused.ids().length === 300);
    assert.deepEqual(paused.ids(), upTo(300));
  });

  it('are broken off when they do not come back for the last frame', async () => {
    const it = await opened({ takingMs: 50, partingMs: 50 });
    it.store(300, { data: 'z'.repeat(100_000) });
    const late = await it.open('/admin1/0');
    await until(() => it.connections() === 0);
    late.listen();
    await until(late.closed);
    assert.equal(late.dropped(), undefined);
  });

  it('are not dropped for one large event', async () => {
    const it = await opened();
    it.store(200, { data: 'z'.repeat(100_000) });
    const reader = await it.open('/admin/0');
    await pause(300);
    reader.listen();
    await until(() => reader.ids().length === 200);
    it.store(1, { data: 'z'.repeat(2_000_000) });
    await until(() => reader.ids().length === 201);
    assert.equal(reader.dropped(), undefined);
  });

  it('go back to reading the log when more arrives than is kept in memory', async () => {
    const it = await opened({ mostArrived: 5000, window: { events: 10, characters: 1000 } });
    const reader = await listening(it, '/admin/0');
    await pause(20);
    it.store(500, { data: 'w'.repeat(100) });
    await until(() => reader.ids().at(-1) === 500);
    it.store(3);
    await until(() => reader.ids().at(-1) === 503);
    assert.deepEqual(reader.ids(), upTo(503));
  });

  it('wait while the read models are away', async () => {
    const it = await opened({ commentMs: 20 });
    const reader = await listening(it, '/admin/0');
    await pause(20);
    it.away(true);
    it.store(5);
    const before = reader.comments().length;
    await until(() => reader.comments().length > before + 3);
    assert.deepEqual(reader.ids(), []);
    it.away(false);
    await until(() => reader.ids().length === 5);
  });

  it('hear in comments up to where there is nothing for them', async () => {
    const it = await opened({ commentMs: 20 });
    const reader = await listening(it, '/other/0');
    await until(() => reader.comments().length > 0);
    assert.equal(reader.comments()[0], 0);
    it.store(7);
    await until(() => reader.comments().at(-1) === 7);
    assert.deepEqual(reader.ids(), [2, 4, 6]);
  });

  it('may begin at the head that the log answers, of which the node has not been told yet; beyond it is refused', async () => {
    const it = await opened();
    it.store(3);
    it.store(4, { told: false });
    const [route] = eventStreamRoutes;
    assert.ok(route && 'run' in route);
    const begin = async (from: string, lastEventId = '') =>
      route.run(
        { query: { from }, principal: principal('admin'), header: () => lastEventId } as never,
        { eventStream: it.stream } as never,
      );
    await begin('7');
    await begin('now', '7');
    const refusal = { code: 'invalid', message: /ends at position 7; 8 is beyond it/ };
    await assert.rejects(begin('8'), refusal);
    await assert.rejects(begin('now', '8'), refusal);
  });

  it('get a comment every 15 s, may take nothing for 30 s, and come back a minute later', () =>
    assert.deepEqual(usualPatience, { commentMs: 15_000, takingMs: 30_000, partingMs: 60_000 }));

  itInSoak('who never read hold little memory and up nobody, and end; an account has some places', async () => {
    const it = await opened({ takingMs: 1500, partingMs: 500 }, 500, 4);
    it.store(3000, { data: 'n'.repeat(4000) });
    const never: Awaited<ReturnType<typeof it.open>>[] = [];
    for (let n = 0; n < 12; n++) never.push(await it.open(`/admin${n % 3}/0`));
    for (const account of ['admin0', 'admin1', 'admin2'])
      assert.throws(() => it.stream.check(account), { code: 'limited', message: /has 4 streams open/ });
    assert.equal(it.stream.check('admin3'), undefined);
    const began = performance.now();
    const other = await listening(it, '/admin3/0');
    await until(() => other.ids().length > 0);
    assert.ok(performance.now() - began < 1000, 'another reader gets its first event at once');
    await until(() => other.text().includes('id: 3000\n'));
    // Those who take nothing hold nothing of the log.
    await until(() => it.reading() === 0);
    assert.ok(it.held() < 256 * 1024, `${it.held()} bytes`);
    await until(() => it.stream.readers() === 1 && it.connections() === 1);
    assert.equal(it.stream.check('admin0'), undefined);
    assert.equal(never.length, 12);
  });

  itInSoak('take turns by account, though some read a long log as fast as they can', async () => {
    const it = await opened({ readersOfLog: 1 }, 10);
    it.store(60_000);
    const fast: Awaited<ReturnType<typeof listening>>[] = [];
    for (let n = 0; n < 5; n++) fast.push(await listening(it, '/admin1/0'));
    await until(() => fast.every((reader) => reader.comments().length > 0));
    const other = await listening(it, '/admin2/59990');
    const began = performance.now();
    await until(() => other.ids().length === 10);
    const ms = performance.now() - began;
    assert.ok(
      fast.some((reader) => reader.ids().at(-1) !== 60_000),
      `the others still read after ${ms} ms`,
    );
  });

  it('are broken off when they hold large events, and the node has to hold too many of them', async () => {
    const it = await opened();
    it.store(1, { data: 'l'.repeat(24_000_000) });
    const never: Awaited<ReturnType<typeof it.open>>[] = [];
    for (let n = 0; n < 6; n++) {
      never.push(await it.open('/admin1/0'));
      await until(() => it.held() > 10_000_000 && it.reading() === 0);
    }
    const other = await listening(it, '/admin2/0');
    await until(() => other.ids().length === 1);
    assert.ok(it.heldByAll() < 72_000_000, `${it.heldByAll()} bytes`);
    assert.ok(it.connections() < never.length);
    assert.equal(other.dropped(), undefined);
  });

  it('are dropped when their account is gone, live or catching up', async () => {
    const it = await opened();
    const [gone, other] = [await listening(it, '/admin1/0'), await listening(it, '/admin2/0')];
    await pause(20);
    it.store(2);
    await until(() => gone.ids().length === 2);
    it.gone.add('admin1');
    it.store(1);
    await until(gone.closed);
    assert.deepEqual(JSON.parse(gone.dropped()!), { reason: 'rights', position: 2 });
    const later = await listening(it, '/admin1/0');
    await until(later.closed);
    assert.deepEqual(JSON.parse(later.dropped()!), { reason: 'rights', position: 0 });
    await until(() => other.ids().length === 3);
  });
});
