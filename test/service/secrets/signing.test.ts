import assert from 'node:assert/strict';
import { hash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newLeadership } from '@automation-platform/concurrency';
import { hashIn, wrapForeign } from '@automation-platform/event-log';
import {
  type AnchorLine,
  anchorLines,
  type DigestSigned,
  digestText,
  fingerprintOf,
  isSignedBy,
  keyChangeText,
  keysInPem,
  lineOf,
  newKey,
  type SigningKey,
  type SigningKeyChanged,
  type SigningKeys,
} from '@automation-platform/log-proof';
import { anchoring } from '../../../src/runners/signing/anchoring.ts';
import { type SigningPace, signer } from '../../../src/runners/signing/signer.ts';
import { type AnchorAt, tellAnchor } from '../../../src/store/anchor.ts';
import { encode } from '../../../src/store/event.ts';
import type { EventStore, StoredEvent } from '../../../src/store/port.ts';
import { keysOrNew } from '../../../src/store/signingKeys.ts';
import { context } from '../../support/given.ts';
import { storedIn } from '../../support/logged.ts';
import { fixedClock, openFileLog } from '../../support/node.ts';
import { startService } from '../../support/service.ts';
import { newEvent } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

const keyOf = (): SigningKey => keysInPem(newKey())[0]!;
const only = (own: SigningKey): SigningKeys => ({ own, earlier: [] });

/** Linked events of one stream. */
const thing = (name: string, at = '2026-01-01T00:00:00.000Z') => {
  let [revision, previous] = [-1, ''];
  return async (store: Pick<EventStore, 'append'>, count = 1): Promise<void> => {
    const events = Array.from({ length: count }, () => {
      const { hash: linked, ...event } = encode(
        { stream: `thing-${name}`, revision: ++revision, id: randomUUID(), source: '@platform/mop' },
        { topic: 'thingNamed', data: { name, revision } },
        {
          $correlationId: 'r',
          $causationId: 'r',
          at,
          actor: context.actor,
          operation: 'test',
          requestId: 'r',
          schemaVersion: 1,
        },
        previous,
      );
      previous = linked;
      return event;
    });
    await store.append(`thing-${name}`, revision - count, events);
  };
};

const sha256 = (text: string): string => hash('sha256', text, 'base64');
const isOf =
  (topic: string) =>
  ({ stream, type }: StoredEvent): boolean =>
    stream === 'digest-log' && type === `@platform/log:${topic}`;

/** Checks all signatures of a log as the documentation describes them, without the code that makes them. */
const checked = (events: readonly StoredEvent[]): readonly DigestSigned[] => {
  const lines = events.filter(
    ({ stream, type }) =>
      !stream.startsWith('$') &&
      !type.startsWith('$') &&
      stream !== 'log-identity' &&
      !stream.startsWith('checkpoint-'),
  );
  const textOf = ({ id, stream, revision, type, data, metadata }: StoredEvent): string =>
    `${id}\n${stream}\n${revision}\n${hashIn(metadata) ?? sha256(`${type}\n${data}\n${metadata}`)}\n`;
  const signatures = events.filter(isOf('digestSigned')).map(({ data }) => JSON.parse(data) as DigestSigned);
  let [before, begin] = ['', 0];
  for (const { upTo, events: count, digest, steps, key, signature } of signatures) {
    const end = lines.findIndex(({ id }) => id === upTo.id) + 1;
    assert.equal(end, count);
    const { stream, revision } = lines[end - 1]!;
    assert.deepEqual(upTo, { stream, revision, id: upTo.id });
    const since = lines.slice(begin, end).map(textOf);
    assert.equal(digest, sha256(before + since.join('')));
    assert.equal(steps.length, Math.ceil(since.length / 100) - 1);
    for (const [n, step] of steps.entries())
      assert.equal(step, sha256(before + since.slice(0, 100 * (n + 1)).join('')));
    assert.ok(isSignedBy(key, `automation-platform digest 1\n${count}\n${digest}`, signature));
    [before, begin] = [digest, end];
  }
  return signatures;
};

describe('the signing of a log', () => {
  let log: Awaited<ReturnType<typeof openFileLog>>;
  let store: EventStore;
  let clock: ReturnType<typeof fixedClock>;
  const signers: { stop: () => Promise<void> }[] = [];
  beforeEach(async () => {
    log = await openFileLog();
    ({ store } = log);
    clock = fixedClock();
  });
  afterEach(async () => {
    await Promise.all(signers.splice(0).map(({ stop }) => stop()));
    await log.close();
  });

  const leading = () => {
    const leadership = newLeadership();
    leadership.set(true);
    return leadership;
  };
  const pace: SigningPace = { events: 10, afterMs: 600_000, lookMs: 1 };
  const sign = (keys: SigningKeys, more: Partial<Parameters<typeof signer>[0]> = {}) => {
    const signing = signer({
      store,
      keys,
      leadership: leading(),
      ready: async () => undefined,
      onSigned: () => undefined,
      now: clock.now,
      newId: randomUUID,
      log: () => undefined,
      pace,
      ...more,
    });
    signers.push(signing);
    signing.start();
    return signing;
  };
  const signatures = async (): Promise<number> => (await storedIn(store)).filter(isOf('digestSigned')).length;
  /** Until the signer has read all that is in the log. */
  const caughtUp = async (signing: ReturnType<typeof sign>, lines: number): Promise<void> =>
    until(() => {
      const { signed, unsigned } = signing.status();
      return (signed ?? 0) + (unsigned ?? 0) === lines;
    });

  it('covers each event once, in blocks, with the digest before: a signature is a line of the next', async () => {
    const one = thing('one');
    sign(only(keyOf()), { pace: { ...pace, events: 250 } });
    for (let n = 0; n < 30; n++) await one(store, 50);
    await until(async () => (await signatures()) === 6);
    const signed = checked(await storedIn(store));
    assert.deepEqual(
      signed.map(({ events, steps }) => [events, steps.length]),
      [250, 500, 750, 1000, 1250, 1500].map((events) => [events, 2]),
    );
  });

  it('covers neither checkpoints nor the identity of the log, nor what is of EventStoreDB', async () => {
    const one = thing('one');
    const other = () => ({ ...newEvent(), metadata: '{}' });
    await store.append('log-identity', -1, [other()]);
    await store.append('checkpoint-triggers', -1, [other()]);
    await store.append('$settings', -1, [other()]);
    await store.append('stranger-1', -1, [{ ...other(), type: '$metadata' }]);
    await store.append('stranger-2', -1, [other()]);
    await one(store, 9);
    sign(only(keyOf()));
    await until(async () => (await signatures()) === 1);
    assert.deepEqual(
      checked(await storedIn(store)).map(({ events }) => events),
      [10],
    );
  });

  it('covers an event of another program by its content, in the same form in every kind of log', () => {
    const about = { id: 'an id', stream: 'stranger-1', revision: 0, type: 'changed' };
    const sent = {
      ...about,
      data: Buffer.from('{ "a": 1 }'),
      metadata: Buffer.from(''),
      contentType: 'application/json',
      created: new Date(0),
    };
    const embedded = { ...about, ...wrapForeign(sent) };
    const elsewhere = { ...about, ...wrapForeign({ ...sent, created: new Date(1) }) };
    const remote = { ...about, data: '{"a":1}', metadata: '{}' };
    assert.equal(lineOf(embedded), `an id\nstranger-1\n0\n${sha256('changed\n{"a":1}\n{}')}\n`);
    assert.equal(lineOf(elsewhere), lineOf(embedded));
    assert.equal(lineOf(remote), lineOf(embedded));
    const another = { ...about, ...wrapForeign({ ...sent, data: Buffer.from('{"a":2}') }) };
    assert.notEqual(lineOf(another), lineOf(embedded));
  });

  it('happens after 10 minutes in which something happened, and not while nothing does', async () => {
    const signing = sign(only(keyOf()));
    const looked = async (): Promise<void> => {
      const before = signing.status();
      await until(() => signing.status() !== before);
    };
    await thing('one', new Date(clock.now()).toISOString())(store, 3);
    await caughtUp(signing, 3);
    clock.pass(599_999);
    await caughtUp(signing, 3);
    assert.equal(await signatures(), 0);
    clock.pass(1);
    await until(async () => (await signatures()) === 1);
    await caughtUp(signing, 4);
    for (let n = 0; n < 3; n++) {
      clock.pass(3_600_000);
      await looked();
      await looked();
    }
    assert.equal(await signatures(), 1, 'a signature is nothing that happens');
    await thing('two', new Date(clock.now()).toISOString())(store);
    await caughtUp(signing, 5);
    clock.pass(600_000);
    await until(async () => (await signatures()) === 2);
    assert.deepEqual(
      checked(await storedIn(store)).map(({ events }) => events),
      [3, 5],
    );
  });

  it('begins with the first event of a log that nobody has signed, and goes on after a stop', async () => {
    const one = thing('one');
    await one(store, 35);
    clock.pass(600_000);
    const first = sign(only(keyOf()));
    // What is left over is ten minutes old, so it is signed at once.
    await until(async () => (await signatures()) === 4);
    await first.stop();
    await one(store, 25);
    sign(only(keyOf()));
    await until(async () => checked(await storedIn(store)).at(-1)!.events >= 60);
    checked(await storedIn(store));
  });

  it('is done by one of two nodes: the slower one drops its signature', async () => {
    const own = keyOf();
    const both = [sign(only(own)), sign(only(own))];
    const one = thing('one');
    for (let n = 0; n < 100; n++) await one(store, 5);
    await until(async () => (checked(await storedIn(store)).at(-1)?.events ?? 0) >= 500);
    for (const { status } of both) await until(() => status().fault === null);
    const events = await storedIn(store);
    checked(events);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  });

  it('is done by the node that leads only', async () => {
    const leadership = newLeadership();
    const signing = sign(only(keyOf()), { leadership });
    await thing('one')(store, 20);
    assert.deepEqual(signing.status(), { signed: null, unsigned: null, fault: null });
    assert.equal(await signatures(), 0);
    leadership.set(true);
    await until(async () => (await signatures()) >= 2);
  });

  it('stops with a reason while the log lacks what it had signed', async () => {
    const first = sign(only(keyOf()));
    await thing('one')(store, 10);
    await until(async () => (await signatures()) === 1);
    await first.stop();
    const cut: EventStore = {
      ...store,
      read: async function* (stream, from) {
        if (stream === 'digest-log') yield* store.read(stream, from);
      },
    };
    const { status } = sign(only(keyOf()), { store: cut });
    await until(() => /lacks event 9 of stream thing-one/.test(status().fault ?? ''));
  });

  describe('with another key', () => {
    const changes = async () =>
      (await storedIn(store))
        .filter(isOf('signingKeyChanged'))
        .map(({ data }) => JSON.parse(data) as SigningKeyChanged);
    const [old, own] = [keyOf(), keyOf()];
    beforeEach(async () => {
      const first = sign(only(old));
      await thing('one')(store, 10);
      await until(async () => (await signatures()) === 1);
      await first.stop();
    });

    it('says so before it signs, and the old key vouches for the new one', async () => {
      sign({ own, earlier: [old] });
      await thing('two')(store, 10);
      await until(async () => (await signatures()) === 2);
      const [change, ...more] = await changes();
      const text = keyChangeText(old.key, own.key);
      assert.deepEqual(more, []);
      assert.deepEqual([change!.old, change!.new], [old.key, own.key]);
      assert.ok(isSignedBy(old.key, text, change!.signatures.old!));
      assert.ok(isSignedBy(own.key, text, change!.signatures.new));
      const topics = (await storedIn(store)).filter(({ stream }) => stream === 'digest-log').map(({ type }) => type);
      assert.deepEqual(
        topics.map((type) => type.split(':')[1]),
        ['digestSigned', 'signingKeyChanged', 'digestSigned'],
      );
      assert.deepEqual(
        checked(await storedIn(store)).map(({ key }) => key),
        [old.key, own.key],
      );
    });

    it('has no signature of the old key where that is not at hand', async () => {
      sign(only(own));
      await thing('two')(store, 10);
      await until(async () => (await signatures()) === 2);
      assert.deepEqual(
        (await changes()).map(({ signatures: { old: none } }) => none),
        [null],
      );
    });
  });

  describe('tells an anchor', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'anchor-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));
    const anchor = (tell: Parameters<typeof anchoring>[0]['tell'], at: AnchorAt = { file: 'anchor' }) => {
      const telling = anchoring({ store, leadership: leading(), at, tell, log: () => undefined, longestPauseMs: 20 });
      signers.push(telling);
      telling.start();
      return telling;
    };

    it('in a file, a line for each signature, and goes on after a stop', async () => {
      const file = join(folder, 'anchors', 'anchor.ndjson');
      const tell = (line: AnchorLine, signal: AbortSignal) => tellAnchor({ file }, line, signal);
      const own = keyOf();
      const first = anchor(tell);
      sign(only(own), { onSigned: first.wake });
      const one = thing('one');
      await one(store, 30);
      await until(async () => (await anchorLines(file).catch(() => [])).length === 3);
      await first.stop();
      const second = anchor(tell);
      await one(store, 30);
      await until(() => second.status().lag === 0);
      await until(async () => (await anchorLines(file)).length >= 6);
      const signed = checked(await storedIn(store));
      const lines = await anchorLines(file);
      const at = (await storedIn(store)).filter(isOf('digestSigned')).map(({ metadata }) => JSON.parse(metadata).at);
      assert.deepEqual(
        lines,
        signed.slice(0, lines.length).map(({ steps, ...data }, n) => ({
          log: store.id,
          topic: 'digestSigned',
          at: at[n],
          ...data,
        })),
      );
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });

    it('anew where another one is set', async () => {
      const told = async (name: string): Promise<number> => {
        const at = { file: join(folder, name) };
        const telling = anchor((line, signal) => tellAnchor(at, line, signal), at);
        await until(() => telling.status().lag === 0);
        await telling.stop();
        return (await anchorLines(at.file)).length;
      };
      const own = keyOf();
      const signing = sign(only(own));
      await thing('one')(store, 30);
      await until(async () => (await storedIn(store)).filter(isOf('digestSigned')).length >= 3);
      await signing.stop();
      const all = await told('first.ndjson');
      assert.ok(all >= 3);
      assert.equal(await told('second.ndjson'), all);
      assert.equal(await told('first.ndjson'), all, 'what was told before is not told again');
    });

    it('at a URL; while that does not answer, signing goes on, and the lag shows', async () => {
      const got: AnchorLine[] = [];
      let up = false;
      const server = createServer((request, response) => {
        let text = '';
        request.on('data', (chunk) => {
          text += chunk;
        });
        request.on('end', () => {
          if (up) got.push(JSON.parse(text));
          response.writeHead(up ? 200 : 503).end();
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/anchor`;
        const telling = anchor((line, signal) => tellAnchor({ url }, line, signal));
        sign(only(keyOf()), { onSigned: telling.wake });
        await thing('one')(store, 20);
        await until(async () => (await signatures()) >= 2);
        await until(() => (telling.status().lag ?? 0) >= 2 && telling.status().fault !== null);
        assert.equal(telling.status().fault, 'AUDIT_ANCHOR answered 503');
        up = true;
        await until(() => telling.status().lag === 0 && telling.status().fault === null);
        const digests = checked(await storedIn(store)).map(({ digest }) => digest);
        assert.deepEqual(
          got.map(({ digest }) => digest),
          digests.slice(0, got.length),
        );
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });
});

describe('the key that signs a log', () => {
  it('is made once, for its owner only, and found again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-key-'));
    try {
      const file = join(folder, 'data', 'audit.key');
      const { own } = keysOrNew({ fromSetting: undefined, file });
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(keysOrNew({ fromSetting: undefined, file }).own.key, own.key);
      const given = keyOf();
      const { own: set, earlier } = keysOrNew({ fromSetting: [given], file });
      assert.equal(set.key, given.key);
      assert.deepEqual(
        earlier.map(({ key }) => key),
        [own.key],
        'the key file vouches for the key of the setting',
      );
      const text = digestText(3, 'a digest');
      assert.equal(text, 'automation-platform digest 1\n3\na digest');
      assert.ok(isSignedBy(own.key, text, own.sign(text)));
      assert.ok(!isSignedBy(own.key, digestText(4, 'a digest'), own.sign(text)));
      assert.ok(!isSignedBy('no key', text, own.sign(text)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is in the folder of a service, and health names it', async () => {
    const service = await startService();
    try {
      const { own } = keysOrNew({ fromSetting: undefined, file: join(service.folder, 'audit.key') });
      const health = async () => (await service.ask('GET', '/health/status')).body;
      await until(async () => (await health()).audit.unsigned > 0);
      const { status, audit } = await health();
      assert.equal(status, 'up');
      assert.equal(audit.key, fingerprintOf(own.key));
      assert.deepEqual([audit.signed, audit.fault, audit.anchor], [0, null, null]);
      assert.doesNotMatch(readFileSync(join(service.folder, 'events.db'), 'latin1'), /PRIVATE KEY/);
    } finally {
      await service.stop();
    }
  });
});
