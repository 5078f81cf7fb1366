import assert from 'node:assert/strict';
import { link } from '@automation-platform/event-log';
import { publishEvent } from '../../../src/commands/operations-manager/publishedEvents.ts';
import { fold } from '../../../src/domain/engine/core.ts';
import { publish, publishedEvent } from '../../../src/domain/operations-manager/publishedEvents.ts';
import { mayHaveParts } from '../../../src/events/ownStreams.ts';
import { decode } from '../../../src/store/event.ts';
import { withPayloads } from '../../../src/store/payloads.ts';
import { specification } from '../../support/given.ts';
import { openLog, startNode, type TestNode } from '../../support/node.ts';
import { outcome } from '../../support/writer.ts';

const given = specification(publishedEvent);

describe('A published event', () => {
  it('has a source and topic of its own, and its payload as data', () =>
    given()
      .when(publish, { source: 'itsm:eu', topic: 'ticketOpened', payload: { ticket: 7 } })
      .then({ topic: 'ticketOpened', data: { ticket: 7 }, source: 'itsm:eu' }));

  it("does not pass as the platform's or the store's", () => {
    for (const source of ['@platform/', '@platform/authorization', '$system'])
      given()
        .when(publish, { source, topic: 'x', payload: null })
        .thenRefused('invalid', /source/);
    given().when(publish, { source: 'itsm', topic: 'a:b', payload: null }).thenRefused('invalid', /topic/);
  });

  it('is there whatever its topic is called', () => {
    for (const type of ['constructor', 'toString', '__proto__', 'groupMappingCreated'])
      assert.equal(publishedEvent.exists(fold(publishedEvent, [{ topic: type, data: {} }])), true);
  });
});

describe('Published events in the log', () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  let node: TestNode;
  beforeEach(async () => {
    log = await openLog();
    node = await startNode(withPayloads(log.store, mayHaveParts), { reacting: true });
  });
  afterEach(async () => {
    await node.stop();
    await log.close();
  });

  const stored = async (id: string) => {
    for await (const [event] of withPayloads(log.store, mayHaveParts).read(`publishedEvent-${id}`)) return event!;
    return assert.fail(`there is no ${id}`);
  };

  it('are found by type, linked and read like all others', async () => {
    await node.command(publishEvent, 'a', { source: 'itsm:eu', topic: 'ticketOpened', payload: { ticket: 7 } });
    const event = await stored('a');
    assert.deepEqual([event.type, event.data], ['itsm:eu:ticketOpened', '{"ticket":7}']);
    const {
      source,
      topic,
      metadata: { hash, ...open },
    } = decode(event);
    assert.deepEqual([source, topic], ['itsm:eu', 'ticketOpened']);
    assert.equal(
      link(
        {
          stream: event.stream,
          revision: 0,
          id: event.id,
          type: event.type,
          data: event.data,
          metadata: JSON.stringify(open),
        },
        '',
      ),
      hash,
    );
    const found: string[] = [];
    for await (const { events } of log.store.readAll(0, ['itsm:'])) found.push(...events.map(({ stream }) => stream));
    assert.deepEqual(found, ['publishedEvent-a']);
    await node.catchUp();
  });

  it('have the depth of the job that publishes, else none', async () => {
    const input = { source: 's', topic: 't', payload: 1 };
    await node.command(publishEvent, 'deep', input, { depth: 3 });
    await node.command(publishEvent, 'flat', input, { depth: 0 });
    const [deep, flat] = await Promise.all(['deep', 'flat'].map(async (id) => decode(await stored(id)).metadata));
    assert.equal(deep?.depth, 3);
    assert.equal(flat && 'depth' in flat, false);
    await node.catchUp();
  });

  it('are there once: the same id again is refused', async () => {
    const outcomes = await Promise.all(
      [1, 2].map(() => outcome(node.command(publishEvent, 'a', { source: 's', topic: 't', payload: 1 }))),
    );
    assert.equal(outcomes.filter((one) => one === 'conflict').length, 1);
  });

  it('mean themselves, also where they look like facts kept elsewhere', async () => {
    const secret = { secret: 'x'.repeat(600_000) };
    await node.command(publishEvent, 'large', { source: 's', topic: 't', payload: secret });
    const reference = await (async () => {
      for await (const [event] of log.store.read('publishedEvent-large')) return event!.data;
      return '';
    })();
    assert.match(reference, /^\{"\$payload":\{"sha256":"/);
    for (const [id, payload] of Object.entries({
      copied: JSON.parse(reference),
      none: { $payload: { sha256: 'f'.repeat(64), parts: 1 } },
      broken: { $payload: { sha256: '"', parts: -1 }, more: 1 },
    })) {
      await node.command(publishEvent, id, { source: 's', topic: 't', payload });
      assert.equal(
        (await stored(id)).data,
        JSON.stringify(payload),
        'whoever names a stored fact does not get to read it',
      );
    }
    assert.equal((await stored('large')).data, JSON.stringify(secret));
    await node.catchUp();
  });
});
